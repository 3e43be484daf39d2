#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same deterministic program under heaptrack: leaked bytes and calls per caller are equal.

Not compared is realloc(p, 0): heaptrack does not take it for the free that it is in glibc.
"""
import glob
import re
import subprocess
import tempfile

import lab


def heaptrack_leaks(command):
    """{function: (leaked bytes, allocation calls)} for the program's own sites, as heaptrack has them."""
    heaptrack = lab.need("heaptrack")
    printer = lab.need("heaptrack_print")
    with tempfile.TemporaryDirectory(prefix="tracer-heaptrack-") as folder:
        subprocess.run([heaptrack, "-o", folder + "/trace"] + command, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=lab.PATIENCE)
        record = glob.glob(folder + "/trace*")[0]
        costs = {}
        for key, cost in (("leaked", "leaked"), ("calls", "allocations")):
            # Stacks for flame graphs: "outermost;...;site NUMBER".
            stacks = folder + "/stacks"
            subprocess.run([printer, record, "-F", stacks, "--flamegraph-cost-type", cost, "-p", "0", "-a", "0"],
                           check=True, capture_output=True, timeout=lab.PATIENCE)
            with open(stacks, encoding="utf-8") as file:
                for line in file:
                    match = re.search(r";(site_\w+) [^;]*; (\d+)$", line.strip())
                    if match:
                        entry = costs.setdefault(match.group(1), {"leaked": 0, "calls": 0})
                        entry[key] += int(match.group(2))
        return costs


def check(command):
    truth = heaptrack_leaks(command)
    assert truth, "heaptrack has found nothing"
    _, report = lab.command_report(command)
    found = {}
    for site in report["sites"]:
        name = lab.function_of(site)
        if name in truth:
            entry = found.setdefault(name, {"leaked": 0, "calls": 0})
            entry["leaked"] += site["inuse_bytes"]
            entry["calls"] += site["alloc_objects"]
    assert found == truth, "tracer %s, heaptrack %s" % (found, truth)


def test_its_library_is_no_allocator():
    lab.need("heaptrack")
    library = next(iter(glob.glob("/usr/lib/heaptrack/libheaptrack_preload.so")
                        + glob.glob("/usr/lib/*/heaptrack/libheaptrack_preload.so")), None)
    if not library:
        raise lab.Skip("heaptrack's library is not where it is looked for")
    process = lab.start([lab.target("known"), "calls", "wait"],
                        env={**lab.os.environ, "LD_PRELOAD": library, "DUMP_HEAPTRACK_OUTPUT": "/dev/null"})
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    status, plan, errors = lab.run("plan", "-p", process.pid)
    assert not status, errors
    assert "libheaptrack_preload.so" in plan and "(heaptrack)" in plan and "mimalloc" not in plan, plan


def test_calls():
    check([lab.target("known"), "calls"])


def test_realloc():
    check([lab.target("known"), "realloc"])


def test_nested():
    check([lab.target("known"), "nested"])


def test_cross():
    check([lab.target("known"), "cross"])


lab.run_tests()
