#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Stacks, blocks, mappings and processes without end: what the kernel and the tracer hold for them is bounded, and what is left
out is counted."""
import contextlib
import json
import os
import re
import sys
import types

import attacks
import lab

MIB = 1 << 20

# Children without end, by fork and by exec; the shell waits for each.
FORKS = "echo ready; while :; do (:); done"
EXECS = "echo ready; while :; do /true; done"


def held_by_maps(pid, what):
    """The most that the maps have had until `what` is."""
    most = [attacks.maps_of(pid)]

    def look():
        most[0] = max(most[0], attacks.maps_of(pid))
        return what()
    lab.wait_for(look, "the tables are full", 4 * lab.PATIENCE)
    return max(most[0], attacks.maps_of(pid))


def test_memory_of_the_kernel():
    """Three processes beside the victim: stacks, mappings, and children that come and go."""
    stacks = attacks.attacker(lab.target("hostile"), "stacks", "400000")
    others = [attacks.rogue("storm", 1000), attacks.attacker("sh", "-c", FORKS)]
    beside = attacks.victim()
    pids = ",".join(str(process.pid) for process in (stacks, *others, beside))
    tracer = lab.Tracer("-j", "-n", "0", "-p", pids, "--follow-fork", "--max-stacks", "4096", "--max-blocks", "65536", "3600")
    held, losses = attacks.Held(tracer), {}
    lab.release(stacks)

    def is_full():
        losses.update(tracer.report_now()["loss"])
        return losses["stacks_over_share"] > 100000 and losses["blocks_full"] > 100000
    maps = held_by_maps(tracer.process.pid, is_full)
    peak, worker = held.end()
    account = lab.work(beside)
    assert stacks.stdout.readline() == b"ready\n"
    report = json.loads(tracer.stop().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    print("# tracer %d MiB, worker %d MiB, maps %d MiB, then %d MiB" % (
        peak >> 20, worker >> 20, held.maps >> 20, maps >> 20), flush=True)
    # The tables are for 4,096 stacks and 65,536 blocks; the rest grows with processes.
    assert maps < held.maps + 48 * MIB and peak < 200 * MIB, (held.maps, maps, peak)
    # Every block is in the report or in a loss.
    check_accounted(report, stacks)
    assert report["loss"]["blocks_full"] + lab.sums(report, {"site_block"}).get("site_block", [0, 0])[1] >= account["site_block"][1]


def check_accounted(report, process):
    """All that it has kept is there, or was refused and counted."""
    kept = sum(site["inuse_objects"] for site in report["sites"] if site["pid"] == process.pid and site["source"] == "heap")
    assert kept + report["loss"]["blocks_full"] + report["loss"]["sites_over_share"] >= 400000, (kept, report["loss"])


# The first process of a pid namespace in a root of its own, so that "all processes" are these, and no file is probed that
# others use.
INIT = """
/blocks 1000 wait < /go > /account &
/breeder /plugin.so 3600 > /breeder.account &
/sh -c '%s' > /forks &
/sh -c '%s' > /execs &
/tracer -q -j -n 0 -a 0.5 > /report 2> /messages & tracer=$!
read word < /end
kill -INT $tracer; wait $tracer; echo $? > /status
""" % (FORKS, EXECS)


class System:
    """A root with a tracer of all processes, storms of them, and a victim."""

    def __init__(self, folder):
        self.folder = folder
        lab.private_root(folder, [lab.TRACER, lab.target("blocks"), lab.target("breeder"), lab.target("plugin.so"),
                                  lab.need("sh"), lab.need("true")])
        for name in ("go", "end"):
            os.mkfifo(self.path(name))
        self.process = lab.start_in_root(folder, INIT)
        # Readers and writers wait for nobody.
        self.pipes = {name: os.open(self.path(name), os.O_RDWR) for name in ("go", "end")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def reports(self):
        return self.read("report").split("\n")[:-1]

    def wait_for_reports(self, count):
        more = len(self.reports()) + count
        lab.wait_for(lambda: len(self.reports()) >= more or self.process.poll() is not None, "there are reports", 4 * lab.PATIENCE)
        assert self.process.poll() is None, self.read("messages")

    def write(self, name):
        os.write(self.pipes[name], b"go\n")

    def tracer(self):
        """Its number outside."""
        pids = [self.process.pid]
        for pid in pids:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if os.readlink("/proc/%d/exe" % pid).endswith("/tracer"):
                    return pid
                pids += lab.children_of(pid)
        raise AssertionError("no tracer: %s" % self.read("messages"))

    def close(self):
        lab.end_all()
        for pipe in self.pipes.values():
            os.close(pipe)


def test_storms_of_processes_and_libraries_in_all():
    """Forks, execs and dlopen without end, with -a."""
    with attacks.folder() as folder:
        system = System(folder)
        try:
            system.wait_for_reports(2)
            held = attacks.Held(types.SimpleNamespace(process=types.SimpleNamespace(pid=system.tracer())))
            system.write("go")
            lab.wait_for(lambda: system.read("account").endswith("}\n"), "the account is there")
            system.wait_for_reports(4)
            maps = attacks.maps_of(held.pid)
            peak, worker = held.end()
            system.write("end")
            lab.wait_for(lambda: system.read("status").endswith("\n"), "the tracer ends")
            assert system.read("status") == "0\n", system.read("messages")
            report, account = json.loads(system.reports()[-1]), json.loads(system.read("account"))
        finally:
            system.close()
    print("# tracer %d MiB, worker %d MiB, maps %d MiB, then %d MiB; %d targets, %s" % (
        peak >> 20, worker >> 20, held.maps >> 20, maps >> 20, len(report["targets"]),
        {name: count for name, count in report["loss"].items() if count}), flush=True)
    sites = [site for site in report["sites"] if lab.function_of(site) == "site_block"]
    assert lab.sums({"sites": sites}, {"site_block"}) == account, (sites, account)
    assert maps < held.maps + 64 * MIB and peak < 200 * MIB and worker < 400 * MIB, (held.maps, maps, held.processes)
    # Nobody sees all of these.
    assert report["loss"]["children_missed"] + report["loss"]["children_late"] > 0, report["loss"]


# Each of its stacks is another one: 118 calls, at each of which one of two ways is taken.
RUBY = """
def left(bits, depth) = depth == 0 ? "x" * 200 : way(bits, depth - 1)
def right(bits, depth) = depth == 0 ? "y" * 200 : way(bits, depth - 1)
def way(bits, depth) = bits & 1 == 0 ? left(bits >> 1, depth) : right(bits >> 1, depth)
$stdout.puts "ready"
$stdout.flush
random, kept = Random.new(1), []
loop { kept[random.rand(1000)] = way(random.rand(1 << 59), 59) }
"""


class MemoryGroup:
    """A group with a limit, below that of this process."""

    def __init__(self, limit):
        self.path = self.find()
        self.names = ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control") \
            if "/memory/" in self.path else ("memory.max", "memory.peak", "memory.events")
        try:
            os.mkdir(self.path)
            self.write(self.names[0], limit)
            if self.names[0] == "memory.max":
                self.write("memory.swap.max", 0)
        except OSError as error:
            self.remove()
            raise lab.Skip("no group with a memory limit can be made here: %s" % error) from error

    @staticmethod
    def find():
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            own = [line.rstrip("\n").split(":", 2) for line in file]
        for mount, controllers in (("/sys/fs/cgroup/memory", "memory"), ("/sys/fs/cgroup", "")):
            for _, names, path in own:
                if controllers == names and os.path.exists(mount + path + "/cgroup.procs"):
                    return "%s%s/tracer-growth-%d" % (mount, path.rstrip("/"), os.getpid())
        raise lab.Skip("this process is in no group")

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="ascii") as file:
            return file.read()

    def enter(self):
        self.write("cgroup.procs", os.getpid())

    def peak(self):
        return int(self.read(self.names[1]))

    def kills(self):
        return int(re.search(r"^oom_kill (\d+)", self.read(self.names[2]), re.M).group(1))

    def remove(self):
        with contextlib.suppress(OSError):
            os.rmdir(self.path)
            return True
        return not os.path.exists(self.path)


def full_report(tracer, group, losses):
    """A report of all rows, as its bytes: it is long. Has it been refused stacks?"""
    tracer.process.send_signal(lab.signal.SIGUSR1)
    line = tracer.process.stdout.readline()
    assert line.endswith(b"]}\n"), "%d kills, %d MiB, %s" % (group.kills(), group.peak() >> 20, tracer.stderr()[-2000:])
    losses[0] = max(losses[0], int(re.search(rb'"stacks_full":(\d+)', line).group(1)))
    return losses[0] > 1000


def test_all_rows_in_a_small_group():
    """As the services and containers that are shipped have it: stacks until there is no room, and reports of them all."""
    ruby = lab.need("ruby")
    limit = (1024 if lab.SCALE > 1 else 256) * MIB
    group = MemoryGroup(limit)
    try:
        process = attacks.attacker(ruby, "-e", RUBY)
        tracer = lab.Tracer("-v", "-j", "-n", "0", "-p", process.pid, "3600", preexec_fn=group.enter)
        held, losses = attacks.Held(tracer), [0]
        maps = held_by_maps(tracer.process.pid, lambda: full_report(tracer, group, losses))
        peak, worker = held.end()
        last = tracer.stop().splitlines()[-1]
        assert tracer.process.returncode == 0, tracer.stderr()
        print("# group %d MiB, tracer %d MiB, worker %d MiB, maps %d MiB, report %d MiB" % (
            group.peak() >> 20, peak >> 20, worker >> 20, maps >> 20, len(last) >> 20), flush=True)
        # The report is a good part of the limit, and is not held as a whole.
        assert group.kills() == 0 and len(last) > limit // 4 and last.endswith("]}"), (group.kills(), len(last))
        # What is given up is said at the start, and is counted.
        assert "memory limit of this control group is %d MiB: room for " % (limit >> 20) in tracer.stderr(), tracer.stderr()
    finally:
        lab.end_all()
        lab.wait_for(group.remove, "the group is empty")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
