#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A tracer that is killed while the kernel puts its probes in or takes them out leaves nothing behind.

The target maps a C library of its own, so that no other tracer's probes are in its code, and the tracer has a name of
its own, by which the kernel's messages are known.
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile

import lab

ROUNDS = 4


def kernel_messages(name):
    """What the kernel has said of leaked probes of programs of this name."""
    said = subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace", check=False)
    if said.returncode:
        raise lab.Skip("the kernel's messages cannot be read")
    return [line for line in said.stdout.splitlines() if "leaking uprobe" in line and name in line]


def private_churn(folder):
    """A running target in whose code of the C library only our probes are."""
    program = lab.target("churn")
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    loader = re.search(r"(/\S*ld-linux\S*) \(0x", listed).group(1)
    shutil.copy(re.search(r"(/\S+/libc\.so\S*) \(0x", listed).group(1), folder)
    process = lab.start([loader, "--library-path", folder, program, 2])
    process.stdout.readline()
    return process


class Code:
    """The bytes of the target's C library that probes change."""

    def __init__(self, tracer, process):
        self.pid = process.pid
        self.before = lab.code_of(process.pid)
        running = start(tracer, process, ())
        wait_ready(running)
        during = lab.code_of(process.pid)
        self.changed = [i for i, byte in enumerate(self.before) if byte != during[i]]
        assert self.changed, "no probe can be seen in the code"
        end(running, signal.SIGINT)
        self.check()
        with open("/proc/%d/maps" % self.pid, encoding="utf-8", errors="replace") as maps:
            self.address = next(int(line.split("-")[0], 16) for line in maps if re.search(r"r-xp.*/libc\.so", line))

    def look(self, memory):
        return [os.pread(memory, 1, self.address + offset) for offset in self.changed]

    def wait_change(self, memory, first, running):
        """The look after its end is the one that counts: it may do all of its work between two looks."""
        has_ended = False
        while self.look(memory) == first:
            assert not has_ended, "the tracer ended, and the code did not change"
            has_ended = running.poll() is not None

    def check(self):
        lab.wait_for(lambda: lab.code_of(self.pid) == self.before, "the kernel has taken the probes out")


def start(tracer, process, options):
    return lab.start([tracer, "-q", "-p", process.pid, *options, "3600"])


def wait_ready(running):
    line = b" "
    while line and b"ready" not in line:
        line = running.stderr.readline()
    assert line, "the tracer ended"


def end(running, number):
    running.send_signal(number)
    running.communicate(timeout=lab.PATIENCE)


def kill_attaching(code, memory, tracer, process, options):
    first = code.look(memory)
    running = start(tracer, process, options)
    code.wait_change(memory, first, running)
    end(running, signal.SIGKILL)


def kill_detaching(code, memory, tracer, process, options):
    running = start(tracer, process, options)
    wait_ready(running)
    first = code.look(memory)
    running.send_signal(signal.SIGINT)
    code.wait_change(memory, first, running)
    end(running, signal.SIGKILL)


def check_kills(kill, *options):
    with tempfile.TemporaryDirectory(prefix="tracer-kills-") as folder:
        tracer = os.path.join(folder, "tr%d" % os.getpid())
        os.symlink(lab.TRACER, tracer)
        kernel_messages(tracer)
        process = private_churn(folder)
        code = Code(tracer, process)
        memory = os.open("/proc/%d/mem" % process.pid, os.O_RDONLY)
        try:
            for _ in range(ROUNDS):
                kill(code, memory, tracer, process, options)
                code.check()
        finally:
            os.close(memory)
        said = kernel_messages(os.path.basename(tracer))
        assert not said, said
        assert process.poll() is None, "the target ended with status %s" % process.returncode


def test_killed_while_attaching():
    check_kills(kill_attaching)


def test_killed_while_detaching():
    check_kills(kill_detaching)


def test_killed_while_attaching_perf_probes():
    lab.need_backend("perf")
    check_kills(kill_attaching, "--backend", "perf")


def test_killed_while_detaching_perf_probes():
    lab.need_backend("perf")
    check_kills(kill_detaching, "--backend", "perf")


lab.run_tests()
