#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as text on terminals of several sizes: read as a person would, by titles and gaps, and compared with what a
script has allocated and freed at which of its lines.

The truth is the script's: it keeps buffers of given sizes, and this file has the same table of them.
"""
import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios

import lab

# What is kept, and freed, at a mark: (blocks, bytes of each) by turn. A buffer has one byte more than it was asked for.
SCRIPT = """import sys
kept = []
def grows(count):
    for _ in range(count):
        kept.append(bytearray(1999999))  # grows
def shrinks(count):
    rows = []
    for _ in range(count):
        rows.append(bytearray(1949999))  # shrinks
    return rows
def late(count):
    kept.extend([bytearray(1989999) for _ in range(count)])  # late
print("ready", flush=True)
sys.stdin.readline()
grows(5)
rows = shrinks(4)
print("one", flush=True)
sys.stdin.readline()
grows(3)
rows.pop()
late(1)
print("two", flush=True)
sys.stdin.readline()
"""
SIZES = {"grows": 2000000, "shrinks": 1950000, "late": 1990000}
# Blocks in use, and freed, after each turn.
FIRST = {"grows": (5, 0), "shrinks": (4, 0)}
SECOND = {"grows": (8, 0), "shrinks": (3, 1), "late": (1, 0)}
TITLES = ["#", "IN USE", "GROWTH", "BLOCKS", "FREED", "OLDEST", "GCS", "WHERE", "VIA"]


def size_of(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            break
        count /= 1024
    return ("%d %s" if unit == "B" else "%.1f %s") % (count, unit)


def line_of(mark):
    return [line.endswith("# " + mark) for line in SCRIPT.splitlines()].index(True) + 1


class Screen:
    """A tracer whose reports go to a terminal of a size, or into a pipe."""

    def __init__(self, pid, columns, lines):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        self.tracer = lab.Tracer("-z", "1900000", "-Z", "2100000", "-p", pid, "3600", stdout=slave,
                                 env={**environment, "TERM": "xterm"})
        os.close(slave)

    def report(self, number):
        """The next report, with its colors."""
        self.tracer.process.send_signal(number)
        text = b""
        while b"Leak approximation summary" not in text or not text.endswith(b"\n"):
            text += os.read(self.master, 65536)
        return text.decode().replace("\r\n", "\n").strip("\n")


def plain(text):
    return re.sub(r"\033\[[0-9;]*m", "", text)


def table_of(text):
    """The rows by titles; and the last one, which has no line."""
    lines = plain(text).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("#"))
    titles = re.split(r" {2,}", lines[first].strip())
    rows = [re.split(r" {2,}", line.strip()) for line in lines[first + 1:lines.index("", first)]]
    assert all(len(row) == len(titles) for row in rows[:-1]), rows
    return titles, [dict(zip(titles, row)) for row in rows[:-1]], rows[-1]


def check_table(text, name, truth, before, columns):
    titles, rows, total = table_of(text)
    assert columns < 80 or titles == TITLES, titles
    assert [title for title in TITLES if title in titles] == titles and {"IN USE", "WHERE"} <= set(titles), titles
    order = sorted(truth, key=lambda mark: -truth[mark][0] * SIZES[mark])
    assert len(rows) == len(order), rows
    for rank, (mark, row) in enumerate(zip(order, rows), 1):
        held, freed = truth[mark]
        place = row["WHERE"].split()[0]
        assert row["#"] == str(rank) and row["IN USE"] == size_of(held * SIZES[mark]), (mark, row)
        assert place.endswith(":%d" % line_of(mark)) and name.endswith(re.sub(r"^\.\.\.|:\d+$", "", place).split("/")[-1]), (mark, row)
        assert row.get("BLOCKS", str(held)) == str(held), (mark, row)
        assert row.get("FREED", "") in ("", "%d%%" % (100 * freed // (held + freed))), (mark, row)
        growth = (held - before[mark][0]) * SIZES[mark] if before and mark in before else None
        # A first report may leave the column out: nothing has grown yet.
        assert before or row.get("GROWTH", "-") == "-", (mark, row)
        assert not before or row["GROWTH"] == ("new" if growth is None else
                                               ("+" if growth > 0 else "-") + size_of(abs(growth))), (mark, row)
    assert size_of(sum(truth[mark][0] * SIZES[mark] for mark in truth)) in total and total[-1] == "total", total


def check_stacks(text, truth, color):
    """The frame by which a row is named is marked in its stack."""
    marked = [line for line in text.splitlines() if line.lstrip().startswith("> ")]
    order = sorted(truth, key=lambda mark: -truth[mark][0] * SIZES[mark])
    lines = [int(plain(line).rsplit(":", 1)[1]) for line in marked]
    # Where the screen is short, those that come first.
    assert lines and lines == [line_of(mark) for mark in order][:len(lines)], (lines, text)
    assert all(("\033[1;31m" in line) == color for line in marked), marked


def check(columns, lines):
    with tempfile.NamedTemporaryFile("w", prefix="s-", suffix=".py") as file:
        file.write(SCRIPT)
        file.flush()
        process = lab.start([sys.executable, file.name])
        assert process.stdout.readline() == b"ready\n"
        screen = Screen(process.pid, columns, lines)
        try:
            for truth, before in ((FIRST, None), (SECOND, FIRST)):
                lab.release(process)
                process.stdout.readline()
                text = screen.report(lab.signal.SIGUSR1)
                used = [len(line) for line in plain(text).splitlines()]
                assert max(used) <= columns and len(used) < max(lines, 24), text
                check_table(text, file.name, truth, before, columns)
                check_stacks(text, truth, True)
        finally:
            lab.end(process)
            os.close(screen.master)
            screen.tracer.process.wait(timeout=lab.PATIENCE)


def test_80():
    check(80, 50)


def test_60():
    check(60, 50)


def test_200():
    check(200, 50)


def test_short():
    check(80, 24)


def test_no_terminal():
    """Into a pipe: 80 columns, or those of COLUMNS, and no colors."""
    with tempfile.NamedTemporaryFile("w", prefix="s-", suffix=".py") as file:
        file.write(SCRIPT)
        file.flush()
        process = lab.start([sys.executable, file.name])
        assert process.stdout.readline() == b"ready\n"
        environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
        options = "-z", "1900000", "-Z", "2100000", "-p", process.pid, "3600"
        tracers = {columns: lab.Tracer(*options, env={**environment, **extra})
                   for columns, extra in ((80, {}), (60, {"COLUMNS": "60"}))}
        lab.release(process)
        process.stdout.readline()
        for columns, tracer in tracers.items():
            text = tracer.stop().strip("\n")
            assert max(map(len, text.splitlines())) <= columns and len(text.splitlines()) <= 50, text
            check_table(text, file.name, FIRST, None, columns)
            check_stacks(text, FIRST, False)
        lab.end(process)


lab.run_tests()
