#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel counts for a process is in every report. The truth is /proc, of a process that does nothing meanwhile."""
import re
import sys

import lab

PAGES = 50 << 20
TARGET = """
import mmap, sys, threading
memory = mmap.mmap(-1, %d)
memory.write(b"x" * len(memory))
gate = threading.Event()
threads = [threading.Thread(target=gate.wait) for _ in range(5)]
[thread.start() for thread in threads]
print("ready", flush=True)
sys.stdin.read()
gate.set()
"""


def kilobytes(pid, name, key):
    with open("/proc/%d/%s" % (pid, name), encoding="ascii", errors="replace") as file:
        return int(re.search(r"^%s:\s+(\d+)" % key, file.read(), re.M).group(1)) * 1024


def start(size):
    process = lab.start(["python3", "-c", TARGET % size])
    assert process.stdout.readline() == b"ready\n"
    return process


def figures(process):
    """As they are in a report: nothing has changed since, but for a few pages that reading it has touched."""
    tracer = lab.Tracer("-q", "-j", "-p", str(process.pid))
    report = tracer.report_now()
    tracer.stop()
    return report["targets"][0]["process"]


def figures_with_pss(process):
    """There is no PSS where the kernel has not answered in time; a tracer that was kept waiting does not ask again."""
    found = []
    lab.wait_for(lambda: found.append(figures(process)) or found[-1]["pss_bytes"] is not None, "the kernel says the PSS in time")
    return found[-1]


def test_figures():
    process = start(PAGES)
    fields = {"rss_bytes": "Rss", "pss_bytes": "Pss", "swap_bytes": "Swap"}
    before = {key: kilobytes(process.pid, "smaps_rollup", field) for key, field in fields.items()}
    found = figures_with_pss(process)
    assert found["threads"] == kilobytes(process.pid, "status", "Threads") // 1024 == 6, found
    # The kernel keeps parts of what it counts for each CPU, and may take pages of files back meanwhile.
    for key, field in fields.items():
        least, most = sorted((before[key], kilobytes(process.pid, "smaps_rollup", field)))
        assert least - (4 << 20) <= found[key] <= most + (4 << 20), (key, found, least, most)
    assert found["rss_bytes"] > PAGES, found


def test_large():
    """To read the PSS of a large process would hold it up."""
    process = start(300 << 20)
    found = figures(process)
    assert found["rss_bytes"] > 300 << 20 and found["pss_bytes"] is None, found


def test_ended():
    _, report = lab.command_report([lab.target("known"), "calls"])
    assert set(report["targets"][0]["process"].values()) == {None}, report["targets"]


def test_text():
    process = start(PAGES)
    status, output, errors = lab.run("-d", "300ms", "-p", process.pid)
    assert status == 0, errors
    assert re.search(r"^RSS \d+\.\d MiB, 6 threads$", output, re.M), output


FORKS = """
import os, sys
pages = bytearray(os.urandom(1 << 20)) * 48
for _ in range(3):
    if not os.fork():
        sys.stdin.read()
        os._exit(0)
print(len(pages), flush=True); sys.stdin.read()
"""


def sum_of(pids, key):
    """What the kernel counts for them, in MiB."""
    total = 0
    for pid in pids:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            total += int(re.search(r"^%s: +([0-9]+) kB" % key, file.read(), re.M).group(1))
    return total / 1024


def test_text_of_processes_that_share():
    """What a fork left to four processes is in the RSS of each, and in their PSS once."""
    process = lab.start([sys.executable, "-c", FORKS])
    process.stdout.readline()
    pids = [process.pid, *lab.children_of(process.pid)]
    results = []

    def look():
        """Others that begin and end meanwhile take their share of what is common to all; and the kernel may answer too late."""
        before = {key: sum_of(pids, key) for key in ("Rss", "Pss")}
        status, output, errors = lab.run("-d", "300ms", "--tree", process.pid)
        assert status == 0, errors
        found = re.search(r"^RSS ([\d.]+) MiB, (?:PSS ([\d.]+) MiB, )?4 threads$", output, re.M)
        assert found, output
        after = {key: sum_of(pids, key) for key in before}
        results[:] = [found, after["Rss"], after["Pss"], output]
        return found.group(2) and all(abs(after[key] - before[key]) < 0.5 for key in before)
    lab.wait_for(look, "nobody else begins or ends meanwhile")
    found, rss, pss, output = results
    assert len(pids) == 4 and rss > pss + 3 * 48, (pids, rss, pss)
    assert abs(float(found.group(1)) - rss) < 2 and abs(float(found.group(2)) - pss) < 2, (rss, pss, output)


lab.run_tests()
