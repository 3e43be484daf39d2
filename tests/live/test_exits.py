#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Without return probes, results are read at the exits of functions: the same numbers, whatever the allocator.

The truth is the programs' own account: tests/targets/known.c and operators.cc count what they ask for by themselves.
"""
import os

import lab

OPTION = "--no-return-probes"
SCENARIOS = ("calls", "zero", "nested", "realloc", "realloc-zero", "failed", "cross", "mappings", "mapstorm", "signals")
# musl has no unwind tables, and static programs may begin in code without.
WITHOUT_TABLES = ("calls_unclear", "stack_no_rows", "stack_guessed")


def check(name, scenario="all", allowed=()):
    path = lab.target(name)
    if not os.path.exists(path):
        raise lab.Skip("%s could not be built here" % name)
    account, report = lab.command_report([path, scenario], OPTION)
    lab.check_account(account, report, allowed)
    assert report["loss"]["free_untracked"] == 0, report["loss"]


def test_scenarios():
    for scenario in SCENARIOS:
        check("known", scenario)


def test_attached():
    account, report = lab.attached_report([lab.target("known"), "calls"], OPTION)
    lab.check_account(account, report)


def test_jumps():
    check("known", "jumps", ("returns_unmatched",))


def test_static():
    check("known-static", allowed=("stack_guessed",))


def test_musl():
    check("known-musl", allowed=WITHOUT_TABLES)
    check("known-musl-static", allowed=WITHOUT_TABLES)


def test_jemalloc():
    check("known-jemalloc")
    check("operators-jemalloc", "plain", ("calls_thrown",))


def test_tcmalloc():
    check("known-tcmalloc")
    check("operators-tcmalloc", "plain", ("calls_thrown",))


def test_mimalloc():
    check("known-mimalloc")


def test_operators():
    check("operators", "plain", ("calls_thrown",))


def test_no_address_is_changed():
    """The plan, too, has no function that is probed by its return."""
    status, text, errors = lab.run("plan", OPTION, "--", lab.target("known"), "calls")
    assert status == 0, errors
    assert "is probed by its return" not in text, text
    for function in ("malloc", "calloc", "realloc"):
        assert "of %s\n" % function in text, text


lab.run_tests()
