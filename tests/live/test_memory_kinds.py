#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of blocks in the report of `tracer memory`, of a program that prints how many objects of each class it has made
(tests/targets/classes.cc), built in eight ways."""
import collections
import json
import os
import re
import shutil
import sys

import lab

FUNCTIONS, TEXTS = 330, 1740  # that begin with a pointer to a function; of text


def report_of(program, *options):
    path = lab.target(program)
    if not os.path.exists(path):
        raise lab.Skip("%s could not be built here" % program)
    process = lab.start([path], text=True)
    truth = json.loads(process.stdout.readline())
    status, output, errors = lab.run("memory", *lab.PATIENT, "-q", "-j", "-n", "0", "-p", process.pid, *options)
    assert status == 0, (status, errors)
    report = json.loads(output)
    assert sum(row["blocks"] for row in report["kinds"]) == report["malloc"][0]["live_blocks"], report["malloc"]
    return truth, report


def kinds_of(program):
    truth, report = report_of(program)
    return truth, report["kinds"]


def check(program):
    truth, rows = kinds_of(program)
    found = collections.Counter()
    for row in rows:
        if row["kind"] == "class":
            found[row["name"]] += row["blocks"]
    assert {name: found[name] for name in truth} == truth, (truth, found)
    check_others(rows)


def check_others(rows):
    functions = [row["blocks"] for row in rows if row["kind"] == "function pointer"]
    assert sum(functions) >= FUNCTIONS, rows
    assert 0 <= sum(row["blocks"] for row in rows if row["kind"] == "text") - TEXTS < 40, rows


def held_by(rows, kind, holder):
    """Blocks of a kind by the row of most of them that has such a holder."""
    return max((row["blocks"] for row in rows if row["kind"] == kind and re.fullmatch(holder, row["holder"] or "")),
               default=0)


def test_classes():
    check("classes")


def test_holders():
    """What classes, containers and statics hold: numbers are those of tests/targets/classes.cc."""
    _, rows = kinds_of("classes-stripped")
    assert held_by(rows, "text", r"< Owner \+16") == 200, rows
    assert held_by(rows, "tree node", r"< Owner \+\d+") == 200 * 5, rows
    assert held_by(rows, "tree node", r"< static classes-stripped\+0x[0-9a-f]+") == 1500, rows
    assert 900 in [row["blocks"] for row in rows if row["kind"] == "linked"], rows
    assert held_by([row for row in rows if row["name"] == "Owner"], "class",
                   r"< array < static classes-stripped\+0x[0-9a-f]+") == 200, rows


def test_names():
    """Functions and statics have the names of the program's symbols, in parts as the source has them."""
    _, rows = kinds_of("classes")
    assert [row["blocks"] for row in rows if re.fullmatch(r"on_event\(\) in classes\+0x[0-9a-f]+", row["name"] or "")] == [330], rows
    assert held_by(rows, "tree node", r"< static counted(\+0x[0-9a-f]+)? in classes\+0x[0-9a-f]+") == 1500, rows
    assert held_by([row for row in rows if row["name"] == "Owner"], "class",
                   r"< array < static owners in classes\+0x[0-9a-f]+") == 200, rows


def copies_of(*options):
    _, report = report_of("classes", *options)
    return [row for row in report["copies"] if row["kind"] == "text"], json.dumps(report)


def test_copies():
    """The program has 400 blocks with one text, which is shown only where that is asked for."""
    rows, text = copies_of()
    assert [row["blocks"] for row in rows] == [400] and rows[0]["sample"] is None, rows
    assert "a text" not in text
    rows, text = copies_of("--samples")
    assert rows[0]["blocks"] == 400 and rows[0]["sample"] == "a text that is in each of them", rows


def test_stripped():
    check("classes-stripped")


def test_static_without_symbols():
    check("classes-static")


def test_other_builds():
    """Not optimized, optimized, with another C++ library, and without RTTI, where the symbols of vtables have the names."""
    for program in lab.built("classes-slow", "classes-fast", "classes-libc++", "classes-named"):
        check(program)


