#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ages of blocks, and what realloc does with them.

The truth is the program's: tests/targets/grows.c keeps its own account, by malloc_usable_size where blocks are from before.
"""
import glob
import json
import os
import re
import time

import lab

GROWN = 14  # times that its container has grown


def row_of(report, function):
    rows = [site for site in report["sites"] if lab.function_of(site) == function and site["inuse_objects"]]
    assert len(rows) == 1, rows
    return rows[0]


def test_container_keeps_its_birth():
    process = lab.start([lab.target("grows"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid)
    account = lab.work(process)
    report = tracer.report_now()
    lab.check_account(account, report)
    row = row_of(report, "site_container")
    assert row["realloc"]["grown_objects"] == 1 and row["realloc"]["grown_times"] == GROWN, row
    assert row["realloc"]["unknown_objects"] == row["realloc"]["added_objects"] == 0, row
    # The container was made before the others were resized, and 0.2 s passed in between.
    assert row["oldest_s"] >= row_of(report, "site_added")["oldest_s"] + 0.19, report


def test_old_blocks_count_by_what_is_added():
    account, report = lab.attached_report([lab.target("grows")])
    lab.check_account(account, report)
    row = row_of(report, "site_added")
    in_use = account["site_added"][1] - account["site_added"][3]
    assert row["realloc"]["added_objects"] == row["inuse_objects"] == in_use > 5, row
    assert row["realloc"]["unknown_objects"] == 0 < row["realloc"]["grown_objects"], row


COLLECTIONS = 3

# Each line lets them go on by a step: allocate, collect, allocate again.
RUBY = """
def before; $a = Array.new(4) { "a" * 3_000_000 }; end
def after; $b = Array.new(4) { "b" * 3_000_000 }; end
$stdout.sync = true
gets
before
first = GC.stat(:major_gc_count)
puts 'before'
3.times { gets; GC.start; puts 'collected' }
gets
count = GC.stat(:major_gc_count) - first
after
GC.disable
puts count
gets
"""

PYTHON = """
import gc, sys
def before(): return [bytearray(3000000) for _ in range(4)]
def after(): return [bytearray(3000000) for _ in range(4)]
input()
a = before()
first = gc.get_stats()[2]["collections"]
print("before", flush=True)
for _ in range(3):
    input()
    gc.collect()
    print("collected", flush=True)
input()
count = gc.get_stats()[2]["collections"] - first
b = after()
gc.disable()
print(count, flush=True)
input()
"""


def largest_of(report, name):
    rows = [site for site in report["sites"] if site["inuse_bytes"] >= 3000000 and
            any(name in (frame["function"] or "") for frame in site["frames"])]
    return rows[0] if rows else None


def cell_of(text, column, place):
    """What the table has in a column, in the row of greatest rank whose place matches."""
    lines = text.splitlines()
    title = next(line for line in lines if line.lstrip().startswith("#  "))
    row = next((line for line in lines if re.match(r" *\d+  .*(%s)\b" % place, line)), None)
    assert row, (place, text)
    return row[:title.index(column) + len(column)].split()[-1]


def look_at_collector(report):
    """
    Have the tracer look at the collector now, with a report: it looks when 51 ms have passed since it has looked. What has happened
    between two looks is taken to have happened at the first.
    """
    time.sleep(0.06)
    report()


def check_collector(command):
    """The truth is the interpreter's own count of its major collections."""
    def run(*options):
        process = lab.start(command)
        lab.wait_for(lambda: lab.is_reading(process), "the program waits")
        tracer = lab.Tracer("-q", "-n", "0", "-p", process.pid, *options)
        # The collector is known once the interpreter is.
        for said in [b"before\n"] + [b"collected\n"] * COLLECTIONS:
            lab.release(process)
            assert process.stdout.readline() == said
            look_at_collector(tracer.report_now if "-j" in options else tracer.text_now)
        lab.release(process)
        count = int(process.stdout.readline())
        return count, tracer.stop()

    def trace(*options):
        count, output = run("-j", *options)
        return count, json.loads(output.splitlines()[-1])

    count, text = run()
    assert cell_of(text, "GCS", r"-e:2|<string>:3") == str(count) and cell_of(text, "GCS", r"-e:3|<string>:4") == "0", text
    count, report = trace()
    assert count == COLLECTIONS, count
    assert largest_of(report, "before")["gcs"] == count, report["sites"]
    assert largest_of(report, "after")["gcs"] == 0, report["sites"]
    _, report = trace("--survived", "%dgc" % count)
    lab.check_sums(report)
    assert largest_of(report, "before")["inuse_objects"] == 4 and not largest_of(report, "after"), report["sites"]
    _, report = trace("--survived", "%dgc" % (count + 1))
    assert not report["totals"]["inuse_objects"], report["totals"]


def test_ruby_collections():
    check_collector([lab.need("ruby"), "-e", RUBY])


def test_python_collections():
    """Debian's, and other releases where they are installed."""
    check_collector(["/usr/bin/python3", "-c", PYTHON])
    for python in glob.glob(os.path.expanduser("~/.pyenv/versions/3.8.*/bin/python3.8")):
        check_collector([python, "-c", PYTHON])


def test_text_names_what_grows():
    process = lab.start([lab.target("grows"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-n", "0", "-p", process.pid)
    lab.work(process)
    text = tracer.stop()
    assert "grown by realloc %d times\n" % GROWN in text, text
    assert "not recorded before realloc: what it added counts" in text.replace("\n       ", " "), text


# Both count how often what they keep changes its size, as the interpreter has it; what is small is in the interpreter's own heap.
GROWS = {
    "a Ruby Array": ["ruby", "-robjspace", "-e", """
$stdout.sync = true; kept = Array.new(10_000, 1); size = ObjectSpace.memsize_of(kept); grown = 0; gets
90_000.times { |i| kept << i; now = ObjectSpace.memsize_of(kept); grown += 1 if now != size; size = now }
puts grown; gets"""],
    "a Python bytearray": ["/usr/bin/python3", "-c", """
import sys
kept, grown = bytearray(2000), 0
size = sys.getsizeof(kept)
sys.stdin.readline()
for i in range(3000):
    kept += b"0123456789"
    now = sys.getsizeof(kept)
    grown += now != size
    size = now
print(grown, flush=True); sys.stdin.readline()"""],
}


def test_interpreters_containers():
    """Named by what stripped interpreters export."""
    for container, command in GROWS.items():
        lab.need(command[0])
        process = lab.start(command)
        lab.wait_for(lambda: lab.is_reading(process), "the program waits")
        tracer = lab.Tracer("-q", "-j", "-p", process.pid)
        lab.release(process)
        grown = int(process.stdout.readline())
        rows = [row for row in tracer.report_now()["sites"] if row.get("container") == container]
        text = tracer.stop().splitlines()
        assert len(rows) == 1 and rows[0]["realloc"]["grown_times"] == grown > 2, (container, grown, rows, text)


if __name__ == "__main__":
    lab.run_tests()
