#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several processes share one budget: the leaks of each are named as its own, their CPU time is added up, and one that begins, forks,
executes or ends leaves the others' windows as they are. The programs are tests/targets/drip.c. How long anything took is not asserted."""
import json
import re
import subprocess
import time

import lab

BUDGET = 30  # percent: enough to see something in some seconds
NAMES = ["leak_most", "leak_some", "leak_few"]


class Drip:
    def __init__(self, *command):
        self.process = lab.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid = 0

    def wait_ready(self):
        """Its own pid, which is not that of what has started it."""
        self.pid = int(self.process.stdout.readline().split()[1])
        return self

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def leak(self):
        """It does from now on, and answers with its counts."""
        self.write("leak")
        assert self.process.stdout.readline().startswith(NAMES[0])


def start(mode):
    return Drip(lab.target("drip"), mode).wait_ready()


def trace(*options):
    return lab.Tracer("-v", "-j", "-n", "0", "--by", "stack", "--budget", BUDGET, *options, stdout=subprocess.PIPE)


def cpu_ms(pids):
    """CPU time of processes by their clocks."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids) / 1e6


def leaks(tracer):
    """Of each process, the functions that a report has in use, in its order: only those that may leak."""
    found = {}
    for site in tracer.report_now()["sites"]:
        if site["inuse_objects"] and lab.function_of(site) in NAMES:
            found.setdefault(site["pid"], []).append(lab.function_of(site))
    return found


def windows(tracer):
    return len(re.findall(r"window \d+: ", tracer.stderr()))


def budgets(tracer):
    """Of each report, what tracing cost and the CPU time of all processes, in ms."""
    return [(float(cost), float(cpu)) for cost, cpu in re.findall(r"budget: .* windows: ([\d.]+) ms of ([\d.]+) ms", tracer.stderr())]


def test_one_leaks_and_then_both():
    first, second = start("leak"), start("none")
    pids = [first.pid, second.pid]
    before = cpu_ms(pids)
    tracer = trace("-p", "%d,%d" % tuple(pids))
    traced = cpu_ms(pids)
    seen = []

    def named(wanted):
        seen.append(leaks(tracer))
        return all(seen[-1].get(pid, [])[:2] == NAMES[:2] for pid in wanted)

    # What the second has just allocated may look old to an early report, if it was not run since.
    lab.wait_for(lambda: named([first.pid]) and second.pid not in seen[-1], "only the leaks of the first are named: %s" % seen[-1:])
    # One sum of both, from when they were found; windows begin only while something of the budget is left, so all but one are within it.
    last = cpu_ms(pids)
    tracer.report_now()
    now = cpu_ms(pids)
    cost, cpu = budgets(tracer)[-1]
    assert last - traced - 0.001 <= cpu <= now - before + 0.001, (before, traced, cpu, last, now)
    longest = max(float(each) for each in re.findall(r"hits took ([\d.]+) ms", tracer.stderr()))
    assert cost - longest - 0.01 <= cpu * BUDGET / 100, (cost, cpu, longest)
    second.leak()
    lab.wait_for(lambda: named(pids), "the leaks of both are named: %s" % seen[-1:])
    # One ends: windows of the other go on, and so do those of none, until that one has ended, too.
    first.process.stdin.close()
    assert first.process.wait() == 0
    before = windows(tracer)
    lab.wait_for(lambda: windows(tracer) >= before + 2, "windows go on")
    lab.wait_for(lambda: named([second.pid]), "the leaks of the second are still named: %s" % seen[-1:])
    second.process.stdin.close()
    assert second.process.wait() == 0
    report = json.loads(tracer.finish().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    assert report["budget"]["windows"] == windows(tracer), report["budget"]
    assert {target["pid"]: target["exited"] for target in report["targets"]} == {pid: True for pid in pids}, report["targets"]


def test_child_that_comes_later():
    """By fork and exec of a process that is traced and does nothing itself; then it executes no other program, and leaks."""
    child = Drip("/bin/sh", "-c", "read line; %s leak; exit 0" % lab.target("drip"))
    parent = child.process.pid
    tracer = trace("--follow-fork", "-p", parent)
    child.write("go")
    child.wait_ready()
    assert child.pid != parent
    seen = []

    def named():
        seen.append(leaks(tracer))
        return seen[-1].get(child.pid, [])[:2] == NAMES[:2]

    lab.wait_for(named, "the leaks of the child are named: %s" % seen[-1:])
    assert list(seen[-1]) == [child.pid], seen[-1]
    child.process.stdin.close()
    assert child.process.wait() == 0
    tracer.finish()
    assert tracer.process.returncode == 0, tracer.stderr()


if __name__ == "__main__":
    lab.run_tests()
