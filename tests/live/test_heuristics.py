#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks --heuristics`: pointers to the insides of blocks that count as pointers to their starts. Truth: the list of a program that plants
such blocks, and others that look alike (tests/targets/heuristics.cc), and memcheck's verdicts about the same program."""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

NAMES = ("stdstring", "length64", "newarray", "multipleinheritance")


def planted():
    process = lab.start([lab.target("heuristics")], text=True)
    return process, json.loads(process.stdout.readline())


def report_of(pid, *options):
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-n", "0", "-p", pid, *options)
    report = json.loads(output)
    assert status == 1 and not report["remarks"], (status, errors, report["remarks"])
    return report


def sizes_of(report, kind):
    return {group["size"] for group in report["groups"] if group["kind"] == kind}


def check(options, counting):
    """What the heuristics in `counting` reach, and what hangs on that, is reachable; the other planted blocks are possibly lost."""
    process, cases = planted()
    report = report_of(process.pid, *options)
    size = {case["name"]: case["size"] for case in cases}
    sizes = collections.defaultdict(list)
    for case in cases:
        sizes[case["heuristic"]].append(case["size"])
    chain = ([size["behind it"]], [size["inside, behind that"]])
    reached = set()
    for name in counting:
        reached.update(set(sizes[name]) - set(chain[1]))
    if size["start of a chain"] in reached:
        reached.update(chain[0])
        if "newarray" in counting:
            reached.update(chain[1])
    assert report["certain"], report
    assert sizes_of(report, "definite") == {size["lost"]}, report["groups"]
    others = {case["size"] for case in cases if case["heuristic"] not in ("definite", "indirect")}
    assert sizes_of(report, "possible") == others - reached, (sizes_of(report, "possible"), others - reached)
    for name in NAMES:
        mine = [bytes_ for bytes_ in sizes[name] if bytes_ in reached]
        assert report["heuristics"][name] == {"blocks": len(mine), "bytes": sum(mine)}, (name, report["heuristics"])
    return report, size


def test_all():
    report, size = check((), NAMES)
    assert report["lost"]["indirect"] == {"blocks": 1, "bytes": size["inside, behind a lost one"]}, report["lost"]
    assert report["lost"]["possible"]["blocks"] == 9, report["lost"]


def test_some():
    check(("--heuristics", "all"), NAMES)
    check(("--heuristics", "none"), ())
    check(("--heuristics", "length64,stdstring"), ("length64", "stdstring"))
    check(("--heuristics", "multipleinheritance"), ("multipleinheritance",))


def test_text_and_way():
    """The figures are in the text; the way to a block leads over the word that counts."""
    process, cases = planted()
    size = {case["name"]: case["size"] for case in cases}
    _, output, _ = lab.run("leaks", *lab.PATIENT, "-q", "-p", process.pid)
    for name, blocks in zip(NAMES, (2, 2, 2, 1)):
        assert re.search(r" %d blocks? .* of these by a heuristic: %s$" % (blocks, name), output, re.M), output
    groups = report_of(process.pid, "--heuristics", "none", "--show", "all")["groups"]
    address = {group["size"]: group["address"] for group in groups}
    status, output, _ = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", process.pid, "--who", address[size["start of a chain"]])
    who = json.loads(output)["who"]
    assert status == 0 and who["kind"] == "reachable" and who["way"][0]["root"] == "static" and who["way"][0]["into"] == 8, who


def test_refused():
    for word in ("", "all,none", "newarray,", "arrays", ",newarray"):
        status, _, errors = lab.run("leaks", "-p", os.getpid(), "--heuristics", word)
        assert status == 2 and "--heuristics takes all, none, or some of" in errors, (word, errors)


def test_as_memcheck():
    """The same verdicts about each planted block, and the same blocks by each heuristic."""
    output, errors = lab.memcheck("--show-leak-kinds=all", "--leak-resolution=high", lab.target("heuristics"))
    if errors.count("LEAK SUMMARY") < 2:
        raise lab.Skip("memcheck was not asked for leaks by the program: its header was not there")
    first = errors.split("LEAK SUMMARY")[0]
    theirs = {}
    for total, direct, kind in re.findall(r"== ([\d,]+) (?:\(([\d,]+) direct, [\d,]+ indirect\) )?bytes in 1 blocks are (\w+) ", first):
        theirs[int((direct or total).replace(",", ""))] = kind
    words = {"": "possibly", "definite": "definitely", "indirect": "indirectly"}
    for case in json.loads(output.splitlines()[0]):
        assert theirs[case["size"]] == words.get(case["heuristic"], "still"), (case, theirs[case["size"]])
    process, _ = planted()
    ours = report_of(process.pid)["heuristics"]
    summary = errors.split("LEAK SUMMARY")[1]
    for name, size, blocks in re.findall(r"(\w+) *: ([\d,]+) bytes in ([\d,]+) blocks$", summary, re.M):
        if name in NAMES:
            assert ours.pop(name) == {"blocks": int(blocks), "bytes": int(size.replace(",", ""))}, (name, summary)
    assert not ours, ours


lab.run_tests()
