#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same deterministic program under heaptrack: leaked bytes and calls per caller are equal.

Not compared is realloc(p, 0): heaptrack does not take it for the free that it is in glibc.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import lab


def heaptrack_costs(record):
    """What a record of heaptrack's says of the program's own sites."""
    printer = lab.need("heaptrack_print")
    stacks = record + ".stacks"
    costs = {}
    for key, cost in (("leaked", "leaked"), ("calls", "allocations")):
        # Stacks for flame graphs: "outermost;...;site NUMBER".
        subprocess.run([printer, record, "-F", stacks, "--flamegraph-cost-type", cost, "-p", "0", "-a", "0"],
                       check=True, capture_output=True, timeout=lab.PATIENCE)
        with open(stacks, encoding="utf-8") as file:
            for line in file:
                match = re.search(r";(site_\w+) [^;]*; (\d+)$", line.strip())
                if match:
                    entry = costs.setdefault(match.group(1), {"leaked": 0, "calls": 0})
                    entry[key] += int(match.group(2))
    return costs


def heaptrack_leaks(command):
    """{function: (leaked bytes, allocation calls)} for the program's own sites, as heaptrack has them."""
    heaptrack = lab.need("heaptrack")
    with tempfile.TemporaryDirectory(prefix="tracer-heaptrack-") as folder:
        subprocess.run([heaptrack, "-o", folder + "/trace"] + command, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=lab.PATIENCE)
        record = glob.glob(folder + "/trace*")[0]
        return heaptrack_costs(record)


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


def injected(command, folder, attach):
    """The costs as heaptrack's library has them, and the tracer's report if it is attached meanwhile."""
    libraries = glob.glob("/usr/lib/heaptrack/libheaptrack_preload.so") + glob.glob("/usr/lib/*/heaptrack/libheaptrack_preload.so")
    interpreters = glob.glob("/usr/lib/heaptrack/libexec/heaptrack_interpret") + glob.glob("/usr/lib/*/heaptrack/libexec/heaptrack_interpret")
    if not libraries or not interpreters:
        raise lab.Skip("heaptrack's library is not installed")
    raw = "%s/raw-%s" % (folder, attach)
    # Another tracer's return probes in the C library are in each process that is probed there: this one has a copy.
    libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libc.so" in line)
    shutil.copy(libc, folder + "/libc.so.6")
    environment = dict(os.environ, LD_PRELOAD=libraries[0], DUMP_HEAPTRACK_OUTPUT=raw, LD_LIBRARY_PATH=folder)
    process = lab.start([*command, "wait"], env=environment)
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid) if attach else None
    process.communicate(b"go\n", timeout=lab.PATIENCE)
    assert process.returncode == 0
    with open(raw, "rb") as file, open(raw + ".txt", "wb") as out:
        subprocess.run(interpreters[0], stdin=file, stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=lab.PATIENCE)
    return heaptrack_costs(raw + ".txt"), tracer and lab.last_object(tracer.finish())


def test_both_at_once():
    """heaptrack walks the stack in each call: what is probed must not be seen there."""
    command = [lab.target("known"), "calls"]
    with tempfile.TemporaryDirectory(prefix="tracer-heaptrack-") as folder:
        alone, _ = injected(command, folder, False)
        together, report = injected(command, folder, True)
    assert alone, "heaptrack has found nothing"
    assert together == alone, "with tracer %s, without %s" % (together, alone)
    counted = lab.sums(report, set(alone))
    # Where heaptrack has no function of its own, its callers are the C library's.
    for name, figures in counted.items():
        assert figures[1] == alone[name]["calls"], (name, figures, alone[name])
    assert "site_malloc" in counted, counted


def test_calls():
    check([lab.target("known"), "calls"])


def test_realloc():
    check([lab.target("known"), "realloc"])


def test_nested():
    check([lab.target("known"), "nested"])


def test_cross():
    check([lab.target("known"), "cross"])


lab.run_tests()
