#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that valgrind runs are never probed: it takes a breakpoint in their code for an instruction. Truth: they do their work, and end with
status 0."""
import os

import lab

# runs alone: for a second, all processes are probed


def command(*arguments):
    """Without a tool, so that the program's own allocator runs."""
    return [lab.need("valgrind"), "-q", "--tool=none", lab.target("known"), "calls", *arguments]


def begin():
    process = lab.start(command("wait"))
    lab.wait_for(lambda: "valgrind/" in os.readlink("/proc/%d/exe" % process.pid), "valgrind runs the program")
    lab.wait_for(lambda: lab.target("known") in maps_of(process.pid) and lab.is_waiting(process), "the program waits", lab.PATIENCE * 5)
    return process


def maps_of(pid):
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as file:
        return file.read()


def check_end(process):
    assert lab.work(process)
    process.communicate(timeout=lab.PATIENCE * 5)
    assert process.returncode == 0, process.returncode


def test_refused():
    process = begin()
    for options in (["-p", process.pid, "-d", "10s"], ["-p", process.pid, "-d", "10s", "--budget", "1%"], ["plan", "-p", process.pid]):
        status, _, errors = lab.run(*options)
        assert status == 5 and "valgrind runs the program of process %d" % process.pid in errors, (options, status, errors)
    check_end(process)


def test_executed():
    """By a command that is traced: its probes are out before valgrind reads the program's code."""
    status, output, errors = lab.run("-j", "-n", "0", "--", *command())
    assert status == 0 and "executes valgrind now" in errors and "signal" not in errors, (status, output, errors)


def test_all():
    """All processes: those that run are probed one by one, but for this one."""
    process = begin()
    tracer = lab.Tracer("-a", "-v", "-j", "-n", "0", "-d", "1s")
    check_end(process)
    tracer.finish()
    assert "process %d is not traced: valgrind runs the program" % process.pid in tracer.stderr(), tracer.stderr()


lab.run_tests()
