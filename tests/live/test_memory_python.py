#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of a live Python from outside, against what its own interpreter counts (gc) and what the program has counted."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lab  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts/objects.py")
POOLS = os.path.join(os.path.dirname(SCRIPT), "pools.py")
POOLS_READER = os.path.join(os.path.dirname(lab.TRACER), "tests/live/python_pools")
PYTHON = os.environ.get("PYTHON_OF_TESTS", "/usr/bin/python3")

# Classes of which all objects are known to the collector, or are reached from what it has, and that fit into pools.
EXACT = {"function": 0, "set": 2, "__main__.Session": 0, "__main__.Slotted": 0, "__main__.Empty": 0, "__main__.Table": 0,
         "__main__.Outer.Inner": 0, "bytearray": 0, "module": 0, "cell": 0, "property": 0}
# These have some that only the interpreter itself leads to, such as empty ones: at least as many, and by so many more.
NEARLY = {"list": 20, "dict": 60, "frozenset": 20, "float": 40}

# Since 3.13 the extension has one of its own, which nothing else leads to.
ONE_MORE = "decimal.Decimal"

# Types are larger than what pools have; those of the binary itself are neither the collector's nor malloc's.
LARGE = ("type", "abc.ABCMeta", "re.Pattern")

HOLDERS = {
    "Global": "global ['a_global'] of module __main__",
    "Attribute": "['attribute'] of dict of * <- class __main__.Holder",
    "Instance": ".member of __main__.Instance <- global ['an_instance'] of module __main__",
    "Number": "[1] of list of 2 <- [42] of dict of 100 <- global ['numbers'] of module __main__",
    "Pair": "[tuple] of dict of 2 <- global ['pairs'] of module __main__",
    "Cell": "+16 of cell <- [0] of tuple of 1 <- closure of function make_closure.<locals>.<lambda> <- global ['closure'] of module __main__",
    "Default": "[0] of tuple of 1 <- default argument of function default <- global ['default'] of module __main__",
    "Local": "['held'] of dict of 1 <- * <- global ['local'] of module __main__",
    "Generator": "*generator <- global ['generator'] of module __main__",
    "Slot": ".two of __main__.Slots <- global ['slots'] of module __main__",
    "Nested": "[100] of list of 101 <- ['handlers'] of dict of 1 <- ['config'] of dict of 1 <- global ['nested'] of module __main__",
    "Queue": "in collections.deque of 1001 <- global ['queue'] of module __main__",
    "Chain": ".value of __main__.Node <- .next of __main__.Node x 1999 <- global ['head'] of module __main__",
    "Keyword": "['argument'] of dict of 1 <- * of function keyword <- global ['keyword'] of module __main__",
}


