#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `tracer memory PID INTERVAL` finds out about blocks from look to look: born, gone, unchanged, written, retained. The truth is the
count of a program that leaks and replaces on command (tests/targets/kept.c)."""
import json
import signal

import lab

ENTRY = 88  # bytes of the program's entries


def begin(*arguments):
    """The program, and the reports of a tracer that looks at it until it is ended."""
    process = lab.start([lab.target("kept")], text=True)
    process.stdout.readline()
    tracer = lab.start([lab.TRACER, "memory", "-q", "-j", "-n", "0", "-p", process.pid, "300ms", "100", *arguments],
                       text=True, stdin=None)
    return process, tracer


def step(process):
    process.stdin.write("go\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def handlers_of(report):
    """The program's handlers, whoever holds them: they begin with a pointer to its only function of that kind."""
    rows = [row for row in report["kinds"] if row["kind"] == "function pointer" and " in kept+" in row["name"]]
    return {key: None if rows[0][key] is None else sum(row[key] for row in rows)
            for key in ("blocks", "born", "gone", "written", "unchanged", "retained", "growth_blocks")}


def entries_of(report):
    return [row for row in report["kinds"] if row["kind"] == "data" and row["size"] == ENTRY]


def reports_until(tracer, condition):
    """The reports of looks until `condition` holds for all that have been read."""
    reports = []
    while not reports or not condition(reports):
        line = tracer.stdout.readline()
        assert line, tracer.stderr.read()
        reports.append(json.loads(line))
    return reports


def add_up(reports, key):
    return sum(handlers_of(report)[key] for report in reports)


def test_leak_beside_a_cache():
    process, tracer = begin()
    first = json.loads(tracer.stdout.readline())
    row = handlers_of(first)
    assert row["blocks"] == 2000 and row["born"] is None and row["growth_blocks"] is None, row
    steps = [step(process), step(process)]
    reports = reports_until(tracer, lambda reports: add_up(reports, "born") >= 1000)
    assert add_up(reports, "born") == 1000 and add_up(reports, "gone") == 0, reports
    assert add_up(reports, "written") == 0 and add_up(reports, "growth_blocks") == 1000, reports
    assert reports[0]["kinds"][0]["growth_bytes"] > 0, reports[0]["kinds"][0]
    # The cache: what it has replaced is gone, or written to, and its size stays.
    changed = sum(row["born"] + row["written"] for report in reports for row in entries_of(report))
    assert changed >= steps[1]["replaced"] / 2, (changed, steps)
    assert sum(row["growth_blocks"] for report in reports for row in entries_of(report)) == 0, reports
    later = reports_until(tracer, lambda reports: handlers_of(reports[-1])["retained"] == 1000)
    row = handlers_of(later[-1])
    assert row["blocks"] == steps[1]["handlers"] == row["unchanged"] and row["born"] == 0, row


def test_alarm():
    """The clock of a look that takes more than a second does not end the tracer, quiet as it may be."""
    _, tracer = begin()
    tracer.stdout.readline()
    tracer.send_signal(signal.SIGALRM)
    for _ in range(3):
        assert json.loads(tracer.stdout.readline())["kinds"]


def test_text():
    """Under the row of a kind is what became of its blocks. The program's variable holds the last one, which is a row of its own."""
    process = lab.start([lab.target("kept")], text=True)
    process.stdout.readline()
    tracer = lab.start([lab.TRACER, "memory", "-q", "-p", process.pid, "300ms", "100"], text=True, stdin=None)
    lines = iter(tracer.stdout.readline, "")
    assert any("KIND OF LIVE BLOCKS" in line for line in lines), tracer.stderr.read()
    step(process)
    row = next((line for line in lines if line.strip().startswith("499 born, ")), None)
    assert row and "2,000 unchanged" in row, row


if __name__ == "__main__":
    lab.run_tests()
