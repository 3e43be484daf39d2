#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hundreds of children that come and go: the totals stay right, and nothing grows with their number."""
import json
import os
import re

import lab

FOLLOWED = 150  # children of which the tracer must have followed so many
TABLES = ("sites", "blocks", "stacks", "unwind_processe", "interp_processe")


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def memory(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1))


def tables(pid):
    """How many entries the maps of the tracer's programs have, by name."""
    found = {}
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, name), encoding="utf-8") as file:
                number = re.search(r"^map_id:\s+(\d+)", file.read(), re.M)
        except FileNotFoundError:
            # A link that has just been closed.
            continue
        if not number:
            continue
        name = lab.bpftool("map", "show", "id", number.group(1))["name"]
        if name in TABLES:
            found[name] = len(lab.bpftool("map", "dump", "id", number.group(1)))
    return found


def test_children_come_and_go():
    lab.bpftool("version")
    process = lab.start([lab.target("breeder"), lab.target("plugin.so"), 0, "wait"])
    tracer = lab.Tracer("-v", "-j", "-n", "0", "--follow-fork", "-p", process.pid, "3600")
    lab.release(process)

    def followed():
        return len(re.findall(r"also tracing process", tracer.stderr()))
    lab.wait_for(lambda: followed() >= FOLLOWED / 3, "a third of the children is followed")
    middle = descriptors(tracer.process.pid), memory(tracer.process.pid)
    lab.wait_for(lambda: followed() >= FOLLOWED, "the children are followed")
    account = lab.work(process)
    # Of what is to be taken out there is never much, however slow that is on a busy machine.
    lab.wait_for(lambda: descriptors(tracer.process.pid) <= 250, "their descriptors are closed: %d, %d" % (
        middle[0], descriptors(tracer.process.pid)))
    assert memory(tracer.process.pid) < middle[1] + 16384, (middle, memory(tracer.process.pid))
    # Ends are noticed when they are looked at, and what ended processes held leaves the tables a little later.
    reports = [tracer.report_now()]
    lab.wait_for(lambda: len(reports[-1]["targets"]) == 1 and len(reports[-1]["sites"]) == tables(tracer.process.pid)["sites"] or
                 reports.append(tracer.report_now()), "all children have left")
    report, left = reports[-1], tables(tracer.process.pid)
    last = json.loads(tracer.stop().splitlines()[-1])
    for seen in (report, last):
        # Children that have executed a program before they are probed have late files, or have ended by then.
        lab.check_account(account, seen, ("files_late", "files_missed"))
        assert [target["pid"] for target in seen["targets"]] == [process.pid], seen["targets"]
        assert not lab.sums(seen, {"site_offspring"}), seen["sites"]
    # What is left is the parent's.
    assert left["sites"] == len(report["sites"]), (left, len(report["sites"]))
    assert left["blocks"] <= sum(site["inuse_objects"] for site in report["sites"]), left
    assert left["unwind_processe"] == 1, left


lab.run_tests()