def nodes_of(rows, kind, static):
    return held_by(rows, kind, r"< static %s(\+0x[0-9a-f]+)? in classes\+0x[0-9a-f]+" % static)


def check_shared(rows, names, count):
    """Control blocks of shared_ptr are of the library's classes."""
    found = [row["blocks"] for row in rows if row["kind"] == "class" and (row["name"] or "").startswith(names)]
    assert sum(found) == count, (names, found)


def test_containers():
    """Nodes, chunks and texts of containers, by the statics that hold them. Truth: numbers of tests/targets/classes.cc."""
    _, rows = kinds_of("classes")
    assert nodes_of(rows, "tree node", "sorted") == 800, rows
    assert nodes_of(rows, "linked", "listed") == 900, rows
    assert 1195 <= nodes_of(rows, "linked", "hashed") <= 1200, rows
    # The first chunk and the last one are held by the iterators, too; what is behind the elements may be an old pointer to another one.
    chunks = [row for row in rows if row["kind"] in ("data", "linked") and " static queued" in (row["holder"] or "")]
    assert sum(row["blocks"] for row in chunks) == 20000 * 8 // 512 + 1, chunks
    assert held_by(rows, "text", r"< array < static texts in .*") == 700, rows
    check_shared(rows, "std::_Sp_counted_ptr_inplace<app::Plain, ", 600)
    check_shared(rows, "std::_Sp_counted_ptr<app::Held*, ", 250)
    if os.path.exists(lab.target("classes-libc++")):
        _, rows = kinds_of("classes-libc++")
        assert held_by(rows, "tree node", r"< Owner \+\d+") == 200 * 5, rows
        assert held_by(rows, "tree node", r"< static classes-libc\+\+\+0x[0-9a-f]+") == 1500, rows
        check_shared(rows, "std::__1::__shared_ptr_emplace<app::Plain, ", 600)
        check_shared(rows, "std::__1::__shared_ptr_pointer<app::Held*, ", 250)


def test_without_rtti():
    """The counts are there; the classes have the places of their vtables for names."""
    truth, rows = kinds_of("classes-plain")
    found = collections.Counter()
    for row in rows:
        if row["kind"] == "vtable":
            found[row["name"]] += row["blocks"]
    counts = collections.Counter(found.values())
    assert not collections.Counter(truth.values()) - counts, (truth, rows)
    check_others(rows)


PYTHON = """
import sys
class Session:
    __slots__ = ("text",)
kept = [Session() for _ in range(3000)]
for number, session in enumerate(kept):
    session.text = b"x" * 3000 + b"%d" % number
print("{}", flush=True)
sys.stdin.read()
"""
RUBY = """
kept = Array.new(3000) { |number| "x" * 3000 + number.to_s }
puts "{}"
$stdout.flush
$stdin.read
"""


def check_runtime(command, kind, holder):
    """3000 blocks of about 3000 bytes are held by objects that are no blocks themselves."""
    process = lab.start(command, text=True)
    process.stdout.readline()
    status, output, errors = lab.run("memory", *lab.PATIENT, "-q", "-j", "-n", "0", "-p", process.pid)
    assert status == 0, (status, errors)
    rows = json.loads(output)["kinds"]
    held = [row for row in rows if row["kind"] == kind and row["holder"] == holder and row["blocks"] >= 3000]
    assert len(held) == 1 and 9000000 <= held[0]["bytes"] < 14000000, rows
    return held[0]


def test_python_arenas():
    row = check_runtime([sys.executable, "-c", PYTHON], "struct with", "< Python arena")
    assert row["name"].startswith("PyBytes_Type in ") and row["blocks"] < 3010, row


def test_ruby_pages():
    if not shutil.which("ruby"):
        raise lab.Skip("there is no ruby")
    check_runtime(["ruby", "-e", RUBY], "text", "< Ruby heap page")


if __name__ == "__main__":
    lab.run_tests()
