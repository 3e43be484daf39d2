#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Programs whose calls are pending on one stack while others begin on another one survive, however often they run.

A shell under the tracer runs each of them SURVIVAL_RUNS times, each time a new process, and counts statuses that are not 0. Each
process goes through its scenario SURVIVAL_ROUNDS times (yields: a thousand times always). To probe a process with single events,
and to take the probes out again, takes the kernel seconds: for perf and ioctl there is SURVIVAL_RUNS_OF_EVENTS. The truth is the
programs' status: what returns to nowhere ends by SIGILL.

Tests of all trace the machine (-a), with one link for all processes, where it has nothing else to do (TEST_EXCLUSIVE), as in
tests/kernels. There the truth is what the programs print, too: calls with other results than without the tracer lead to another
account. Ten runs are executed by tests/targets/again.c, the others are children by fork, which begin together (SURVIVAL_DELAY_MS
after they were forked, for the tracer to find them): what is executed anew takes an emulator much longer.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

import lab

RUNS = int(os.environ.get("SURVIVAL_RUNS", "10"))
RUNS_OF_EVENTS = int(os.environ.get("SURVIVAL_RUNS_OF_EVENTS", "1"))
EXECS = 10  # of the runs under a tracer of all
ROUNDS = os.environ.get("SURVIVAL_ROUNDS", "5")
TOGETHER = dict(TRUTH_BATCH="40", TRUTH_DELAY_MS=os.environ.get("SURVIVAL_DELAY_MS", "1000"))
PATIENCE = 3600  # a process that hangs ends the test; emulated, under a busy machine, a run may take minutes

# Handlers on higher stacks over malloc, some of which jump out; fibers that change between calls and within them.
PROGRAMS = ("interrupted-static above", "interrupted-static touching", "interrupted-static leave", "interrupted leave",
            "fibers-static packed", "fibers apart", "yields fibers", "yields handler")
NAMED = ("--alloc", "fibers-static:fiber_get:size=arg1,ret", "--free", "fibers-static:fiber_put",
         "--alloc", "yields:pool_get:size=arg1,ret")


def programs_there():
    """Those of the list that were built."""
    there = [program for program in PROGRAMS if os.path.exists(lab.target(program).split()[0])]
    assert len(there) >= 4, there
    return there


LOOP = """
turn=0
while [ $turn -lt $1 ]; do
    while read -r program scenario; do
        if ! [ -x "$2/$program" ]; then continue; fi
        "$2/$program" $scenario > /dev/null < /dev/null
        echo "$program $scenario: $?"
    done < "$3"
    turn=$((turn + 1))
done
"""


def survive(backend, runs, programs):
    """Each of the programs, as often as that, under one tracer: how many were not followed."""
    lab.need_backend(backend)
    with tempfile.TemporaryDirectory(prefix="tracer-survival-") as folder:
        # Another tracer's return probes in the C library could be the end of them: this is a copy.
        libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so" in line)
        shutil.copy(libc, folder + "/libc.so.6")
        for name, text in (("loop", LOOP), ("programs", "".join(line + "\n" for line in programs))):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        environment = dict(os.environ, INTERRUPTED_ROUNDS=ROUNDS, FIBERS_ROUNDS=ROUNDS)
        process = lab.start([lab.TRACER, "-j", "-n", "0", "-o", folder + "/report", "--backend", backend, *NAMED, "--",
                             "env", "LD_LIBRARY_PATH=" + folder, "sh", folder + "/loop", runs, lab.TARGETS, folder + "/programs"],
                            env=environment)
        output, errors = process.communicate(timeout=PATIENCE)
        said = [line.rpartition(": ") for line in output.decode().splitlines() if ": " in line]
        assert process.returncode == 0 and said, (process.returncode, output, errors)
        ended = ["%s: %s" % (program, status) for program, _, status in said if status != "0"]
        assert not ended, "%d of %d were harmed: %s" % (len(ended), len(said), sorted(set(ended)))
        assert [program for program, _, _ in said] == programs * runs, said
        with open(folder + "/report", encoding="utf-8") as file:
            loss = lab.last_object(file.read())["loss"]
        assert re.search(r"may switch stacks \((sigaltstack|makecontext|swapcontext)\)", errors.decode()), errors
        missed = loss["children_missed"]
        print("%s: %d programs %d times each, %d of %d not followed" % (backend, len(programs), runs, missed, len(said)))
        return missed


