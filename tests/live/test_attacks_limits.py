#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that would keep the tracer busy or take all that it has: it reports on time, and others' figures are exact."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import lab


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="tracer-hostile-")
    try:
        yield path
    finally:
        shutil.rmtree(path)


def hostile(*arguments, **options):
    process = lab.start([lab.target("hostile"), *arguments], **options)
    line = process.stdout.readline()
    if line != b"ready\n":
        raise lab.Skip("this attack does not work here: %s" % process.stderr.read().decode().strip())
    return process


def victim():
    process = lab.start([lab.target("blocks"), "1000", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the victim waits")
    return process


def reports_on_time(tracer, process, reports=2):
    """Two reports come; then the victim does its work, and the last report, which comes soon, is right about it."""
    for _ in range(reports):
        assert json.loads(tracer.process.stdout.readline())["targets"]
    process.stdin.write(b"go\n")
    process.stdin.flush()
    account = json.loads(process.stdout.readline())
    report = json.loads(tracer.stop().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    report["sites"] = [site for site in report["sites"] if site["pid"] == process.pid]
    assert lab.sums(report, {"site_block"}) == account, (account, lab.sums(report, {"site_block"}))
    return report


def check(attacker, *options, orders=2):
    """In both orders."""
    for order in (lambda a, b: (a, b), lambda a, b: (b, a))[:orders]:
        process = victim()
        pids = "%d,%d" % order(attacker.pid, process.pid)
        tracer = lab.Tracer("-j", "-n", "0", "-p", pids, *options, "0.5")
        report = reports_on_time(tracer, process)
        lab.end(process)
    return report, tracer.stderr()


def interpreter():
    """A file that holds CPython: the library, or the program."""
    for path in (os.path.realpath("/proc/self/exe"), "/usr/bin/python3"):
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            if "libpython3" in line:
                return line.split("=>")[1].split()[0]
        if os.path.exists(path) and "_PyRuntime" in subprocess.run(
                ["nm", "-D", path], capture_output=True, text=True, check=False).stdout:
            return os.path.realpath(path)
    raise lab.Skip("no CPython that exports its state")


def test_map_of_generated_code_in_no_order():
    process = hostile("names", "1000000")
    try:
        check(process)
    finally:
        os.unlink("/tmp/perf-%d.map" % process.pid)


def test_many_mappings_with_long_names():
    with folder() as path:
        for _ in range(17):
            path = os.path.join(path, "x" * 200)
            os.mkdir(path)
        with open(path + "/file", "wb") as file:
            file.write(bytes(4096))
        check(hostile("mappings", "30000", path + "/file"), orders=1)


def test_memory_like_that_of_many_threads():
    check(hostile("threads", "256", interpreter()))


def test_pages_that_never_come():
    check(hostile("faults", "16", interpreter()))


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
