#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks` and what only a thread's own storage holds: that of a library which was opened late, and values of keys. Truth: the program's own
list (tests/targets/leak_threads.c), where each block has a size of its own; all but the last one are held."""
import json

import lab


def check(name):
    process = lab.start([lab.target(name)], text=True)
    cases = json.loads(process.stdout.readline())
    lab.wait_for(lambda: lab.is_reading(process), "it waits")
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", process.pid)
    assert status == 1, (status, errors)
    report = json.loads(output)
    assert report["lost"]["definite"] == {"blocks": 1, "bytes": cases[-1]["size"]}, report["groups"]
    assert len(cases) == 9 and report["lost"]["indirect"]["blocks"] == report["lost"]["possible"]["blocks"] == 0, report["groups"]
    assert report["roots"]["tls"]["bytes"] + report["roots"]["static"]["bytes"] >= sum(case["size"] for case in cases[:-1]), report["roots"]


def test_glibc():
    check("leak_threads")


def test_musl():
    check(*lab.built("leak_threads-musl"))


lab.run_tests()
