#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several processes share one budget: the leaks of each are named as its own, their CPU time is added up, and one that begins, forks,
executes or ends leaves the others' windows as they are. The programs are tests/targets/drip.c. How long anything took is not asserted."""
import json
import os
import re
import subprocess
import tempfile
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


def wait_named(tracer, wanted):
    """Until the two largest leaks of each of these processes are named as its own."""
    seen = []

    def named():
        seen.append(leaks(tracer))
        return all(seen[-1].get(pid, [])[:2] == NAMES[:2] for pid in wanted)

    lab.wait_for(named, "the leaks of %s are named: %s" % (wanted, seen[-1:]))
    return seen[-1]


def check_group(group, *options):
    """One is in it, one comes by being moved; a third stays outside."""
    inside, moved, outside = (start("leak") for _ in range(3))
    group.enter(inside.pid, "below")
    tracer = trace(*options)
    wait_named(tracer, [inside.pid])
    group.enter(moved.pid)
    assert outside.pid not in wait_named(tracer, [inside.pid, moved.pid])
    assert outside.process.poll() is None
    report = json.loads(tracer.stop().splitlines()[-1])
    assert {target["pid"] for target in report["targets"]} == {inside.pid, moved.pid}, report["targets"]
    assert report["budget"]["processes"]["running"] == 2, report["budget"]


def test_by_cgroup():
    with lab.Group("tracer-budget-%d" % os.getpid()) as group:
        check_group(group, "--cgroup", "/" + group.name)


def test_by_container():
    container = "%064x" % (0xfeed0000000000000000 + os.getpid())
    with lab.Group("docker-%s.scope" % container) as group:
        check_group(group, "--container", container)


def test_one_after_the_other():
    """Each has ended before the next one begins, and may get its place in all tables: none has what was another's."""
    with lab.Group("tracer-budget-%d" % os.getpid()) as group:
        stays = start("none")
        group.enter(stays.pid)
        tracer = trace("--cgroup", "/" + group.name)
        for _ in range(3):
            drip = start("leak")
            group.enter(drip.pid)
            assert set(wait_named(tracer, [drip.pid])) <= {drip.pid, stays.pid}
            drip.process.stdin.close()
            assert drip.process.wait() == 0
            lab.wait_for(lambda pid=drip.pid: pid not in leaks(tracer), "what it had is nobody's any more")
        tracer.stop()


# The first process of a pid namespace in a root of its own: nothing that others use is probed by "all processes". It reads commands.
INIT = """
exec 3< /commands
while read -r command argument <&3; do
	case $command in
	tracer) /tracer -v -j -n 0 --by stack --budget $argument -a > /report 2> /messages & tracer=$! ;;
	drip) /drip leak < /input-$argument > /output-$argument & ;;
	report) kill -USR1 $tracer ;;
	stop) kill -INT $tracer; wait $tracer; echo $? > /status; exit ;;
	esac
done
"""


class Root(lab.PrivateRoot):
    """With reports like those of lab.Tracer."""

    def __init__(self, folder):
        super().__init__(folder, [lab.TRACER, lab.target("drip")], INIT)

    def drip(self, name):
        """Start one; returns its pid, as the namespace has it."""
        os.mkfifo(self.path("input-" + name))
        self.open("input-" + name)
        self.send("drip " + name)
        lab.wait_for(lambda: self.read("output-" + name).endswith("\n"), "it is ready")
        return int(self.read("output-" + name).split()[1])

    def stderr(self):
        return self.read("messages")

    def reports(self):
        return [line for line in self.read("report").splitlines(True) if line.endswith("\n")]

    def report_now(self):
        before = len(self.reports())
        self.send("report")
        lab.wait_for(lambda: len(self.reports()) > before, "a report is there")
        return json.loads(self.reports()[before])


def test_all_processes():
    with tempfile.TemporaryDirectory(prefix="tracer-root-") as folder:
        root = Root(folder)
        try:
            first = root.drip("first")
            root.send("tracer %d" % BUDGET)
            lab.wait_for(lambda: "tracer: ready" in root.stderr(), "the tracer is ready: %s" % root.stderr())
            wait_named(root, [first])
            second = root.drip("second")
            wait_named(root, [first, second])
            budget = root.report_now()["budget"]
            assert budget["processes"]["running"] >= 2 and budget["cost_percent"] > 0, budget
            root.send("stop")
            assert root.process.wait(lab.PATIENCE) == 0, root.process.communicate()
            assert root.read("status") == "0\n", root.stderr()
            report = json.loads(root.reports()[-1])
            assert not re.search(r"nothing is probed in process (%d|%d)\b" % (first, second), root.stderr()), root.stderr()
            # Never itself, nor what it has started.
            assert {target["comm"] for target in report["targets"]} <= {"drip", "sh"}, report["targets"]
            assert report["budget"]["windows"] == windows(root), report["budget"]
        finally:
            root.close()
            lab.end_all()


if __name__ == "__main__":
    lab.run_tests()
