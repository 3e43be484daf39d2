#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Ever new files: libraries that are made, opened, closed and deleted, and programs that run once. What each leaks is named by
its own function, and neither descriptors nor room for unwind tables are used up. The truth is what a copy of the part does."""
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import threading

import lab

LIBRARIES = int(6400 * min(1, lab.SCALE))
BATCH = 32
PROGRAMS, TOGETHER = int(240 * min(1, lab.SCALE)), 8
NAME = "part-%d" % os.getpid()
WORK = [124, 2, 100, 1]  # of each part: two allocated, one freed


def name_of(number):
    return "site_part_%06d" % number


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


class Peak:
    """The most descriptors that a process had meanwhile."""

    def __init__(self, pid):
        self.pid, self.most, self.over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.over.wait(0.02):
            self.most = max(self.most, descriptors(self.pid))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Factory:
    def __init__(self, mode, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="tracer-factory-")
        self.process = lab.start([lab.target("factory"), lab.target("part.so"), self.folder.name, BATCH, mode, "wait"])
        self.tracer = lab.Tracer("-v", "-j", "-n", "0", *options, "-p", self.process.pid, "3600")
        self.say("go")

    def say(self, word):
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()

    def opened(self):
        """The number of the last library of a batch that is open now."""
        return int(self.process.stdout.readline())

    def knows(self, numbers):
        """Has the tracer the unwind tables of these?"""
        errors = self.tracer.stderr()
        return all("unwind table of %s/%06d.so" % (self.folder.name, number) in errors for number in numbers)

    def run(self, count):
        """Let it make so many, each batch after the tracer has seen it. Returns how many were made."""
        while True:
            last = self.opened()
            lab.wait_for(lambda last=last: self.knows(range(last + 1 - BATCH, last + 1)), "the libraries up to %d are known" % last)
            if last + 1 >= count:
                self.say("end")
                self.process.stdout.readline()
                return last + 1
            self.say("go")

    def report(self):
        self.tracer.process.send_signal(lab.signal.SIGUSR1)
        return json.loads(self.tracer.process.stdout.readline())

    def end(self):
        self.tracer.stop()
        lab.end(self.process)
        self.folder.cleanup()


def check_parts(report, numbers):
    lab.check_sums(report)
    names = {name_of(number) for number in numbers}
    found = lab.sums(report, names)
    wrong = {name: found.get(name) for name in names if found.get(name) != WORK}
    assert not wrong, "%d of %d are wrong: %s" % (len(wrong), len(names), sorted(wrong.items())[:5])


def test_libraries():
    factory = Factory("move")
    with Peak(factory.tracer.process.pid) as peak:
        made = factory.run(LIBRARIES)
    report = factory.report()
    check_parts(report, range(made))
    lab.check_losses(report)
    assert peak.most < 200 + made / 4, (peak.most, made)
    assert "are full" not in factory.tracer.stderr(), factory.tracer.stderr()[-2000:]
    cut = [site for site in report["sites"] if site["frames"][-1]["kind"] == "error"]
    assert not cut and report["loss"]["stack_unmapped"] == 0, (len(cut), made, report["loss"])
    factory.end()


def test_few_descriptors():
    """More libraries at a time than may be open: that is said, and when they may be, all is as if they always had."""
    # With --debuginfod the tracer stays root, whose limits root may change without CAP_SYS_RESOURCE.
    factory = Factory("move", "--debuginfod")
    pid = factory.tracer.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # The libraries of the first batch are open by now, or are going to be.
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (descriptors(pid) + BATCH // 2, limits[1]))
    factory.opened()
    factory.say("go")
    factory.opened()
    factory.say("go")
    last = factory.opened()
    lab.wait_for(lambda: "open-file limit reached" in factory.tracer.stderr(), "it is said")
    lab.check_sums(factory.report())
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    batch = range(last + 1 - BATCH, last + 1)
    lab.wait_for(lambda: factory.knows(batch), "the libraries are known")
    factory.report()
    factory.say("end")
    factory.process.stdout.readline()
    report = factory.report()
    check_parts(report, batch)
    factory.end()


class Worker:
    """A program that is a file of its own; all have the same name."""

    def __init__(self, folder, part, number):
        self.number, self.folder = number, os.path.join(folder, "%06d" % number)
        self.path = os.path.join(self.folder, NAME)
        os.mkdir(self.folder)
        with open(self.path, "wb") as file:
            file.write(part.replace(b"site_part_000000", name_of(number).encode()))
        os.chmod(self.path, 0o755)
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        lab._started.append(self.process)

    def work(self):
        lab.release(self.process)
        assert self.process.stdout.readline() == b"done\n"

    def end(self):
        self.process.communicate(timeout=lab.PATIENCE)
        lab._started.remove(self.process)
        shutil.rmtree(self.folder)


def run_programs(name, allocator):
    with open(lab.target(name), "rb") as file:
        part = file.read()
    with tempfile.TemporaryDirectory(prefix="tracer-factory-") as folder:
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--keep-exited", "-w", "--comm", NAME, "3600", ready=False)
        for first in range(0, PROGRAMS, TOGETHER):
            workers = [Worker(folder, part, first + i) for i in range(TOGETHER)]
            # It waits for the first of them.
            tracer.wait_ready()
            for worker in workers:
                lab.wait_for(lambda pid=worker.process.pid: re.search(r"%s are probed in process %d " % (
                    allocator, pid), tracer.stderr()), "the program is probed")
                worker.work()
            for worker in workers:
                worker.end()
        # Links are closed in their time.
        lab.wait_for(lambda: descriptors(tracer.process.pid) < 450, "descriptors are closed: %d" %
                     descriptors(tracer.process.pid))
        tracer.process.send_signal(lab.signal.SIGUSR1)
        report = json.loads(tracer.process.stdout.readline())
        lab.check_losses(report, ("files_late",))
        held = {}
        for site in report["sites"]:
            name = lab.function_of(site)
            held[name] = held.get(name, 0) + site["inuse_bytes"]
        wrong = {name_of(i): held.get(name_of(i)) for i in range(PROGRAMS) if held.get(name_of(i)) != 24}
        assert not wrong, (len(wrong), sorted(wrong.items())[:5])
        assert "nothing is probed" not in tracer.stderr(), re.findall(".*nothing is probed.*", tracer.stderr())
        tracer.stop()


def test_programs():
    """As where things are built, tested and deployed: each process runs a program of its own, once."""
    run_programs("part", "libc.*")


def test_static_programs():
    """Here each file has an allocator of its own, which is probed."""
    if not os.path.exists(lab.target("part-static")):
        raise lab.Skip("no static program can be built here")
    run_programs("part-static", NAME)


lab.run_tests()
