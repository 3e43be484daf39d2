#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Very many libraries, threads, mappings and processes: what they cost is bounded, and the process beside is exact."""
import json
import re
import subprocess
import sys

import attacks
import lab

MIB = 1 << 20
LARGE = lab.SCALE > 1  # the sizes that are too slow for each run

# Children without end, by fork, by vfork and exec; it waits for each.
FORKS = "echo ready; while :; do (:); done"
EXECS = "echo ready; while :; do /bin/true; done"


def libc():
    listed = subprocess.run(["ldd", lab.target("rogue")], capture_output=True, text=True, check=True).stdout
    return re.search(r"(/\S+/libc\.so\S*) \(0x", listed).group(1)


def test_many_threads():
    count = 20000 if LARGE else 3000
    process = attacks.rogue("threads", count)
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    held = attacks.Held(tracer)
    lab.release(process)
    assert process.stdout.readline() == b"ready\n"

    def counted():
        tracer.process.send_signal(lab.signal.SIGUSR1)
        report = json.loads(tracer.process.stdout.readline())
        return lab.sums(report, {"site_thread"}).get("site_thread", [0, 0])[1] == count
    lab.wait_for(counted, "all threads have allocated")
    peak, _ = held.end()
    report = json.loads(tracer.stop().splitlines()[-1])
    lab.check_losses(report)
    assert lab.sums(report, {"site_thread"}) == {"site_thread": [16 * count, count, 0, 0]}, report["sites"]
    print("# tracer %d MiB, maps %d MiB" % (peak >> 20, held.maps >> 20), flush=True)
    assert peak < 200 * MIB


def test_many_mappings_of_a_library():
    """Each probe is in all of them, in a process that is not traced, and in one that is."""
    process = attacks.rogue("libc", 60000 if LARGE else 10000, libc())
    attacks.check([], bound=200 * MIB)
    attacks.check([process], bound=200 * MIB)


def test_storms_of_processes():
    """Beside a process, and as its children."""
    storms = [attacks.attacker("sh", "-c", script) for script in (FORKS, EXECS)]
    attacks.check([], bound=120 * MIB)
    for process in storms:
        attacks.check([process], "--follow-fork", bound=200 * MIB)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