def start(*arguments, command=None, **more):
    process = lab.start([*(command or [PYTHON, SCRIPT]), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)
    line = process.stdout.readline()
    assert line == "ready\n", line
    return process


def ask(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def look(process, *options):
    """The runtime's row, and its classes by name."""
    result = subprocess.run([lab.TRACER, "memory", *lab.PATIENT, "-p", str(process.pid), "--objects", "-j", *options], capture_output=True, text=True, check=False)
    assert not result.returncode, result.stdout + result.stderr
    runtimes = find_runtimes(json.loads(result.stdout))
    assert len(runtimes) == 1 and runtimes[0]["runtime"] == "python", result.stdout
    return runtimes[0], {row["name"]: row for row in runtimes[0]["classes"]}


def find_runtimes(report):
    if isinstance(report, dict):
        return report["objects"] if "objects" in report and isinstance(report["objects"], list) else \
            [row for value in report.values() for row in find_runtimes(value)]
    return [row for value in report for row in find_runtimes(value)] if isinstance(report, list) else []


def ask_truth(process):
    # What the first answer makes stays, and the second one finds it made.
    ask(process, "count")
    return json.loads(ask(process, "count"))


def check_numbers(theirs, runtime, ours, script=SCRIPT):
    """Every class that a program has made, and the collector's figures: equal."""
    for name, more in EXACT.items():
        live = ours.get(name, {"live": 0})["live"]
        assert abs(live - theirs["reached"].get(name, 0)) <= more, (name, live, theirs["reached"].get(name, 0))
    for name, more in NEARLY.items():
        assert -2 <= ours[name]["live"] - theirs["reached"][name] <= more, (name, ours[name], theirs["reached"][name])
    assert 0 <= ours[ONE_MORE]["live"] - theirs["reached"][ONE_MORE] <= 1, (ours[ONE_MORE], theirs["reached"][ONE_MORE])
    for name in LARGE:
        known = theirs["tracked"].get(name) or theirs["reached"][name]
        assert ours[name]["live"] == known, (name, ours[name], known)
    assert ours["__main__.Session"]["live"] == 20000 and ours["__main__.Slotted"]["live"] == 7000
    # Items: 10 for each of 500, as a list that is made of another one has them.
    assert ours["__main__.Outer.Inner"]["other_bytes"] == 500 * 10 * 8, ours["__main__.Outer.Inner"]
    assert [runtime["minor_gcs"], runtime["major_gcs"]] == [sum(theirs["collections"][:2]), theirs["collections"][2]], theirs
    assert runtime["gc_thresholds"] == theirs["thresholds"], runtime["gc_thresholds"]
    assert not [line for line in runtime["remarks"] if "pools" in line], runtime["remarks"]
    check_longest(runtime)
    # Of the script itself also what runs, and what only that leads to.
    files = {row["file"]: row["pieces"] for row in runtime["code"]}
    wrong = {file: (files.get(file), count) for file, count in theirs["files"].items()
             if file.endswith(".py") and files.get(file) != count and file != script}
    assert not wrong and len(theirs["files"]) > 10 and files[script] >= theirs["files"][script], wrong


def check_longest(runtime):
    """The program has made them, and holds them by a dict."""
    first = {}
    for row in runtime["longest"]:
        first.setdefault(row["kind"], row)
    assert {kind: row["length"] for kind, row in first.items()} == \
        {"str": 120000, "bytes": 200000, "list": 70000, "dict": 30000, "tuple": 50000, "set": 30000}, first
    for kind, row in first.items():
        assert row["holder"] == "['%s'] of dict of 6 <- global ['longest'] of module __main__" % kind, row
        assert (row["sample"] is None) == (kind != "str") and row["bytes"] >= row["length"], row
    assert first["str"]["sample"] == "secret" * 10


def matches(text, pattern):
    """Is it the text? In the pattern `*` is any text."""
    at = 0
    for part in pattern.split("*"):
        found = text.find(part, at)
        if found < 0 or (not at and found and not pattern.startswith("*")):
            return False
        at = found + len(part)
    return at == len(text) or pattern.endswith("*")


def check_holders(classes):
    wrong = {way: classes["held." + way]["holders"] for way, path in HOLDERS.items()
             if not any(matches(text, path) for text in classes["held." + way]["holders"])}
    assert not wrong, wrong
    # A running frame's local: no end that keeps it for sure.
    assert not any("global" in text or "class" in text for text in classes["held.Frame"]["holders"]), classes["held.Frame"]


def is_off(runtime):
    return any("the garbage collector is off" in line for line in runtime["remarks"])


def check_one_look(process, script=SCRIPT):
    """Numbers and ways of a program that waits; `script`: by which name it runs."""
    theirs = ask_truth(process)
    runtime, ours = look(process, "--samples")
    check_numbers(theirs, runtime, ours, script)
    check_holders(ours)
    assert not is_off(runtime)
    return runtime


def test_malloc():
    """Without pools all objects are malloc's: the same numbers, and ways."""
    process = start(env=dict(os.environ, PYTHONMALLOC="malloc"))
    theirs = ask_truth(process)
    runtime, ours = look(process, "--samples")
    check_numbers(theirs, runtime, ours)
    check_holders(ours)
    assert not runtime["slots"] and [line for line in runtime["remarks"] if "PYTHONMALLOC" in line], runtime["remarks"]
    lab.end(process)


def check_busy(path):
    # As busy as it can be, and no more in the tracer's way than that is in its.
    process = start(path, command=["nice", "-n", "19", PYTHON, SCRIPT])
    for _ in range(3):
        before = read_number(path)
        runtime, classes = look(process)
        after = read_number(path)
        # One may be made and not yet counted.
        assert before <= classes.get("__main__.Kept", {"live": 0})["live"] <= after + 1, (before, classes.get("__main__.Kept"), after, runtime["remarks"])
    lab.end(process)


def next_report(looks, change=lambda: None):
    """The runtime's row of a look, and its classes by name; the program is changed before the next look."""
    looks.wait()
    change()
    runtime, = find_runtimes(looks.read())
    return runtime, {row["name"]: row for row in runtime["classes"]}


def test_looks():
    """One program, looked at three times: its numbers and ways; what was made between the first look and the second one, and is there at the
    third: the program's own number; the collector is off at the third."""
    process = start()
    ask(process, "1000")
    theirs = ask_truth(process)
    looks = lab.Looks("-p", process.pid, "--objects", "--samples", "10ms", "3")
    reports = [next_report(looks, lambda: ask(process, "500")),
               next_report(looks, lambda: (ask(process, "700"), ask(process, "off"))), next_report(looks)]
    assert looks.process.wait() == 0
    check_numbers(theirs, *reports[0])
    check_holders(reports[0][1])
    runtime, classes = reports[2]
    assert runtime["slots"] > runtime["free_slots"] > 0
    assert [is_off(report[0]) for report in reports] == [False, False, True]
    assert [report[1]["__main__.Leaked"]["live"] for report in reports] == [1000, 1500, 2200]
    assert [report[1]["__main__.Leaked"]["retained"] for report in reports] == [0, 0, 500], classes["__main__.Leaked"]
    assert any("global ['leaked'] of module __main__" in path for path in classes["__main__.Leaked"]["holders"])


def read_number(path):
    with open(path, "rb") as file:
        return int.from_bytes(file.read(8), "little")


def test_busy():
    with tempfile.NamedTemporaryFile(prefix="tracer-objects-") as file:
        file.write(bytes(8))
        file.flush()
        check_busy(file.name)


def find_pythons():
    """The one of these tests, and each other in PATH whose objects can be counted: their binaries."""
    ask_python = "import sys, sysconfig; print(sys.version_info[1], sysconfig.get_config_var('Py_GIL_DISABLED') or 0, sys.executable)"
    found = {}
    for folder in ["", *os.environ["PATH"].split(":")]:
        command = os.path.join(folder, "python3") if folder else PYTHON
        if os.access(command, os.X_OK):
            answer = subprocess.run([command, "-c", ask_python], stdout=subprocess.PIPE, text=True, check=not folder)
            # A command that only leads to another one may find none.
            minor, threaded, path = answer.stdout.split() if not answer.returncode else ("0", "0", "")
            if 9 <= int(minor) <= 14 and threaded == "0":
                found[os.path.realpath(path)] = int(minor)
    return found


def read_stats(text):
    """Of sys._debugmallocstats: pools and blocks in use by size, and what it has for some words."""
    def figure(words):
        return int(re.search("^" + words + " += +([0-9,]+)$", text, re.MULTILINE).group(1).replace(",", ""))
    sizes = {row[0]: [int(row[1]), int(row[2])] for row in re.findall(r"^ +\d+ +(\d+) +(\d+) +(\d+) +\d+$", text, re.MULTILINE)}
    unused = re.search(r"^(\d+) unused pools \* (\d+) bytes", text, re.MULTILINE)
    return sizes, figure("# arenas allocated current"), figure("# bytes in allocated blocks"), int(unused.group(1)), int(unused.group(2))


def check_pools(python):
    with tempfile.TemporaryFile("w+", prefix="tracer-pools-") as file:
        process = start(command=[python, POOLS], stderr=file)
        file.seek(0)
        sizes, arenas, used_bytes, unused, pool_size = read_stats(file.read())
    ours = json.loads(subprocess.check_output([POOLS_READER, str(process.pid)], text=True))
    runtime = look(process)[0]
    lab.end(process)
    assert len(sizes) > 20 and arenas > 2 and unused, (sizes, arenas, unused)
    assert ours == {"missing": 0, "sizes": sizes}, (python, ours, sizes)
    assert runtime["pages"] == arenas, (python, runtime["pages"], arenas)
    assert runtime["slots"] - runtime["free_slots"] == sum(blocks for _, blocks in sizes.values()), (python, runtime, sizes)
    assert runtime["page_bytes"] - runtime["free_bytes"] == used_bytes, (python, runtime, used_bytes)
    # Pools that are unused again have a header, those that never were used have none.
    pools, used = runtime["page_bytes"] / pool_size, sum(count for count, _ in sizes.values())
    assert used <= pools <= used + unused, (python, pools, used, unused)


def test_pools():
    """Arenas, pools, blocks and bytes in use: what the interpreter counts itself, sys._debugmallocstats, of each Python of this machine."""
    pythons = find_pythons()
    assert pythons
    for python in pythons:
        check_pools(python)


if __name__ == "__main__":
    lab.run_tests()
