#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Programs that a command starts in every way there is: each is exact from its first call, on a busy machine.

The truth is each program's own account. They are held while their probes are put in, which nobody may notice.
"""
import contextlib
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

import lab

BUSY = 8  # loops that keep the processors from everybody else
LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2"}
LINKED = ("known-jemalloc", "known-tcmalloc", "known-mimalloc", "known-static", "known-jemalloc-static",
          "known-tcmalloc-static")
LAUNCH = lab.target("launch")


@contextlib.contextmanager
def busy_machine():
    loops = [lab.start(["sh", "-c", "while :; do :; done"], stdout=subprocess.DEVNULL) for _ in range(BUSY)]
    try:
        yield
    finally:
        for loop in loops:
            lab.end(loop)


def find_library(name):
    found = glob.glob("/usr/lib/*/" + LIBRARIES[name])
    return found[0] if found else None


def need_hold():
    with lab.tempfile.TemporaryFile("w+") as said:
        lab.start([lab.TRACER, "--", "true"], stderr=said, stdout=subprocess.DEVNULL).wait(timeout=lab.PATIENCE)
        said.seek(0)
        if "are not held" in said.read():
            raise lab.Skip("the kernel does not let opens be held")


class Tree:
    """A script that starts programs, each of which gives its account and then stays until all have been counted."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tracer-tree-")
        self.gate = os.path.join(self.folder.name, "gate")
        os.mkfifo(self.gate)
        self.gate_end = os.open(self.gate, os.O_RDWR)
        self.lines, self.count = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Whoever reads from the gate finds its end."""
        if self.gate_end >= 0:
            os.close(self.gate_end)
            self.gate_end = -1
        self.folder.cleanup()

    def add(self, *command):
        """Programs of a command line with the shell's words in it; its last program is one that keeps an account."""
        self.lines.append("%s stay <%s >%s/%d.account &" % (" ".join(command), self.gate, self.folder.name, self.count))
        self.count += 1

    def script(self):
        path = os.path.join(self.folder.name, "script")
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(self.lines) + "\nwait\n")
        return path

    def accounts(self):
        found = []
        for number in range(self.count):
            try:
                with open(os.path.join(self.folder.name, "%d.account" % number), encoding="ascii") as file:
                    found.append(json.loads(file.read()))
            except (FileNotFoundError, json.JSONDecodeError):
                pass
        return found

    def report(self, *options):
        """All that was counted while the programs were there."""
        with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
            tracer = lab.Tracer("-q", "-j", "-n", "0", "-o", file.name, *options, "--", "sh", self.script(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            lab.wait_for(lambda: len(self.accounts()) == self.count or tracer.process.poll() is not None,
                         "all accounts are there", lab.PATIENCE * 3)
            tracer.stop()
            assert not tracer.process.returncode, tracer.stderr()
            return json.loads(file.read())


def figures(account):
    return sorted((name, tuple(counts)) for name, counts in account.items() if any(counts))


def check(tree, report, late=0):
    """As many processes as programs have just what those have said; `late` files were probed too late."""
    accounts = tree.accounts()
    assert len(accounts) == tree.count, "%d accounts of %d" % (len(accounts), tree.count)
    names = {name for account in accounts for name in account}
    found = []
    for target in report["targets"]:
        sites = [site for site in report["sites"] if site["pid"] == target["pid"]]
        counted = figures(lab.sums({"sites": sites}, names))
        if counted:
            found.append(counted)
    truth = [figures(account) for account in accounts]
    for counted in found:
        assert counted in truth, "%s was counted, but it was\n%s" % (counted, "\n".join(map(str, truth)))
        truth.remove(counted)
    assert not truth, "not counted at all: %s" % truth
    assert report["loss"]["files_late"] == late, report["loss"]


WAYS = ("env", "true | env", "sh -c '\"$@\"; exit' sh", "setsid", LAUNCH + " daemon", LAUNCH + " spawn", LAUNCH + " vfork")


def add_ways(tree, program, preload=""):
    """A program behind each way of starting one; the preload is for the program alone."""
    for way in WAYS:
        tree.add(way, "env " + preload if preload else "", program, "calls")


def say_missing(missing):
    """What is there has been compared by now."""
    if missing:
        raise lab.Skip("all others are equal, but not here are " + ", ".join(missing))


def test_all_ways_of_starting_a_preloaded_allocator():
    need_hold()
    with Tree() as tree, busy_machine():
        for name in LIBRARIES:
            if find_library(name):
                add_ways(tree, lab.target("known"), "LD_PRELOAD=" + find_library(name))
        check(tree, tree.report())
    say_missing([name for name in LIBRARIES if not find_library(name)])


def test_all_ways_of_starting_a_linked_allocator():
    need_hold()
    with Tree() as tree, busy_machine():
        for name in LINKED:
            if os.path.exists(lab.target(name)):
                add_ways(tree, lab.target(name))
        check(tree, tree.report())
    say_missing([name for name in LINKED if not os.path.exists(lab.target(name))])


def test_exec_by_another_thread_than_the_first():
    """Libraries are held after it, so they are exact; of a static program the first calls are missed, and counted."""
    need_hold()
    with Tree() as tree:
        tree.add(LAUNCH, "thread", lab.target("known-jemalloc"), "calls")
        report = tree.report()
        check(tree, report, late=1)
        assert report["loss"]["execs_late"] == 1, report["loss"]


def test_libraries_opened_at_run_time():
    need_hold()
    with Tree() as tree, busy_machine():
        for name in LIBRARIES.values():
            if not subprocess.run([lab.target("opened"), name], capture_output=True, check=False).returncode:
                tree.add("env", lab.target("opened"), name)
        assert tree.count
        check(tree, tree.report())


LEASES = r"""
import fcntl, os, signal, sys
refused = denied = 0
for number in range(200):
    path = os.path.join(sys.argv[1], "own%d" % number)
    with open(path, "w") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError:
            refused += 1
for number in range(10):
    path = os.path.join(sys.argv[1], "leased%d" % number)
    with open(path, "w") as file:
        signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK))
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        child = os.fork()
        if not child:
            try:
                os.close(os.open(path, os.O_RDONLY))
            except OSError:
                os._exit(1)
            os._exit(0)
        denied += os.waitpid(child, 0)[1] != 0
print("refused", refused, "denied", denied)
"""


def test_leases_are_given_and_waited_for():
    """Whoever is let go finds nobody else at the file, and an open that waits for a lease is not denied."""
    need_hold()
    with tempfile.TemporaryDirectory(prefix="tracer-leases-") as folder:
        done = subprocess.run([lab.TRACER, "-o", os.path.join(folder, "report"), "--", sys.executable, "-c", LEASES, folder],
                              capture_output=True, text=True, timeout=lab.PATIENCE, check=False)
    assert "refused 0 denied 0" in done.stdout, done.stdout + done.stderr


if __name__ == "__main__":
    lab.run_tests()
