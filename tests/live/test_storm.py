#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""64 threads, five million random calls, frees by other threads, everything freed at the end.

The truth: the program counts its calls, and everything is freed.
"""
import lab

SITES = ("site_storm_malloc", "site_storm_realloc")


def check(report, account):
    lab.check_sums(report)
    lab.check_losses(report)
    assert report["loss"]["free_untracked"] == 0, report["loss"]
    found = lab.sums(report, SITES)
    for site in report["sites"]:
        if lab.function_of(site) in SITES:
            assert site["inuse_bytes"] == site["inuse_objects"] == 0, site
    allocated, resized = map(int, account.split())
    assert found["site_storm_malloc"][1] == allocated, (found, allocated)
    assert found["site_storm_realloc"][1] == resized, (found, resized)


def storm(*options, calls=2000000):
    _, output, errors = lab.run("-q", "-j", "-n", "0", *options, "--", lab.target("storm"), "64", int(calls * lab.SCALE))
    account = [line for line in errors.splitlines() if not line.startswith("tracer")][0]
    check(lab.last_object(output.replace("{}\n", "")), account)


def test_64_threads():
    storm(calls=5000000)


def test_64_threads_at_the_entries():
    storm("--probe-at-entry")


def test_64_threads_by_multi_probes():
    storm("--backend", "multi")


def test_64_threads_by_perf_probes():
    storm("--backend", "perf")


lab.run_tests()
