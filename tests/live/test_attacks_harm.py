#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Tracers that come, go and are killed at any moment, and other tools beside them: the target's blocks and code stay whole."""
import json
import random
import re
import signal
import subprocess
import time

import attacks
import lab

ROUNDS = int(4 * max(lab.SCALE, 1))


def churn():
    process = lab.start([lab.target("churn"), 8])
    process.stdout.readline()
    return process


def check_lives(process, code):
    """It checks its blocks, and would have ended; its code is that of before."""
    first = int(process.stdout.readline())
    assert int(process.stdout.readline()) > first and process.poll() is None
    lab.wait_for(lambda: lab.code_of(process.pid) == code, "the kernel has taken the probes out")


def private_bytes(pid):
    """Of the C library's code: the pages that probes have made the process's own."""
    with open("/proc/%d/smaps" % pid, encoding="utf-8", errors="replace") as file:
        parts = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", file.read(), flags=re.M)
    return sum(int(size) << 10 for part in parts if re.match(r"\S+ r-xp .*libc\.so", part)
               for size in re.findall(r"^Private_\w+:\s*(\d+)", part, re.M))


def kill_at_random(*options):
    process, chance = churn(), random.Random(1)
    code = lab.code_of(process.pid)
    for _ in range(ROUNDS):
        tracer = lab.start([lab.TRACER, "-q", "-j", *options, "-p", process.pid, "0.1"])
        time.sleep(chance.random())  # any moment: that is what is tried
        lab.end(tracer)
        check_lives(process, code)


def test_killed_with_session_probes():
    lab.need_backend("session")
    kill_at_random("--backend", "session")


def test_killed_with_multi_probes():
    lab.need_backend("multi")
    kill_at_random("--backend", "multi")


def test_killed_with_perf_probes():
    lab.need_backend("perf")
    kill_at_random("--backend", "perf")


def test_rounds_leave_no_pages():
    process = churn()
    code = lab.code_of(process.pid)
    for _ in range(ROUNDS):
        status, _, errors = lab.run("-q", "-j", "-p", process.pid, "-d", "20ms")
        assert status == 0, errors
        check_lives(process, code)
    tracer = lab.Tracer("-q", "-p", process.pid, "3600")
    during = private_bytes(process.pid)
    tracer.stop()
    check_lives(process, code)
    print("# private pages of code: %d KiB while traced" % (during >> 10), flush=True)
    assert during <= 64 << 10, during


def test_beside_strace():
    strace = lab.need("strace")
    process = attacks.victim()
    other = lab.start([strace, "-f", "-qq", "-o", "/dev/null", "-p", process.pid], stdout=subprocess.DEVNULL)
    with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
        lab.wait_for(lambda: file.seek(0) or "TracerPid:\t%d\n" % other.pid in file.read(), "strace is attached")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    account = lab.work(process)
    attacks.check_victim(json.loads(tracer.stop().splitlines()[-1]), process, account)
    lab.end(other, signal.SIGINT)
    assert process.poll() is None


def test_filters_that_kill():
    """A target whose seccomp filter ends it at a call that it does not make: with probes of each kind, it lives or is refused."""
    for backend in ("session", "multi", "perf"):
        if not lab.has_backend(backend):
            continue
        process = lab.start([lab.target("sandboxed"), "wait"])
        with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
            lab.wait_for(lambda: file.seek(0) or "Seccomp:\t2\n" in file.read(), "the filter is in place")
        tracer = lab.Tracer("-j", "-n", "0", "--backend", backend, "-p", process.pid, "3600", ready=False)
        lab.check_filtered(tracer, process)


if __name__ == "__main__":
    lab.run_tests()
