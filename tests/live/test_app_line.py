#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows by lines of the application, in programs with a package between their lines and the allocator. Truth: what the
programs ask for, by the lines on which they do."""
import json
import os
import re
import tempfile

import lab
import services

SIZES = (700001, 700002, 700003)
TURNS = 50
RUBY = """\
$LOAD_PATH.unshift File.join(__dir__, 'vendor/bundle/ruby/3.1.0/gems/quickparse-1.0/lib')
require 'quickparse'
class Shop
  def route
    yield
  end

  def order
    route { Quickparse.keep(700_001); Quickparse.keep_more(700_002) } # both
  end

  def cart
    Quickparse.keep(700_003) # one
  end
end
pipe, gate = IO.pipe
workers = 2.times.map { fork { gate.close; pipe.read; TURNS.times { Shop.new.order }; sleep } }
puts workers.join(' ')
$stdout.flush
$stdin.gets
gate.close
2.times.map { Thread.new { TURNS.times { Shop.new.order; Shop.new.cart } } }.each(&:join)
$stdin.gets
""".replace("TURNS", str(TURNS))
PYTHON = """\
import os, sys, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "venv/lib/python3.11/site-packages"))
import quickparse


def order():
    quickparse.keep(700_001), quickparse.keep_more(700_002) # both


def cart():
    quickparse.keep(700_003) # one


def work(turn):
    for _ in range(TURNS):
        turn()


def worker():
    os.close(gate)
    os.read(pipe, 1)
    work(order)
    time.sleep(1000)


pipe, gate = os.pipe()
workers = []
for _ in range(2):
    workers.append(os.fork())
    if not workers[-1]:
        worker()
