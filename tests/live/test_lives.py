#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lifespans and temporary allocations are those that the program has counted itself, and heaptrack.

tests/targets/lives.c knows between which times each block was born and died, so what it says of a class is true on any machine.
"""
import glob
import re
import subprocess
import tempfile

import lab

UNIT_S = 65536e-9


def rows_of(report, function):
    return [site for site in report["sites"] if lab.function_of(site) == function]


def row_of(report, function):
    rows = rows_of(report, function)
    assert len(rows) == 1, (function, rows)
    return rows[0]


def temporary_of(report, function):
    """Some are called from several places."""
    rows = rows_of(report, function)
    assert rows, function
    return sum(row["temporary_objects"] for row in rows)


def classes_of(histogram):
    """{number of the class: blocks}"""
    return {round(end / UNIT_S).bit_length() - 1: count for end, count in histogram}


def test_lifespans():
    account, report = lab.attached_report([lab.target("lives"), "spans"])
    site = row_of(report, "site_lives")
    life = site["lifespan"]
    assert life["objects"] == site["free_objects"] == account["objects"] and life["untimed_objects"] == 0, (life, account)
    found = classes_of(life["histogram"])
    for number, (certain, possible) in enumerate(zip(account["certain"], account["possible"])):
        assert certain <= found.get(number, 0) <= certain + possible, (number, life, account)
    units = life["mean_s"] * life["objects"] / UNIT_S
    assert account["least_units"] - 1 <= units <= account["most_units"] + 1, (units, account)
    assert account["longest_least"] <= round(life["max_s"] / UNIT_S) <= account["longest_most"], (life, account)
    # Nothing else was called between: each was freed by the next call.
    assert site["temporary_objects"] == account["objects"], site


def test_blocks_in_use():
    account, report = lab.attached_report([lab.target("lives"), "spans"])
    site = row_of(report, "site_stays")
    life = site["lifespan"]
    assert life["objects"] == 0 and life["mean_s"] is life["max_s"] is None and life["histogram"] == [], site
    assert sum(count for _, count in life["ages"]) == site["inuse_objects"] == account["kept"], site
    # None has died: the curve does not fall.
    assert life["tail"]["value"] == 1 and {point["value"] for point in life["survival"]} == {1}, life


def test_verbose():
    process = lab.start([lab.target("lives"), "spans", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-v", "-n", "0", "-s", "alloc", "-p", process.pid)
    lab.work(process)
    text = re.sub(r"\s+", " ", tracer.stop())
    process.stdin.close()
    assert re.search(r"lives: 50 % up to [\d.]+ (us|ms|s), 90 % up to [\d.]+ (us|ms|s); of those freed [\d.]+ ms on average", text), text
    assert "; 100 % temporary" in text, text


def check_temporary(scenario):
    account, report = lab.attached_report([lab.target("lives"), scenario], "-s", "temporary")
    found = {name: temporary_of(report, name) for name in account}
    assert found == account, (found, account)
    order = [site.get("temporary_objects") or 0 for site in report["sites"]]
    assert order == sorted(order, reverse=True), order


def test_temporary():
    check_temporary("temporary")


def test_freed_by_another_thread():
    check_temporary("threads")


def test_realloc_goes_on():
    """A block that realloc moves has its lifespan where it ends."""
    _, report = lab.attached_report([lab.target("lives"), "temporary"])
    before, after = row_of(report, "site_moved"), row_of(report, "site_larger")
    assert before["lifespan"]["objects"] == 0 and before["lifespan"]["untimed_objects"] == before["free_objects"] > 0, before
    assert after["lifespan"]["objects"] == after["free_objects"] == before["free_objects"], after


def test_heaptrack():
    """It takes a free of any block with the stack and size of the last one for that one's: here there is none."""
    heaptrack, printer = lab.need("heaptrack"), lab.need("heaptrack_print")
    command = [lab.target("lives"), "temporary"]
    with tempfile.TemporaryDirectory(prefix="tracer-lives-") as folder:
        subprocess.run([heaptrack, "-o", folder + "/trace", *command], check=True, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=lab.PATIENCE)
        record, stacks = glob.glob(folder + "/trace*")[0], folder + "/stacks"
        subprocess.run([printer, record, "-F", stacks, "--flamegraph-cost-type", "temporary", "-p", "0", "-a", "0"],
                       check=True, capture_output=True, timeout=lab.PATIENCE)
        with open(stacks, encoding="utf-8") as file:
            lines = [re.search(r";(site_\w+) [^;]*; (\d+)$", line.strip()) for line in file]
    counted = {match.group(1): int(match.group(2)) for match in lines if match}
    assert counted, "heaptrack has found nothing"
    account, report = lab.command_report(command)
    for name in account:
        assert temporary_of(report, name) == counted.get(name, 0), (name, counted, report["sites"])


lab.run_tests()
