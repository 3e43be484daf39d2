#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where opens of CMD cannot be held, what is missed is counted and said; where they can, it is exact.

The truth is each program's own account. The last report of a program that has ended before it was probed has no site of it,
and a loss in its place.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lab

LATE = ("files_late", "files_missed", "children_late", "children_missed")


def hold_is_there(errors):
    if "are not held" in errors:
        raise lab.Skip("the kernel does not let opens be held")


def traced(command, *options):
    """The report on a command and the messages."""
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        status, output, errors = lab.run("-j", "-n", "0", "--keep-exited", "-o", file.name, *options, "--", *command)
        hold_is_there(errors)
        assert status == 0, (status, errors)
        return json.loads(file.read()), output, errors


def in_use(sums):
    """Of programs that have ended, sites that hold nothing are one row."""
    found = {name: (figures[0] - figures[2], figures[1] - figures[3]) for name, figures in sums.items()}
    return {name: held for name, held in found.items() if any(held)}


def check_counted(report, account, errors):
    """Exact, or a loss and a message."""
    truth = in_use(account)
    if in_use(lab.sums(report, set(account))) == truth:
        return
    lost = {name: report["loss"][name] for name in LATE if report["loss"][name]}
    assert lost, "missed and not counted: %s of %s" % (in_use(lab.sums(report, set(truth))), truth)
    if "files_late" in lost or "files_missed" in lost:
        assert "had mapped it" in errors or "before it was probed: calls of an allocator in it are missing" in errors, errors


def stop(tracer):
    """The command's standard input stays open, so it is still there at the last report."""
    tracer.process.send_signal(lab.signal.SIGINT)
    tracer.process.wait(lab.PATIENCE)


def static_program():
    path = lab.target("known-static")
    if not os.path.exists(path):
        raise lab.Skip("there is no static program")
    return path


def check_way(*command):
    """A program that gives its account and ends at once, and one that stays until it is seen."""
    report, output, errors = traced(command)
    check_counted(report, lab.last_object(output), errors)


def can_unshare():
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("unshare -m does not work here")


def test_mounts_of_its_own():
    can_unshare()
    check_way("unshare", "-m", static_program(), "calls")
    check_way("unshare", "-m", "sh", "-c", "%s calls; true" % static_program())


def test_a_root_of_its_own():
    """A tmpfs that CMD mounts, with a program on it, executed below a chroot."""
    can_unshare()
    check_way("unshare", "-m", "sh", "-ec", "mount -t tmpfs none /mnt; cp %s /mnt/program; exec chroot /mnt /program calls"
              % static_program())


def test_bubblewrap():
    bwrap = lab.need("bwrap")
    command = [bwrap, "--ro-bind", "/", "/", "--tmpfs", "/tmp", static_program(), "calls"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise lab.Skip("bwrap does not work here")
    check_way(*command)


MEMORY_FILE = """
import os, sys
file = os.memfd_create("program")
with open(sys.argv[1], "rb") as program:
    os.write(file, program.read())
os.execve(file, sys.argv[1:], os.environ)
"""


def test_a_memory_file():
    check_way(sys.executable, "-c", MEMORY_FILE, static_program(), "calls")


MEMORY_FILE_OF_MANY = """
import os, sys
file = os.memfd_create("program")
with open(sys.argv[1], "rb") as program:
    os.write(file, program.read())
if not os.fork():
    os.execve(file, [sys.argv[1], "no-scenario"], os.environ)
os.wait()
os.execve(file, sys.argv[1:], os.environ)
"""


def is_probed(tracer):
    late = re.findall(r"/memfd:program: probed .* after process (\d+)", tracer.stderr())
    return any(os.path.exists("/proc/%s" % pid) for pid in late)


def test_a_memory_file_of_many():
    """The first process that executes it mostly ends before the file can be opened; the second one is probed all the same."""
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        tracer = lab.Tracer("-j", "-n", "0", "-o", file.name, "--", sys.executable, "-c", MEMORY_FILE_OF_MANY,
                            static_program(), "calls", "wait")
        hold_is_there(tracer.stderr())
        lab.wait_for(lambda: is_probed(tracer), "the memory file is probed in the process that stays")
        account = lab.work(tracer.process)
        stop(tracer)
        # Stacks of the interpreter that executes it may be cut.
        lab.check_account(account, json.loads(file.read()), LATE + ("stack_truncated",))


def test_a_program_that_has_ended():
    """Nothing is held: a copy of a static program, which nobody has seen before, ends as soon as it can."""
    with tempfile.TemporaryDirectory(prefix="tracer-hold-") as folder:
        for number in range(10):
            program = os.path.join(folder, "program-%d" % number)
            shutil.copy(static_program(), program)
            report, output, errors = traced(["sh", "-c", "%s calls" % program], "--no-hold")
            check_counted(report, lab.last_object(output), errors)


def test_a_launcher_without_an_allocator():
    """It is not refused: what it starts is exact. A launcher that starts nothing that can be probed is."""
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        tracer = lab.Tracer("-j", "-n", "0", "-o", file.name, "--", lab.target("bare"), lab.target("known"), "calls", "stay")
        hold_is_there(tracer.stderr())
        account = json.loads(tracer.process.stdout.readline())
        stop(tracer)
        lab.check_account(account, json.loads(file.read()))
    errors = tracer.stderr()
    assert "what %s executes is traced" % lab.target("bare") in errors, errors
    status, _, errors = lab.run("--", lab.target("bare"), lab.target("bare"), "/nonexistent")
    assert status == 125 and "nothing to probe" in errors, (status, errors)
    status, _, errors = lab.run("--no-follow-fork", "--", lab.target("bare"), lab.target("known"), "calls")
    assert status == 5 and "nothing to probe" in errors, (status, errors)


if __name__ == "__main__":
    lab.run_tests()