print(*workers, flush=True)
sys.stdin.readline()
os.close(gate)
threads = [threading.Thread(target=work, args=[turn]) for turn in (order, cart) * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.stdin.readline()
""".replace("TURNS", str(TURNS))


class Shop:
    """An application with a package in a directory of packages, as one process and two workers."""

    def __init__(self, folder, program, name, script):
        self.script = script
        self.name = name
        services.install_package(folder, os.path.splitext(name)[1])
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(script)
        self.process = lab.start([program, name], cwd=folder)
        self.workers = [int(pid) for pid in self.process.stdout.readline().split()]

    def line(self, mark):
        return next(number for number, line in enumerate(self.script.splitlines(), 1) if line.endswith("# " + mark))

    def pids(self):
        return ",".join(str(pid) for pid in [self.process.pid, *self.workers])

    def end(self):
        for pid in self.workers:
            os.kill(pid, 9)
        lab.end(self.process)


def c_line(call):
    with open(os.path.join(lab.TOP, "tests/targets/quickparse.c"), encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if " = %s(" % call in line)


def bytes_of(report):
    return sum(site["inuse_bytes"] for site in report["sites"])


def leaves_of(site):
    return {(os.path.basename(leaf["frame"]["file"] or ""), leaf["frame"]["line"]): leaf["inuse_bytes"] for leaf in site["via"]}


def check_shop(program, name, script):
    """A row for each of two lines: its functions, threads and workers are added up, and the native leaves are in it."""
    options = "-z", SIZES[0], "-Z", SIZES[-1]
    with tempfile.TemporaryDirectory(prefix="tracer-shop-") as folder:
        shop = Shop(folder, lab.need(program), name, script)
        try:
            rows = lab.Tracer("-q", "-j", "-n", "0", "--by", "app-line", *options, "-p", shop.pids(), "3600")
            # By default, text has these rows, and JSON has stacks.
            text = lab.Tracer("-q", *options, "-p", shop.pids(), "3600", env={**os.environ, "COLUMNS": "120"})
            stacks = lab.Tracer("-q", "-j", "-n", "0", *options, "-p", shop.pids(), "3600")
            lab.release(shop.process)
            both, one = 4 * TURNS * (SIZES[0] + SIZES[1]), 2 * TURNS * SIZES[2]
            lab.wait_for(lambda: bytes_of(rows.report_now()) == both + one, "all is allocated")
            report, text, stacks = json.loads(rows.stop().splitlines()[-1]), text.stop(), json.loads(stacks.stop().splitlines()[-1])
        finally:
            shop.end()
        assert report["targets"][0]["cwd"] == os.path.realpath(folder), report["targets"][0]
    found = {(os.path.basename(site["frames"][0]["file"]), site["frames"][0]["line"]): site for site in report["sites"]}
    lines = [(shop.name, shop.line(mark)) for mark in ("both", "one")]
    assert sorted(found) == sorted(lines), report["sites"]
    assert [found[line]["inuse_bytes"] for line in lines] == [both, one], found
    assert [found[line]["processes"] for line in lines] == [3, 1], found
    assert [found[line]["of_processes"] for line in lines] == [3, 3], found
    assert " in 3 of 3 processes of " in text and " in 1 of 3 processes of " in text, text
    assert found[lines[0]]["function"] is None and found[lines[1]]["function"] == "malloc", found
    keep, keep_more = ("quickparse.c", c_line("malloc")), ("quickparse.c", c_line("calloc"))
    assert leaves_of(found[lines[0]]) == {keep: 4 * TURNS * SIZES[0], keep_more: 4 * TURNS * SIZES[1]}, found
    assert leaves_of(found[lines[1]]) == {keep: one}, found
    assert "%s:%d" % lines[0] in text and "quickparse.c:%d, :%d" % (keep_more[1], keep[1]) in text, text
    assert len(stacks["sites"]) > 4 and all("via" not in site for site in stacks["sites"]), stacks["sites"]
    assert bytes_of(stacks) == both + one
    lab.check_losses(report)


def test_ruby():
    check_shop("ruby", "shop.rb", RUBY)


def test_python():
    check_shop("/usr/bin/python3", "shop.py", PYTHON)


def rows_of_file(report, name):
    return {str(site["frames"][0]["line"]): site for site in report["sites"]
            if site["frames"] and os.path.basename(site["frames"][0]["file"] or "") == name}


MASTER = """\
import os, sys


def keep():
    kept.append("x" * 700_001)


kept, gate = [], sys.stdin.fileno()
for _ in range(4):
    pipe, order = os.pipe()
    if not os.fork():
        os.close(order)
        while os.read(pipe, 1):
            keep()
        os._exit(0)
    os.close(pipe)
    kept.append(order)
print("ready", flush=True)
os.read(gate, 100)
for worker in kept[:int(sys.argv[1])]:
    os.write(worker, b"x")
os.read(gate, 1)
"""


def test_workers():
    """A master that keeps nothing is none of those that could have: as many of its four workers as its argument sets keep a text."""
    for workers in (4, 3):
        process = lab.start(["/usr/bin/python3", "-c", MASTER, str(workers)])
        assert process.stdout.readline() == b"ready\n"
        options = "-q", "-z", "700000", "--tree", process.pid, "3600"
        text, rows = lab.Tracer(*options), lab.Tracer("-j", "--by", "app-line", *options)
        lab.release(process)
        lab.wait_for(lambda: len(rows.report_now()["sites"]) and rows.report_now()["sites"][0]["processes"] == workers, "they keep it")
        report, row = text.stop(), json.loads(rows.stop().splitlines()[-1])["sites"][0]
        lab.end(process)
        assert row["inuse_objects"] == workers and row["of_processes"] == 5, row
        assert " in %d of 4 workers of python3" % workers in report, report
        assert re.search(r"^1 .* %d of 4  <string>:5" % workers, report, re.M), report


def test_containers():
    """What a container of C++ takes belongs to the line that uses it, whether its functions are inlined or not."""
    for name in "containers", "containers-plain":
        account, report = lab.command_report([lab.target(name)], "--by", "app-line")
        rows = rows_of_file(report, "containers.cc")
        assert {line: rows[line]["inuse_bytes"] for line in account if line in rows} == account, (name, account, rows)
        assert not any(rows[line]["via"] for line in account), rows
        lab.check_sums(report)


def test_rules():
    """Hidden frames are not shown and not grouped on; --only leaves out what has no such frame, and says how much."""
    account, report = lab.command_report([lab.target("containers-plain")], "--hide", "@std", "--only", "^add_")
    for site in report["sites"]:
        names = [frame["function"] for frame in site["frames"]]
        assert names[0].startswith("add_") and not any("std::" in name.split("(")[0] for name in names if name), names
    assert {line: row["inuse_bytes"] for line, row in rows_of_file(report, "containers.cc").items()} == account
    left = report["left_out"]
    assert left["sites"] > 0 and left["inuse_bytes"] + bytes_of(report) == report["totals"]["inuse_bytes"], left
    status, _, errors = lab.run("--only", "^add_(", "--", "true")
    assert status == 2 and "--only: '^add_(' is not an extended regular expression" in errors, errors
    assert "at character 6: '('" in errors, errors


lab.run_tests()
