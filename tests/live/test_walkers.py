#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Programs whose allocator walks the stack, and functions that leave theirs, are as they are without the tracer.

The truth is their own account (tests/targets/walked.c, yields.c), their status and what the sanitizers say.
"""
import json
import os
import re
import shutil
import tempfile

import lab

ROUNDS = 1000
BACKENDS = ("session", "multi", "perf")
NAMED = ["--alloc", "yields:pool_get:size=arg1,ret"]


def run(command, *options, environment=None, traced=True):
    """Status, account and messages of a program, and the tracer's report on it until its end."""
    with tempfile.TemporaryFile() as messages, tempfile.TemporaryDirectory(prefix="tracer-libc-") as folder:
        # Another tracer's return probes in the C library are in each process that is probed there: this one has a copy.
        libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so" in line)
        shutil.copy(libc, folder + "/libc.so.6")
        environment = dict(environment or os.environ, LD_LIBRARY_PATH=folder)
        process = lab.start([*command, "wait"], stderr=messages, env=environment)
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, *options) if traced else None
        output, _ = process.communicate(b"go\n", timeout=lab.PATIENCE)
        messages.seek(0)
        return process.returncode, output.decode(), messages.read().decode(), tracer and lab.last_object(tracer.finish())


def check_sanitizer(name):
    command = [lab.target(name)]
    if not os.path.exists(command[0]):
        raise lab.Skip("%s could not be built here" % name)
    with tempfile.NamedTemporaryFile("w", prefix="tracer-suppressions-") as file:
        file.write("leak:site_leaks\n")
        file.flush()
        environment = dict(os.environ, LSAN_OPTIONS="suppressions=%s" % file.name)
        alone = run(command, environment=environment, traced=False)
        assert alone[0] == 0 and "site_leaks" in alone[2], alone
        for option in ([], ["--no-return-probes"]):
            status, output, errors, report = run(command, *option, environment=environment)
            assert (status, output) == alone[:2], (status, output, errors)
            assert re.search(r"100 +5050 site_leaks", errors), errors
            lab.check_account(json.loads(output), report, ("stack_guessed",))


def test_address_sanitizer():
    check_sanitizer("walked-asan")


def test_leak_sanitizer():
    check_sanitizer("walked-lsan")


def test_fibers():
    """The first call of a pair goes to another fiber, where there is a second one, and comes back."""
    for backend in BACKENDS:
        lab.need_backend(backend)
        status, output, errors, report = run([lab.target("yields"), "fibers"], "--backend", backend, *NAMED)
        assert status == 0 and "site_fiber" in output, (backend, status, errors)
        sums = lab.sums(report, {"site_here", "site_fiber"})
        assert sums["site_here"] == [20 * ROUNDS, ROUNDS, 0, 0], (backend, sums)
        # What is not seen to its end is counted.
        seen = sums.get("site_fiber", [0, 0, 0, 0])[1]
        assert seen + report["loss"]["returns_unmatched"] == ROUNDS, (backend, sums, report["loss"])


def test_handlers():
    """Mappings are made in a handler on an alternate stack while a call is pending on the thread's."""
    for backend in BACKENDS:
        lab.need_backend(backend)
        status, output, errors, report = run([lab.target("yields"), "handler"], "--backend", backend)
        assert status == 0 and "site_interrupted" in output, (backend, status, errors)
        sums = lab.sums(report, {"site_interrupted"})
        assert sums == {"site_interrupted": [30 * ROUNDS, ROUNDS, 0, 0]}, (backend, sums, report["loss"])


def test_two_tracers():
    """Another one's return probes change the return addresses by which this one knows what is nested."""
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracers = [lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, *options) for options in ([], ["--no-return-probes"])]
    account = lab.work(process)
    for tracer in tracers:
        lab.check_account(account, lab.last_object(tracer.stop()))
    process.stdin.close()
    lab.wait_for(lambda: process.poll() is not None, "the target ends")
    assert process.returncode == 0


lab.run_tests()
