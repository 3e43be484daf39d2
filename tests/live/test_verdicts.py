#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of a live program of known truth (tests/targets/verdicts.c). A word is waited for, in report after report, as long as that takes;
what must never be called a leak is not, in any of them."""
import json
import time

import lab

WORDS = {"leak", "growing", "filling", "cache", "warm-up", "steady", "temporary", "unknown"}
CACHE = 500


def begin():
    process = lab.start([lab.target("verdicts"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    return process


def sites_of(report):
    return {lab.function_of(site): site for site in report["sites"]}


def check_verdict(verdict, leaks):
    assert verdict["word"] in WORDS and type(verdict["text"]) is str, verdict
    growth = verdict["growth_bytes_per_s"]
    limits = [growth[key] for key in ("low", "mid", "high") if growth[key] is not None]
    assert limits == sorted(limits), verdict
    assert verdict["r2"] is None or 0 <= verdict["r2"] <= 1, verdict
    assert (verdict["word"] == "leak") == leaks, verdict


def check_share(site):
    """Of the site that leaks: one of a hundred blocks, as the site's own figures have it."""
    never = site["verdict"]["never_freed"]
    # 20 others are in use beside the leaked ones, of which not more than a few are too young to count.
    share = (site["inuse_objects"] - 20) / site["alloc_objects"]
    assert 0 <= never["low"] <= never["mid"] <= never["high"] <= 1, site["verdict"]
    assert never["low"] <= max(share, 0) * 1.5 and never["high"] >= share / 1.5, (site["verdict"], share)


def is_known(sites):
    words = {name: sites[name]["verdict"]["word"] for name in sites if name.startswith("site_")}
    return len(words) == 4 and words["site_leak"] == "leak" and words["site_cache"] == "cache" and \
        words["site_buffer"] in ("warm-up", "steady") and words["site_temporary"] == "temporary"


def test_words():
    process = begin()
    tracer = lab.Tracer("-j", "-n", "0", "-s", "leak", "--fail-on-leak", "-d", "1h", "-p", process.pid)
    lab.release(process)
    found, end = [], time.monotonic() + lab.PATIENCE

    def known():
        report = tracer.report_now()
        sites = sites_of(report)
        for name, site in sites.items():
            # The cache, be it full or not, the buffers and the temporary blocks are never called a leak.
            check_verdict(site["verdict"], name == "site_leak" and site["verdict"]["word"] == "leak")
        leak = sites.get("site_leak")
        if leak and leak["verdict"]["word"] == "leak":
            check_share(leak)
        check_verdict(report["verdict"], any(site["verdict"]["word"] == "leak" for site in sites.values()))
        if is_known(sites):
            found.append(sites)
        return bool(found)

    while not known():
        assert time.monotonic() < end, {name: site["verdict"] for name, site in sites_of(tracer.report_now()).items()}
        time.sleep(0.2)
    # One is replaced at this moment, maybe.
    assert CACHE - 1 <= found[0]["site_cache"]["inuse_objects"] <= CACHE and found[0]["site_cache"]["free_objects"], found
    last = json.loads(tracer.stop())
    leaks = [site["verdict"]["word"] == "leak" for site in last["sites"]]
    assert tracer.process.returncode == any(leaks) and leaks == sorted(leaks, reverse=True), (tracer.process.returncode, last["sites"])


def rows_of(text):
    """The rows of the table, which is not there as long as nothing is in use."""
    lines = text.splitlines()
    table = next((i for i, line in enumerate(lines) if line.startswith("#  ")), len(lines))
    return [line.split() for line in lines[table + 1:] if line[:1].isdigit()]


def test_order():
    """Text begins with what leaks as soon as that is known, however little it holds; JSON stays ordered by what is in use."""
    process = begin()
    tracer = lab.Tracer("-n", "0", "-d", "1h", "-p", process.pid)
    lab.release(process)
    end = time.monotonic() + lab.PATIENCE
    while True:
        rows = rows_of(tracer.text_now())
        leaks = ["LEAK" in row for row in rows]
        assert leaks == sorted(leaks, reverse=True), rows
        if any(leaks):
            break
        assert time.monotonic() < end, rows
        time.sleep(0.2)
    tracer.stop()
    report = lab.Tracer("-j", "-n", "0", "-d", "6s", "-p", process.pid)
    sizes = [site["inuse_bytes"] for site in json.loads(report.finish())["sites"]]
    assert sizes == sorted(sizes, reverse=True), sizes


def test_nothing_known():
    """No verdict is given before there are 16 moments, so that a short look fails for no leak, and is no success either."""
    process = begin()
    tracer = lab.Tracer("-j", "--fail-on-leak", "-p", process.pid, "-d", "100ms")
    lab.release(process)
    report = json.loads(tracer.finish())
    seen = report["totals"]["alloc_objects"] > 0
    assert tracer.process.returncode == (3 if seen else 0) and ("not judged" in tracer.stderr()) == seen, (report["totals"], tracer.stderr())


lab.run_tests()
