#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `tracer memory PID INTERVAL` finds out about blocks from look to look: born, gone, unchanged, written, retained. The truth is the
count of a program that leaks and replaces on command (tests/targets/kept.c)."""
import json
import signal

import lab

ENTRY = 88  # bytes of the program's entries


def begin(*arguments):
    """The program, and looks at it."""
    process = lab.start([lab.target("kept")], text=True)
    process.stdout.readline()
    return process, lab.Looks("-n", "0", "-p", process.pid, "100ms", "100", *arguments)


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


def test_leak_beside_a_cache():
    process, looks = begin()
    looks.wait()
    steps = [step(process), step(process)]
    row = handlers_of(looks.read())
    assert row["blocks"] == 2000 and row["born"] is None and row["growth_blocks"] is None, row
    report = looks.read()
    row = handlers_of(report)
    assert [row[key] for key in ("born", "gone", "written", "growth_blocks")] == [1000, 0, 0, 1000], row
    assert report["kinds"][0]["growth_bytes"] > 0, report["kinds"][0]
    # The cache: what it has replaced is gone, or written to, and its size stays.
    changed = sum(row["born"] + row["written"] for row in entries_of(report))
    assert changed >= steps[1]["replaced"] / 2, (changed, steps)
    assert sum(row["growth_blocks"] for row in entries_of(report)) == 0, report
    row = handlers_of(looks.read())
    assert row["blocks"] == steps[1]["handlers"] == row["unchanged"] and row["born"] == 0 and row["retained"] == 1000, row


def test_alarm():
    """The clock of a look that takes more than a second does not end the tracer, quiet as it may be."""
    _, looks = begin()
    looks.read()
    looks.process.send_signal(signal.SIGALRM)
    for _ in range(3):
        assert looks.read()["kinds"]


def test_text():
    """Under the row of a kind is what became of its blocks. The program's variable holds the last one, which is a row of its own."""
    process = lab.start([lab.target("kept")], text=True)
    process.stdout.readline()
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-q", "-p", process.pid, "1h"], text=True)
    lines = iter(tracer.stdout.readline, "")
    assert any("KIND OF LIVE BLOCKS" in line for line in lines), tracer.stderr.read()
    step(process)
    tracer.send_signal(signal.SIGINT)
    row = next((line for line in lines if " born, " in line), "")
    assert row.strip().startswith("499 born, ") and "2,000 unchanged" in row, row


if __name__ == "__main__":
    lab.run_tests()
