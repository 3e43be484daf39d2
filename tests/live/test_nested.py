#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that the program makes while others are pending, on whatever stack: they count, and the program survives.

INTERRUPTED_ROUNDS and FIBERS_ROUNDS in the environment are how often. The truth is the programs' own account: tests/targets/interrupted.c, fibers.c and handlers.cc.
"""
import json
import os
import tempfile

import lab

BACKENDS = ("session", "multi", "perf", "ioctl")
NAMED = ("--alloc", "fibers-static:fiber_get:size=arg1,ret", "--free", "fibers-static:fiber_put")


_there = []


def backends():
    """The ways of attaching that this kernel has."""
    if not _there:
        _there.extend(name for name in BACKENDS if lab.has_backend(name))
    return _there


def variant(name):
    if not os.path.exists(lab.target(name)):
        raise lab.Skip("%s could not be built here" % name)
    return lab.target(name)


def check(command, *options, allowed=(), attached=False):
    account, report = (lab.attached_report if attached else lab.command_report)(command, *options)
    lab.check_account(account, report, allowed)
    assert report["loss"]["free_untracked"] == 0, report["loss"]


def check_declined(scenario, *allowed):
    """
    What is allocated on another stack counts as lost, and nothing else does. The program is static, because other tracers
    that probe the same file make the kernel probe returns that this one has declined.
    """
    account, report = lab.command_report([variant("interrupted-static"), scenario], "--backend", "session")
    lab.check_sums(report)
    lab.check_losses(report, ("returns_declined", "bytes_unattributed", *allowed))
    exact = {name: figures for name, figures in account.items()
             if name not in ("site_handler_malloc", "site_handler_calloc", "site_handler_realloc")}
    assert lab.sums(report, set(exact)) == exact, (lab.sums(report, set(exact)), exact)
    return {name: figures for name, figures in account.items() if name not in exact}, report


def test_handlers_on_the_stack_of_the_thread():
    for backend in backends():
        check([lab.target("interrupted"), "own"], "--backend", backend)


def test_handlers_on_a_lower_stack():
    for backend in backends():
        check([lab.target("interrupted"), "below"], "--backend", backend)


def test_handlers_by_frame_pointers():
    """Without unwind tables, the kernel's record of the alternate stack is all that there is."""
    check([lab.target("interrupted"), "below"], "--call-graph", "fp", allowed=("stack_guessed", "stack_no_rows", "stack_unreadable"))


def test_handlers_of_a_static_program():
    check([variant("interrupted-static"), "own"])
    check([variant("interrupted-static"), "below"])


def test_handlers_on_a_higher_stack():
    lab.need_backend("session")
    for scenario in ("above", "touching"):
        declined, report = check_declined(scenario)
        assert report["loss"]["returns_declined"] == sum(figures[1] for figures in declined.values()), report["loss"]
        assert report["loss"]["bytes_unattributed"] == sum(figures[0] for figures in declined.values()), report["loss"]
        assert not lab.sums(report, set(declined)), report["sites"]


def test_handlers_that_jump_out():
    lab.need_backend("session")
    _, report = check_declined("leave", "returns_unmatched")
    # Each second call of four threads.
    assert report["loss"]["returns_unmatched"] == 200, report["loss"]


def test_handlers_in_the_code_of_return_probes():
    """A function has returned, and the kernel does not know it yet; where its return address stood is another word."""
    lab.need_backend("session")
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        status, output, errors = lab.run("-q", "-j", "-n", "0", "-o", file.name, "--backend", "session", "--",
                                         lab.target("returning"), 3, 400000)
        assert status == 0, errors
        if "hits 0" in errors:
            raise lab.Skip("no signal has come there")
        lab.check_account(lab.last_object(output), json.loads(file.read()))


def test_mappings_by_handlers_on_a_higher_stack():
    for backend in backends():
        check([variant("interrupted-static"), "mappings"], "--backend", backend)


def check_exact(backend, *options):
    # Stacks of a program that has just begun cannot be walked for certain on a busy machine, and to take
    # out one probe takes the kernel a tenth of a second or more with the last two.
    for scenario in ("above", "touching", "leave") if backend in BACKENDS[:2] else ("leave",):
        check([variant("interrupted-static"), scenario], "--backend", backend, *options, attached=True,
              allowed=("returns_unmatched",) * (scenario == "leave"))


def test_handlers_on_a_higher_stack_without_return_probes():
    for backend in backends():
        check_exact(backend, "--no-return-probes")


def test_handlers_on_a_higher_stack_where_returns_cannot_be_declined():
    """The program calls sigaltstack: there it has no return probes, without being asked."""
    for backend in backends():
        if backend != "session":
            check_exact(backend)


def test_switching_is_said():
    plan = [lab.run("plan", *options, "--", variant("interrupted-static"))[1] for options in ((), ("--backend", "perf"))]
    sentence = "may switch stacks (sigaltstack): results are read at return instructions"
    assert sentence + " where the kernel has no session probes" in plan[0] and "of malloc\n" not in plan[0], plan[0]
    assert sentence + "\n" in plan[1] and "of malloc\n" in plan[1], plan[1]
    for backend in [backend for backend in backends() if backend != "session"][:1]:
        _, _, errors = lab.run("--backend", backend, "-o", "/dev/null", "--", lab.target("interrupted"), "own")
        assert errors.count("results are read at return instructions") == 1, errors


def test_new_handlers():
    for name in ("handlers", "handlers-jemalloc", "handlers-jemalloc-static", "handlers-tcmalloc", "handlers-tbb"):
        check([variant(name)])


def test_fibers():
    """They change between calls, and within those that are named."""
    for backend in backends():
        for scenario in ("apart", "packed") if backend in BACKENDS[:2] else ("packed",):
            check([variant("fibers-static"), scenario], "--backend", backend, *NAMED)


def test_wrappers():
    """What is freed by a wrapper was known to it: the function below it frees nothing unknown."""
    environment = dict(os.environ)
    for name in ("wrap-jump.so", "wrap-call.so", "wrap-deep.so"):
        environment["LD_PRELOAD"] = variant(name)
        for scenario in ("calls", "realloc"):
            account, report = lab.attached_report([lab.target("known"), scenario], environment=environment)
            lab.check_account(account, report)
            assert report["loss"]["free_untracked"] == 0, (name, scenario, report["loss"])


lab.run_tests()
