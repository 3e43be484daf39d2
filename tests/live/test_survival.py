#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Programs whose calls are pending on one stack while others begin on another one survive, however often they run.

A shell under the tracer runs each of them SURVIVAL_RUNS times, each time a new process, and counts statuses that are not 0. Each
process goes through its scenario SURVIVAL_ROUNDS times (yields: a thousand times always). To probe a process with single events,
and to take the probes out again, takes the kernel seconds: for perf and ioctl there is SURVIVAL_RUNS_OF_EVENTS. The truth is the
programs' status: what returns to nowhere ends by SIGILL.
"""
import os
import re
import shutil
import tempfile

import lab

RUNS = int(os.environ.get("SURVIVAL_RUNS", "10"))
RUNS_OF_EVENTS = int(os.environ.get("SURVIVAL_RUNS_OF_EVENTS", "1"))
ROUNDS = os.environ.get("SURVIVAL_ROUNDS", "5")
PATIENCE = 3600  # a process that hangs ends the test; emulated, under a busy machine, a run may take minutes

# Handlers on higher stacks over malloc, some of which jump out; fibers that change between calls and within them.
PROGRAMS = ("interrupted-static above", "interrupted-static touching", "interrupted-static leave", "interrupted leave",
            "fibers-static packed", "fibers apart", "yields fibers", "yields handler")
NAMED = ("--alloc", "fibers-static:fiber_get:size=arg1,ret", "--free", "fibers-static:fiber_put",
         "--alloc", "yields:pool_get:size=arg1,ret")

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


def survive(backend, runs):
    """Each program of the list, as often as that, under one tracer."""
    lab.need_backend(backend)
    with tempfile.TemporaryDirectory(prefix="tracer-survival-") as folder:
        # Another tracer's return probes in the C library could be the end of them: this is a copy.
        libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so" in line)
        shutil.copy(libc, folder + "/libc.so.6")
        for name, text in (("loop", LOOP), ("programs", "".join(line + "\n" for line in PROGRAMS))):
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
        counts = {program: [one for one, _, _ in said].count(program) for program, _, _ in said}
        assert set(counts.values()) == {runs} and len(counts) >= 4, counts
        with open(folder + "/report", encoding="utf-8") as file:
            loss = lab.last_object(file.read())["loss"]
        # While the kernel takes probes out, children may be let go.
        assert loss["children_missed"] * 2 < len(said), loss
        assert re.search(r"may switch stacks \((sigaltstack|makecontext|swapcontext)\)", errors.decode()), errors
        print("%s: %d programs %d times each, %d of %d not followed" % (backend, len(counts), runs, loss["children_missed"], len(said)))


def test_session():
    survive("session", RUNS)


def test_multi():
    survive("multi", RUNS)


def test_perf():
    survive("perf", RUNS_OF_EVENTS)


def test_ioctl():
    survive("ioctl", RUNS_OF_EVENTS)


lab.run_tests()
