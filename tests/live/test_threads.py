#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows by the name of the thread, in a program whose threads count by themselves, under the names that they have then."""
import lab

FIGURES = ("alloc_bytes", "alloc_objects", "free_bytes", "free_objects")


def rows_of(report):
    """By thread: what its row has. There is one row for each name, but for what its mappings are for."""
    rows = {}
    for site in report["sites"]:
        assert [frame["kind"] for frame in site["frames"]] == ["thread"], site
        key = site["frames"][0]["function"], site["region"] or site["source"]
        assert key not in rows, report["sites"]
        rows[key] = [site[key] for key in FIGURES]
    return rows


def check(account, report):
    """All threads have ended by then. Nothing but the program's own calls is in their rows; those of others are in main's."""
    lab.check_sums(report)
    lab.check_losses(report)
    rows = rows_of(report)
    assert {name: rows.get((name, "heap")) for name in account} == account, (account, rows)
    assert ("threads", "heap") in rows, rows
    for i, key in enumerate(FIGURES):
        assert sum(figures[i] for figures in rows.values()) == report["totals"][key], (key, rows, report["totals"])


def test_started():
    check(*lab.command_report([lab.target("threads")], "--by", "thread"))


def test_attached():
    check(*lab.attached_report([lab.target("threads")], "--by", "thread"))


def test_each_way_of_attaching():
    for backend in ("session", "multi", "perf", "ioctl"):
        if lab.has_backend(backend):
            check(*lab.command_report([lab.target("threads")], "--by", "thread", "--backend", backend))


def test_folded():
    status, output, errors = lab.run("-q", "-f", "--by", "thread", "--", lab.target("threads"))
    assert status == 0, errors
    lines = [line for line in output.splitlines() if line.startswith("threads;")]
    assert any(line.startswith("threads;worker;malloc ") for line in lines), output


lab.run_tests()