def survive_links(backend):
    # Links of all processes that ended are closed together: those of a few wait at a time.
    programs = programs_there()
    missed = survive(backend, RUNS, programs)
    assert missed * 2 < RUNS * len(programs), missed


def survive_events(backend):
    # The kernel closes events one after the other, at its own pace. Those of four processes are fewer than may wait.
    programs = programs_there()
    for half in [programs[:4], programs[4:]] * RUNS_OF_EVENTS:
        missed = survive(backend, 1, half) if half else 0
        assert not missed, missed


class Programs:
    """Those of the list that are there, with their accounts, and an environment with a C library of their own."""

    def __init__(self, folder):
        # Another tracer's return probes in the C library could be the end of them: this is a copy.
        libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so" in line)
        shutil.copy(libc, folder + "/libc.so.6")
        self.environment = dict(os.environ, LD_LIBRARY_PATH=folder, INTERRUPTED_ROUNDS=ROUNDS, FIBERS_ROUNDS=ROUNDS,
                                YIELDS_ROUNDS=ROUNDS)
        self.accounts, self.path = {}, folder + "/programs"
        for program in programs_there():
            self.accounts[program] = self.run(program).strip()
        with open(self.path, "w", encoding="ascii") as file:
            for program, account in self.accounts.items():
                file.write("%s\n%s\n" % (lab.target(program), account))

    def run(self, program, **variables):
        done = subprocess.run(lab.target(program).split(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                              env=dict(self.environment, **variables))
        return done.stdout.decode()

    def run_children(self, program, runs):
        """The program as so many children by fork: how they ended."""
        return json.loads(self.run(program, TRUTH_RUNS=str(runs), TRUTH_ACCOUNT=self.accounts[program], **TOGETHER))


def check_runs(rows, runs, where):
    """None of the programs was harmed."""
    sums = {key: sum(row[key] for row in rows) for key in ("runs", "killed", "failed", "wrong")}
    print("note %s: %d processes, %d of each program: %d killed, %d failed, %d wrong" % (
        where, sums["runs"], runs, sums["killed"], sums["failed"], sums["wrong"]), flush=True)
    assert not sums["killed"] + sums["failed"] + sums["wrong"], rows
    assert all(row["runs"] == runs for row in rows), rows


def rows_of(output):
    return [json.loads(line) for line in output.decode().splitlines()]


def survive_all(backend):
    if not os.environ.get("TEST_EXCLUSIVE"):
        raise lab.Skip("other programs run on this machine, too")
    lab.need_backend(backend)
    with tempfile.TemporaryDirectory(prefix="tracer-survival-") as folder:
        programs = Programs(folder)
        tracer = lab.Tracer("-j", "-n", "0", "-a", "--backend", backend, *NAMED)
        again = lab.start([lab.target("again"), min(EXECS, RUNS), programs.path], stdin=subprocess.DEVNULL, env=programs.environment)
        rows = rows_of(again.communicate(timeout=PATIENCE)[0])
        check_runs(rows, min(EXECS, RUNS), backend + ", links for all, executed")
        if RUNS > EXECS:
            rows = [programs.run_children(program, RUNS - EXECS) for program in programs.accounts]
            check_runs(rows, RUNS - EXECS, backend + ", links for all, forked")
        report = json.loads(tracer.stop().splitlines()[-1])
        print("note losses: %s" % {name: count for name, count in report["loss"].items() if count})
        assert tracer.process.returncode == 0, tracer.stderr()


def test_session():
    survive_links("session")


def test_multi():
    survive_links("multi")


def test_perf():
    survive_events("perf")


def test_ioctl():
    survive_events("ioctl")


def test_all_session():
    survive_all("session")


def test_all_multi():
    survive_all("multi")


lab.run_tests()

