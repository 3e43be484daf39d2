#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The peak: a program holds as many large blocks as the test asks for, by its own count. What was in use when most was is in reports of later
moments, of a run and of a recording, with each site's share."""
import json
import os
import re
import subprocess
import tempfile

import lab

SIZE = 500000
# The size of a bytearray is one more: a NUL behind it.
PROGRAM = """import sys
held = {'one': [], 'two': []}
def one():
    return bytearray(%d)
def two():
    return bytearray(%d)
for line in sys.stdin:
    for name, count in zip(('one', 'two'), map(int, line.split())):
        del held[name][count:]
        while len(held[name]) < count:
            held[name].append(globals()[name]())
    print('done', flush=True)
""" % (SIZE, SIZE)


def started(folder):
    script = os.path.join(folder, "holds.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    process = lab.start([lab.need("python3"), script])
    lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
    return process


def hold(process, one, two):
    process.stdin.write(b"%d %d\n" % (one, two))
    process.stdin.flush()
    assert process.stdout.readline() == b"done\n"


def check(report, now, most):
    """Blocks of each function: now, and at the peak."""
    blocks = {}
    for site in report["sites"]:
        name = next((frame["function"] for frame in site["frames"] if frame["kind"] == "python"), None)
        mine = blocks.setdefault(name, [0, 0])
        mine[0] += site["inuse_objects"]
        mine[1] += site["peak_bytes"]
        assert site["alloc_bytes_per_s"] == int(site["alloc_bytes"] / report["duration_s"]) or report["duration_s"] > 1e5, site
    block = SIZE + 1
    assert {name: [count, share // block] for name, (count, share) in blocks.items()} == {
        name: [now[name], most[name]] for name in most}, blocks
    assert report["peak"]["inuse_bytes"] == sum(share for _, share in blocks.values()), report["peak"]
    assert report["peak"]["inuse_bytes"] // block == sum(most.values())
    assert 0 < report["peak"]["spacing_s"] <= report["duration_s"] and report["peak"]["time_s"] <= report["duration_s"]


def report_of(path):
    return json.loads(lab.run("report", path, "-j", "-n", "0")[1])


def check_massif(path, massif):
    """ms_print has the tree of the peak, and of the last moment, both with the figures of JSON."""
    status, _, errors = lab.run("report", path, "--format", "massif", "-o", massif)
    assert status == 0, errors
    text = subprocess.run([lab.need("ms_print"), massif], capture_output=True, text=True, check=True).stdout
    report = report_of(path)
    number = re.search(r"(\d+) \(peak\)", text)[1]
    assert re.search(r"^ *%s +[\d,]+ +%s " % (number, format(report["peak"]["inuse_bytes"], ",")), text, re.M), text
    lines = re.findall(r"\(([\d,]+)B\) 0x0: (one|two) \(holds.py:\d\)", text)
    found = [(name, int(size.replace(",", "")) // SIZE) for size, name in lines]
    assert sorted(found) == sorted([("one", 9), ("two", 3), ("one", 1), ("two", 4)]), text


def check_heaptrack(path, folder):
    """heaptrack_print has the peak of each function, and what it leaked."""
    record, stacks = os.path.join(folder, "x.heaptrack"), os.path.join(folder, "stacks")
    status, _, errors = lab.run("report", path, "--format", "heaptrack", "-o", record)
    assert status == 0, errors
    for cost, blocks in (("peak", {"one": 9, "two": 3}), ("leaked", {"one": 1, "two": 4})):
        subprocess.run([lab.need("heaptrack_print"), record, "-F", stacks, "--flamegraph-cost-type", cost, "--disable-builtin-suppressions"],
                       capture_output=True, check=True)
        with open(stacks, encoding="utf-8") as file:
            found = [(name, int(size) // SIZE) for name, size in re.findall(r"(one|two) [^;]*; ?(\d+)$", file.read(), re.M)]
        assert {name: sum(size for other, size in found if other == name) for name in blocks} == blocks, (cost, found)


def test_recording():
    with tempfile.TemporaryDirectory() as folder:
        process, path = started(folder), os.path.join(folder, "x.db")
        recorder = lab.Tracer("record", "-q", "-z", SIZE, "-o", path, "-p", process.pid, "3600")
        for name, blocks in (("low", (2, 1)), ("high", (9, 3)), ("end", (1, 4))):
            hold(process, *blocks)
            status, _, errors = lab.run("mark", path, name)
            assert status == 0, errors
        recorder.stop()
        lab.end(process)
        for moment, now, most in (("low", (2, 1), (2, 1)), ("high", (9, 3), (9, 3)), ("end", (1, 4), (9, 3))):
            status, output, errors = lab.run("report", path, "--at", moment, "-j", "-n", "0", "--by", "app-line")
            assert status == 0, errors
            check(json.loads(output), dict(zip(("one", "two"), now)), dict(zip(("one", "two"), most)))
        status, output, errors = lab.run("report", path, "-v")
        assert status == 0 and "\npeak: 5.7 MiB in use " in output, output
        assert "; 4.3 MiB in use at the peak" in output and "; 1.4 MiB in use at the peak" in output, output
        assert "at the peak" not in lab.run("report", path)[1], "the plain report is longer"
        check_massif(path, os.path.join(folder, "massif.out"))
        check_heaptrack(path, folder)


def test_run():
    """Moments between reports: the report at which it is asked for is a later one."""
    with tempfile.TemporaryDirectory() as folder:
        process, path = started(folder), os.path.join(folder, "x.json")
        tracer = lab.Tracer("-q", "-j", "-n", "0", "--by", "app-line", "-z", SIZE, "-o", path, "-p", process.pid, "1")

        def reports(blocks):
            with open(path, encoding="utf-8") as file:
                found = [json.loads(line) for line in file if line.endswith("\n")]
            return [report for report in found if report["totals"]["inuse_objects"] == blocks]

        hold(process, 9, 3)
        lab.wait_for(lambda: len(reports(12)) >= 3, "reports of the peak")
        hold(process, 1, 4)
        lab.wait_for(lambda: len(reports(5)) >= 1, "a report of later")
        check(reports(5)[-1], {"one": 1, "two": 4}, {"one": 9, "two": 3})
        tracer.stop()
        lab.end(process)


if __name__ == "__main__":
    lab.run_tests()
