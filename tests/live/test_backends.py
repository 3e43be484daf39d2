#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Whatever instruction is probed, and in whichever way: the same numbers, and a target that survives it.

The truth is the program's own account: tests/targets/known.c counts what it asks for, tests/targets/churn.c checks
each block before it frees it.
"""
import json

import lab

SCENARIOS = ("jumps", "calls", "zero", "nested", "realloc", "failed", "cross", "mappings", "signals")
TIMES = 10
# To take out one such probe takes the kernel a tenth of a second or more.
SCENARIOS_PERF, TIMES_PERF = ("calls", "realloc", "cross", "mappings"), 3


def check(*options, scenarios=SCENARIOS):
    for scenario in scenarios:
        command = [lab.target("known"), scenario]
        # What was jumped out of cannot have been seen to the end.
        allowed = ("returns_unmatched",) if scenario == "jumps" else ()
        lab.check_account(*lab.attached_report(command, *options), allowed)
    lab.check_account(*lab.command_report(command, *options))


def check_survival(*options, times=TIMES):
    """Probe and unprobe a program whose threads all do nothing but allocate and free."""
    process = lab.start([lab.target("churn"), 4])
    process.stdout.readline()
    before = lab.code_of(process.pid)
    for _ in range(times):
        status, output, errors = lab.run("-q", "-j", "-p", process.pid, "-d", "20ms", *options)
        assert status == 0, errors
        lab.check_sums(json.loads(output))
        assert process.poll() is None, "the target ended with status %s" % process.returncode
    lab.wait_for_code(process.pid, before)
    first = int(process.stdout.readline())
    assert int(process.stdout.readline()) > first, "the target works no more"


def test_numbers_of_session_probes():
    lab.need_backend("session")
    check("--backend", "session")


def test_numbers_of_multi_probes():
    lab.need_backend("multi")
    check("--backend", "multi")


def test_numbers_of_perf_probes():
    lab.need_backend("perf")
    check("--backend", "perf", scenarios=SCENARIOS_PERF)


def test_numbers_of_ioctl_probes():
    lab.need_backend("ioctl")
    check("--backend", "ioctl", scenarios=SCENARIOS_PERF)


def test_numbers_at_the_entries():
    check("--probe-at-entry")


def test_survival_of_session_probes():
    lab.need_backend("session")
    check_survival("--backend", "session")


def test_survival_of_multi_probes():
    lab.need_backend("multi")
    check_survival("--backend", "multi")


def test_survival_of_perf_probes():
    lab.need_backend("perf")
    check_survival("--backend", "perf", times=TIMES_PERF)


def test_survival_of_ioctl_probes():
    lab.need_backend("ioctl")
    check_survival("--backend", "ioctl", times=TIMES_PERF)


def test_survival_at_the_entries():
    check_survival("--probe-at-entry")


lab.run_tests()
