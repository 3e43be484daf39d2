#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON by schema 2: a reader of its own makes the same of it as schema 1 has, of a process that does nothing meanwhile."""
import json
import os
import sys

import lab

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "render"))
import schema2  # pylint: disable=wrong-import-position

# Both are of one process, by two tracers, or at two times: what they count of themselves, and when, is not compared.
OWN = ("time", "duration_s", "price", "loss", "targets", "verdict", "peak")


def rows(report):
    """By what they are of, without what is of the moment or of the run."""
    found = {}
    for site in report["sites"]:
        site = {key: value for key, value in site.items() if key not in ("rank", "id", "oldest_s", "mean_age_s", "peak_bytes", "alloc_bytes_per_s")}
        # Each tracer has times of its own: how many lives it has seen is compared, not how long they were.
        if site.get("lifespan"):
            site["lifespan"] = site["lifespan"]["objects"], site["lifespan"]["untimed_objects"]
        # So has a verdict: it is of what each has seen, and when.
        site["verdict"] = sorted(site["verdict"])
        key = json.dumps(site["frames"]), site["source"], site["function"]
        assert key not in found, key
        found[key] = site
    return found


def compare(left, right):
    for key in left.keys() | right.keys():
        assert left.get(key) == right.get(key), (left.get(key), right.get(key))


def test_equal():
    """Three tracers of one process: what it allocates is in all. Their only report is the last."""
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracers = [lab.Tracer("-q", "-j", "-n", "0", "--schema", schema, "-p", str(process.pid), *more, "3600")
               for schema, more in (("1", ()), ("2", ("--empty",)), ("2", ()))]
    account = lab.work(process)
    texts = [tracer.stop().splitlines()[-1] for tracer in tracers]
    process.stdin.close()
    first, second, held = [json.loads(text) for text in texts]
    assert [report["schema"] for report in (first, second, held)] == [1, 2, 2]
    second, held = schema2.expand(second), schema2.expand(held)
    for report in (first, second):
        lab.check_account(account, report)
    assert list(first) == list(second), (list(first), list(second))
    assert {key: first[key] for key in first if key not in (*OWN, "sites")} == \
        {key: second[key] for key in second if key not in (*OWN, "sites")}
    assert sorted(first["verdict"]) == sorted(second["verdict"])
    compare(rows(first), rows(second))
    # What holds nothing is left out unless it is asked for.
    assert any(not site["inuse_objects"] for site in first["sites"]), first["sites"]
    compare(rows(held), {key: site for key, site in rows(first).items() if site["inuse_bytes"] or site["inuse_objects"]})
    assert len(texts[1]) < len(texts[0]) and len(texts[2]) < len(texts[1]), [len(text) for text in texts]


def test_ids_stay():
    """Over reports of a process that goes on to allocate, at places that rank differently each time."""
    process = lab.start([lab.target("leaky")])
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", str(process.pid))
    tracer.wait_for_calls()
    seen = {}
    for _ in range(3):
        report = tracer.report_now()
        ids = [site["id"] for site in report["sites"]]
        assert len(ids) == len(set(ids)), ids
        for site in report["sites"]:
            key = json.dumps(site["frames"]), site["function"], site["source"]
            assert seen.setdefault(key, site["id"]) == site["id"], (key, seen)
    assert seen
    tracer.stop()


def test_wrong_options():
    for options, words in ((["--schema", "2"], "-j"), (["--schema", "3", "-j"], "--schema"), (["-j", "--empty"], "--schema 2"),
                           (["-j", "--schema", "2", "--empty"], "-n 0"), (["-j", "--schema", "2", "--empty", "-n", "5"], "-n 0")):
        status, _, errors = lab.run(*options, "-p", "1")
        assert status == 2 and words in errors, (options, status, errors)


lab.run_tests()
