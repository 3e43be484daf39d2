#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ages of blocks, and what realloc does with them.

The truth is the program's: tests/targets/grows.c keeps its own account, by malloc_usable_size where blocks are from before.
"""
import lab

GROWN = 14  # times that its container has grown


def row_of(report, function):
    rows = [site for site in report["sites"] if lab.function_of(site) == function and site["inuse_objects"]]
    assert len(rows) == 1, rows
    return rows[0]


def test_container_keeps_its_birth():
    process = lab.start([lab.target("grows"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid)
    account = lab.work(process)
    report = tracer.report_now()
    lab.check_account(account, report)
    row = row_of(report, "site_container")
    assert row["realloc"]["grown_objects"] == 1 and row["realloc"]["grown_times"] == GROWN, row
    assert row["realloc"]["unknown_objects"] == row["realloc"]["added_objects"] == 0, row
    # The container was made before the others were resized, and 0.2 s passed in between.
    assert row["oldest_s"] >= row_of(report, "site_added")["oldest_s"] + 0.19, report


def test_old_blocks_count_by_what_is_added():
    account, report = lab.attached_report([lab.target("grows")])
    lab.check_account(account, report)
    row = row_of(report, "site_added")
    in_use = account["site_added"][1] - account["site_added"][3]
    assert row["realloc"]["added_objects"] == row["inuse_objects"] == in_use > 5, row
    assert row["realloc"]["unknown_objects"] == 0 < row["realloc"]["grown_objects"], row


def test_text_names_what_grows():
    process = lab.start([lab.target("grows"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-n", "0", "-p", process.pid)
    lab.work(process)
    text = tracer.stop()
    assert "grown by realloc %d times\n" % GROWN in text, text
    assert "not recorded before realloc: what it added counts" in text.replace("\n       ", " "), text


if __name__ == "__main__":
    lab.run_tests()
