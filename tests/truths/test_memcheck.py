#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Valgrind's own tests of its leak check, by `tracer leaks`: the same binary, at the same places. Truth: memcheck's loss records. Each program
is looked at where it asks memcheck for a leak check (stops.h), and where it ends. Prints the table of docs/truths.md. A difference that DIFFERENCES
does not explain fails, and so does one that it has and that is not found."""
import collections
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sources  # noqa: E402
import lab  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"definitely lost": "definite", "indirectly lost": "indirect", "possibly lost": "possible", "still reachable": "reachable"}
BY_SIZE = ("definite", "possible")  # of the others, the tracer prints numbers of blocks
PLATFORM = ["-DVGA_amd64", "-DVGO_linux", "-DVGP_amd64_linux", "-DVGPV_amd64_linux_vanilla"]
RECORD = re.compile(r"== ([\d,]+) (?:\(([\d,]+) direct, [\d,]+ indirect\) )?bytes in ([\d,]+) blocks are ([a-z]+ [a-z]+) in loss record")
SUMMARY = re.compile(r"== +([a-z]+ [a-z]+): ([\d,]+) bytes in ([\d,]+) blocks")
NOTHING = "no leaks are possible"
NO_HEURISTICS = "--leak-check-heuristics=none"
MALLOC_HAS = 128 << 10  # from so many bytes on, blocks are mappings

# A program of memcheck/tests, its arguments, options of memcheck.
Case = collections.namedtuple("Case", "program arguments options")
# Of a case, at these looks (the last one is at the end): blocks that the tracer has more or fewer of, by kind; and why.
Difference = collections.namedtuple("Difference", "looks blocks reason")


def case(program, *arguments, options=()):
    return Case(program, arguments, options)


CASES = [case("leak-cases.c"), case("leak-tree.c"), case("leak-cycle.c"), case("leak-0.c"), case("leak-delta.c"), case("leak-segv-jmp.c"),
         case("leak_cpp_interior.cpp"), case("leak_cpp_interior.cpp", options=(NO_HEURISTICS,)),
         *(case("leak-pool.c", number) for number in "012345"), *(case("leak-autofreepool.c", number) for number in "012456"),
         case("pointer-trace.c"), case("reach_thread_register.c"), case("nanoleak2.c"), case("trivialleak.c"), case("custom-overlap.c"),
         case("mempool.c"), case("mempool2.c")]
WRITTEN = "memcheck knows which words a program has written"
UNREADABLE = "memcheck cannot read pages without permission; the tracer does not list a mapping of malloc of which a part has none, and reads it as other memory"
EMPTY_ARRAY = "an array of no elements: its pointer is behind what was asked for, not behind what malloc gave"
DIFFERENCES = {
    "leak-segv-jmp.c": [
        Difference((3,), {"definite": -1, "reachable": 1},
                   WRITTEN + ": to it, one with a pointer is not, as the program asks"),
        Difference((4, 5), {"definite": -1}, UNREADABLE),
        Difference((6, 7, 8), {"definite": -1, "possible": -1}, UNREADABLE),
    ],
    "leak_cpp_interior.cpp": [
        Difference((1,), {"definite": -1, "possible": 1}, EMPTY_ARRAY)],
    "leak_cpp_interior.cpp " + NO_HEURISTICS: [
        Difference((1,), {"definite": -1, "possible": 1}, EMPTY_ARRAY)],
    "reach_thread_register.c": [
        Difference((1,), {"possible": -1, "reachable": 1}, "memcheck does not know what the C library keeps for a thread")],
}


def number_of(text):
    return int(text.replace(",", ""))


def empty():
    return {kind: collections.Counter() for kind in KINDS.values()}


def rounded(size):
    """What malloc has for so many bytes: of blocks that were not traced the tracer knows no other size."""
    if size >= MALLOC_HAS:
        return (size + 16 + 4095 & ~4095) - 16
    return max(24, (size + 8 + 15 & ~15) - 8)


def build(tree, program):
    """Programs that ask for leak checks stop there; of the others all requests are left out, since pools that a program describes to memcheck
    are nothing that the tracer could know."""
    compiler = ["g++"] if program.endswith(".cpp") else ["gcc", "-std=gnu11"]
    path = os.path.join(tree, "memcheck/tests", program)
    include = os.path.join(sources.BUILT, "include")
    os.makedirs(include, exist_ok=True)
    with open(os.path.join(include, "config.h"), "w", encoding="ascii"):
        pass
    with open(path, encoding="utf-8") as file:
        is_asking = "LEAK_C" in file.read()
    stops = ['-DSTOPS_MEMCHECK="%s/memcheck/memcheck.h"' % tree, "-include", os.path.join(HERE, "stops.h")] if is_asking else ["-DNVALGRIND"]
    return sources.compile_with([*compiler, "-w", "-g", "-O1", "-fno-builtin", "-mno-red-zone", *PLATFORM, *stops, "-I" + include, "-I" + tree,
                                 "-I" + tree + "/include", path, "-lpthread"],
                                os.path.join(sources.BUILT, "valgrind", program.rsplit(".", 1)[0]))


def checks_of(text):
    """Blocks by kind and size of each check: its loss records come before its summary. Blocks of one record have one size in these programs."""
    checks, found = [], empty()
    for line in text.splitlines():
        record, summary = RECORD.search(line), SUMMARY.search(line)
        if record:
            total, direct, count, kind = record.groups()
            found[KINDS[kind]][rounded(number_of(direct or total) // number_of(count))] += number_of(count)
        if summary and summary.group(1) in KINDS:
            assert sum(found[KINDS[summary.group(1)]].values()) == number_of(summary.group(3)), (line, found)
        if NOTHING in line or summary and KINDS.get(summary.group(1)) == "reachable":
            checks.append(found)
            found = empty()
    return checks


def memcheck(path, arguments, options):
    """What memcheck has found at each check, in the order of time. It frees nothing before the last one."""
    process = lab.start([lab.need("valgrind"), "--leak-check=full", "--show-leak-kinds=all", "--leak-resolution=high", "--run-libc-freeres=no",
                         "--run-cxx-freeres=no", *options, path, *arguments], text=True, stdout=lab.subprocess.DEVNULL)
    _, errors = process.communicate("", timeout=lab.PATIENCE * 5)
    return checks_of(errors)


def look_of(status, output, errors):
    """The same of a report; of kinds that it does not list, blocks have no size."""
    found = empty()
    if status == 5 and "no allocator was recognized" in errors:
        return found
    assert status in (0, 1), (status, errors)
    report = json.loads(output)
    for group in report["groups"]:
        found[group["kind"]][rounded(group["size"])] += group["blocks"]
    for kind in found:
        if kind not in BY_SIZE:
            found[kind][None] = report["lost"][kind]["blocks"]
    assert not report["lost"]["stale"]["blocks"], report["lost"]
    return found


def looks(path, arguments, options):
    """What the tracer finds at each check, and at the end."""
    found = []
    process = lab.start([path, *arguments], text=True, stdout=lab.subprocess.DEVNULL, stderr=lab.subprocess.DEVNULL)
    while True:
        lab.wait_for(lambda: process.poll() is not None or lab.is_reading(process), "it waits at a check, or has ended")
        if process.poll() is not None:
            break
        found.append(look_of(*lab.run("leaks", *lab.PATIENT, *options, "-q", "-j", "-n", "0", "-p", process.pid)))
        process.stdin.write("x")
        process.stdin.flush()
    with tempfile.NamedTemporaryFile("r") as file:
        status, _, errors = lab.run("leaks", *lab.PATIENT, *options, "-j", "-n", "0", "-o", file.name, "--", path, *arguments)
        found.append(look_of(status, file.read(), errors))
    return found


def totals(found):
    return {kind: sum(blocks.values()) for kind, blocks in found.items()}


def judge(name, number, theirs, ours):
    """None: the same blocks; or why not."""
    before, now = totals(theirs), totals(ours)
    if before == now and all(+theirs[kind] == +ours[kind] for kind in BY_SIZE):
        return None
    moved = {kind: now[kind] - before[kind] for kind in now if now[kind] != before[kind]}
    for difference in DIFFERENCES.get(name, []):
        if number in difference.looks and difference.blocks == moved:
            return difference.reason
    raise AssertionError("%s, look %d: memcheck has %s, the tracer %s" % (name, number, theirs, ours))


def check_case(one, path):
    """A row of the table for each reason, and one for looks that are equal."""
    name = " ".join([one.program, *one.arguments, *one.options])
    truth = memcheck(path, one.arguments, one.options)
    ours = looks(path, one.arguments, [option.replace("--leak-check-", "--") for option in one.options])
    assert len(truth) == len(ours), (name, len(truth), len(ours))
    reasons = [judge(name, number, *both) for number, both in enumerate(zip(truth, ours), 1)]
    wanted = {number for difference in DIFFERENCES.get(name, []) for number in difference.looks}
    missing = {number for number in wanted if not reasons[number - 1]}
    assert not missing, "%s, looks %s: equal, but DIFFERENCES has a reason" % (name, missing)
    for reason in dict.fromkeys(reasons):
        numbers = [number for number, other in enumerate(reasons, 1) if other == reason]
        blocks = collections.Counter()
        for number in numbers:
            blocks.update({kind: count for kind, count in totals(truth[number - 1]).items()})
        print("# | %s | %d | %s | %s |" % (name, len(numbers), " + ".join(str(blocks[kind]) for kind in KINDS.values()), reason or "equal"))
    return reasons


def test_programs():
    tree, version = sources.fetch("valgrind")
    print("# programs of valgrind %s; memcheck's blocks: definitely + indirectly + possibly lost + reachable" % version)
    reasons = [reason for one in CASES for reason in check_case(one, build(tree, one.program))]
    print("# %d looks, %d equal" % (len(reasons), reasons.count(None)))


lab.run_tests()
