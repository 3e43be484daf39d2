#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How much work the programs are for the kernel's verifier, by its own account: far from its limit of a million."""
import os
import re

import lab

INSTRUCTIONS_MAX = 50000


def verified_instructions(pid):
    """{program id: instructions that the verifier looked at}, of the programs that a process holds."""
    found = {}
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, name), encoding="ascii") as file:
                text = file.read()
        except OSError:
            continue
        program = re.search(r"^prog_id:\s*(\d+)", text, re.M)
        if not program or "prog_jited:" not in text:  # links have programs, too
            continue
        count = re.search(r"^verified_insns:\s*(\d+)", text, re.M)
        if not count:
            raise lab.Skip("the kernel does not say what its verifier did")
        found[int(program.group(1))] = int(count.group(1))
    return found


def check(backend):
    lab.need_backend(backend)
    process = lab.start(["sleep", 3600])
    check_tracer(backend, "--backend", backend, "-q", "-p", process.pid, "3600")


def check_tracer(name, *arguments):
    tracer = lab.Tracer(*arguments)
    found = verified_instructions(tracer.process.pid)
    tracer.stop()
    print("# %s: %s" % (name, sorted(found.values())))
    assert len(found) >= 2 and min(found.values()) > 0, (found, tracer.stderr())
    assert max(found.values()) < INSTRUCTIONS_MAX, found


def test_session():
    check("session")


def test_multi():
    check("multi")


def test_perf():
    check("perf")


def test_kernel():
    check_tracer("kernel", "--kernel", "-q", "3600")


lab.run_tests()
