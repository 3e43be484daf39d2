#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of a live Ruby from outside, against what the interpreter itself counts (ObjectSpace, GC.stat) and what the program has
counted."""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lab  # noqa: E402

READER = os.path.join(os.path.dirname(lab.TRACER), "tests/live/ruby_objects")
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")
SCRIPT = os.path.join(SCRIPTS, "objects.rb")
TYPES = {1: "OBJECT", 2: "CLASS", 3: "MODULE", 4: "FLOAT", 5: "STRING", 6: "REGEXP", 7: "ARRAY", 8: "HASH", 9: "STRUCT", 10: "BIGNUM",
         11: "FILE", 12: "DATA", 13: "MATCH", 14: "COMPLEX", 15: "RATIONAL", 20: "SYMBOL", 26: "IMEMO", 28: "ICLASS"}
# What answering "count" itself makes: the line, the hash, the string, caches.
ANSWER = 10


class Program:
    def __init__(self, command):
        if not os.path.exists(READER):
            raise lab.Skip("%s is not built" % READER)
        self.process = lab.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        line = self.process.stdout.readline()
        assert line == "ready\n", "%s: %s" % (command, line)
        self.pid = self.process.pid

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        return self.process.stdout.readline().strip()

    def look(self, *arguments, environment=None):
        result = subprocess.run([READER, str(self.pid), *arguments], capture_output=True, text=True, check=False, env=environment)
        assert not result.returncode, result.stdout + result.stderr
        # Several censuses follow each other.
        reader, text, found = json.JSONDecoder(), result.stdout.strip(), []
        while text:
            report, end = reader.raw_decode(text)
            found.append(report)
            text = text[end:].strip()
        return found


def start():
    lab.need("ruby")
    return Program(["ruby", SCRIPT])


def check_quiet(program):
    """Every type of object, equal but for what the answer makes; collections; bytes of classes."""
    ours = program.look()[0]
    theirs = json.loads(program.ask("count"))
    stat = theirs["stat"]
    differences = {name: theirs["types"].get("T_" + name, 0) - ours["types"][type] for type, name in TYPES.items()}
    assert all(0 <= difference <= ANSWER for difference in differences.values()), differences
    assert sum(1 for difference in differences.values() if not difference) >= len(TYPES) - 4, differences
    assert 0 <= ours["free"] - theirs["types"]["FREE"] <= 2 * ANSWER
    assert ours["slots"] == theirs["types"]["TOTAL"]
    assert (ours["minor"], ours["major"]) == (stat["minor_gc_count"], stat["major_gc_count"])
    assert sum(row["old"] for row in ours["classes"].values()) == stat["old_objects"]
    assert ours["pages"] == stat["heap_allocated_pages"] and not ours["lost"] and not ours["missing"]
    if "time" in stat:
        assert abs(ours["ns"] / 1e6 - stat["time"]) <= 2
    check_classes(ours["classes"], theirs["bytes"])


def check_classes(classes, bytes_by_class):
    for name, number in (("Session", 20000), ("App::Job", 3000), ("App::Point", 700)):
        assert classes[name]["live"] == number and not classes[name]["newborn"], classes[name]
    assert classes["Brief"]["live"] == 0 if "Brief" in classes else True
    for name in ("Session", "App::Point"):
        row = classes[name]
        assert row["slot_bytes"] + row["other_bytes"] == bytes_by_class[name], (name, row, bytes_by_class)
    # By 1 %: bytes that the answer itself takes, and of Hash the small tables.
    for name in ("String", "Hash", "Integer"):
        row = classes[name]
        ours, theirs = row["slot_bytes"] + row["other_bytes"], bytes_by_class[name]
        assert abs(ours - theirs) <= max(theirs // 50, 4096), (name, ours, theirs)


def test_quiet():
    """Also when the collector has just moved objects together."""
    program = start()
    check_quiet(program)
    program.ask("compact")
    check_quiet(program)


def check_layouts(program, version):
    accepted = [name for name in program.look("layouts")[0] if name]
    assert accepted == [version], accepted


def test_wrong_layouts():
    lab.need("ruby")
    said = subprocess.run(["ruby", "--version"], capture_output=True, text=True, check=True).stdout
    check_layouts(start(), ".".join(said.split()[1].split(".")[:2]))


def check_busy(program, rounds=5):
    """What is kept lies between the program's own counts before and after the look; what is dropped at once is not live."""
    program.ask("run")
    lab.wait_for(lambda: int(program.ask("kept")) > 3000, "objects that are kept")
    for _ in range(rounds):
        before = int(program.ask("kept"))
        ours = program.look()[0]
        after = int(program.ask("kept"))
        row = ours["classes"]["Kept"]
        number = row["live"] + row["newborn"]
        assert before <= number <= after + 1, (before, row, after)
        brief = ours["classes"].get("Brief", {"live": 0})
        assert brief["live"] <= 100, brief
        assert not ours["lost"], ours["remarks"]


def test_busy():
    check_busy(start())


def look_after_collection(program):
    """
    A look that waits for a major collection. It cannot be seen when it begins to wait: one that came before that is followed by another one, after
    far longer than a look takes.
    """
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        look, rest = pool.submit(program.look, "wait", str(lab.PATIENCE)), 0.5
        while not concurrent.futures.wait([look], rest).done:
            program.ask("collect")
            rest *= 4
        return look.result()[0]


def test_after_a_major_collection():
    program = start()
    ours = look_after_collection(program)
    assert ours["after_major"]
    for name, number in (("Session", 20000), ("App::Job", 3000), ("App::Point", 700)):
        row = ours["classes"][name]
        assert (row["live"], row["newborn"], row["garbage"]) == (number, 0, 0), row
    check_wait_in_vain(program)


def check_wait_in_vain(program):
    """No collection comes while the program waits for its input: JSON and text have that."""
    remark = "no major collection came within the wait"
    runtime = look_with(program, "--wait-gc", "100ms")
    assert not runtime["after_major"] and [line for line in runtime["remarks"] if line.startswith(remark)], runtime["remarks"]
    text = subprocess.run([lab.TRACER, "memory", *lab.PATIENT, "-p", str(program.pid), "--objects", "--wait", "100ms"], capture_output=True, text=True, check=True).stdout
    assert remark in " ".join(text.split()), text
    check_states(text, runtime)


def check_states(text, runtime):
    """The line of text that adds up the classes, which the program leaves alone meanwhile."""
    live, old, newborn, garbage = (sum(row[name] for row in runtime["classes"]) for name in ("live", "old", "newborn", "garbage"))
    assert "Objects: {:,} live ({:,} of them old), {:,} newborn, {:,} garbage".format(live, old, newborn, garbage) in text, (text, live)
    assert live >= old > 20000


def test_retained():
    """Of three looks the second one's new objects are retained if the third one finds them: those that the program keeps."""
    program = start()
    program.ask("run")
    lab.wait_for(lambda: int(program.ask("kept")) > 1000, "objects that are kept")
    first, second, third = program.look("census", "3", "1")
    kept = int(program.ask("kept"))
    assert not first["classes"]["Kept"]["retained"] and not second["classes"]["Kept"]["retained"]
    row = third["classes"]["Kept"]
    assert 0 < row["retained"] <= second["classes"]["Kept"]["live"] - first["classes"]["Kept"]["live"], row
    assert row["retained"] <= kept, row
    for name in ("Session", "App::Job", "App::Point"):
        assert not third["classes"][name]["retained"], third["classes"][name]
    assert third["classes"].get("Brief", {"retained": 0})["retained"] <= 10
    # While the array grows, its elements move: a look may miss them.
    lab.wait_for(lambda: any("global $kept" in way for way in program.look()[0]["classes"]["Kept"]["holders"]), "who holds them")


def turn(program, number):
    return set(json.loads(program.ask("turn %d" % number)))


def test_numbered_objects():
    """Objects with a number each, of which some go and others come into their slots: those that are new at the second look and there at the
    third are retained, which is known by the numbers that ObjectSpace has."""
    program = start()
    numbers = [turn(program, 900)]
    reader = lab.start([READER, str(program.pid), "steps", "4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                       env=dict(os.environ, NO_HOLDERS="1"))
    classes = [read_report(reader.stdout)["classes"]]
    for number in (900, 1200, 600):
        numbers.append(turn(program, number))
        print(file=reader.stdin, flush=True)
        classes.append(read_report(reader.stdout)["classes"])
    assert not reader.wait()
    for step, row in enumerate(found["Numbered"] for found in classes):
        assert (row["live"], row["newborn"], row["garbage"]) == (len(numbers[step]), 0, 0), (step, row)
        retained = (numbers[step] & numbers[step - 1]) - numbers[0] if step > 1 else set()
        assert row["retained"] == len(retained), (step, row, len(retained))
        assert step < 2 or len(retained) >= 500
    assert not classes[3]["Session"]["retained"]


def read_report(stream):
    """The next census of several: the line that ends it is the only one that ends so."""
    text = ""
    while not text.endswith("}}\n"):
        line = stream.readline()
        assert line, text
        text += line
    return json.loads(text)


def test_frozen():
    """Stopped in the middle of its work, with pages that are half swept: each type is what count_objects counts before anything else is made."""
    program = start()
    for work in (300, 1100, 2300, 700):
        program.process.stdin.write("freeze %d\n" % work)
        lab.wait_for(lambda: lab.state_of(program.process)[0] == "T", "the program stops")
        ours = program.look(environment=dict(os.environ, NO_HOLDERS="1"))[0]
        program.process.send_signal(signal.SIGCONT)
        theirs = json.loads(program.process.stdout.readline())
        types = {name: theirs["types"].get("T_" + name, 0) for name in TYPES.values()}
        assert {name: ours["types"][type] for type, name in TYPES.items()} == types, ours["types"]
        assert (ours["slots"], ours["free"]) == (theirs["types"]["TOTAL"], theirs["types"]["FREE"]), theirs
        row = ours["classes"]["Kept"]
        assert row["live"] + row["newborn"] == theirs["kept"], (row, theirs["kept"])
        assert not ours["lost"] and not ours["missing"], ours["remarks"]


def test_compacting():
    """While the collector moves objects, and protects their pages: what is not moved is all there, and no page is lost."""
    program = start()
    # From then on these are where they stay.
    program.ask("compact")
    program.ask("compacting")
    looks, until = 0, 4
    while looks < 5 or int(program.ask("compactions")) < until:
        ours = program.look(environment=dict(os.environ, NO_HOLDERS="1"))[0]
        looks += 1
        assert not ours["lost"] or " could not be read" in ours["remarks"], ours
        for name, number in (("Session", 20000), ("App::Job", 3000), ("App::Point", 700)):
            row = ours["classes"][name]
            assert row["live"] + row["newborn"] == number, (name, row, ours["lost"])


def test_burst():
    """Of many strings each 900th is kept: pages of which at most 2 % is in use, by the addresses of all objects as the interpreter dumps them."""
    program = start()
    kept = int(program.ask("burst"))
    ours = program.look(environment=dict(os.environ, NO_HOLDERS="1"))[0]
    with tempfile.NamedTemporaryFile(prefix="tracer-objects-") as file:
        theirs = json.loads(program.ask("pages " + file.name))
    assert theirs["pages"] == ours["pages"]
    sparse = sum(count * 50 <= slots for count, slots in theirs["held"]) + theirs["pages"] - len(theirs["held"])
    # What the answer makes goes into pages that have room.
    assert 0 <= ours["sparse"] - sparse <= 4, (ours["sparse"], sparse)
    assert sparse >= kept // 2, (sparse, kept)


# How scripts/holders.rb holds each class. Positions are of a sample.
HOLDERS = {
    "InHash": r'\["user\d+"\] of Hash of 300 <- @table of Store <- variable @store of App',
    "Proc {proc}": r"\[\d+\] of Array of 300 <- constant Bus::HANDLERS",
    "InGlobal": r"\[\d+\] of Array of 300 <- global \$jobs",
    "InClassVariable": r"\[\d+\] of Array of 300 <- variable @@cache of App",
    "InThreadVariable": r"the interpreter itself|native memory of Thread <- a thread|\[\d+\] of Array of 300 <- .*",
    "InStruct": r"\[\d+\] of Array of 300 <- member 1 of Pair <- constant PAIR",
    "InBlock": r"\[\d+\] of Array of 300 <- a local variable of a block <- a local variable of Proc <- constant BLOCK",
    "InNested": r"\[\d+\] of Array of 300 <- \[:inner\] of Hash of 1 <- \[1\] of Array <- \[:deep\] of Hash of 1 <- constant NESTED",
    "InMethod": r"\[\d+\] of Array of 300 <- a local variable of a block <- a local variable of Proc <- a method <- method found of App",
    "InGeneric": r"\[\d+\] of Array of 300 <- @more of String <- constant GENERIC",
    "InWeak": r"a weak reference of ObjectSpace::WeakMap <- constant WEAK",
    "InLocal": r"\[\d+\] of Array of 300 <- a local variable of a block <- a local variable of Binding <- constant TOPLEVEL_BINDING",
}
# Of other releases these ways may be others.
HOLDERS_3_1 = {
    "InThread": r"\[\d+\] of Array of 300 <- native memory of Thread <- a thread",
    "InThreadVariable": r"\[\d+\] of Array of 300 <- \[:tv\] of Hash of 1 <- locals of Thread <- a thread",
}


def check_holders(program):
    report = program.look()[0]
    classes, ways = report["classes"], dict(HOLDERS, **(HOLDERS_3_1 if report["version"].startswith("3.1") else {}))
    # Literals of code are in a table of the interpreter, and no thread's.
    for held in classes["String"]["holders"]:
        assert "native memory of Thread" not in held, classes["String"]
    for name, way in ways.items():
        held = re.sub(r" \(\d+ of \d+\)$", "", classes[name]["holders"][0])
        assert classes[name]["live"] >= 300 and re.fullmatch(way, held), (name, classes[name])


def test_holders():
    """A weak map is held by its variable, and not by what words of native memory seem to lead to."""
    lab.need("ruby")
    program = Program(["ruby", os.path.join(SCRIPTS, "holders.rb")])
    check_holders(program)
    (watch,) = [row for row in look_with(program)["classes"] if row["name"].startswith("Watch")]
    assert watch["holders"] == ["global $watch"], watch


# How many pieces of code (iseqs) a file has, by Ruby's own compiler.
PIECES = """
def pieces(code) = 1 + (children = []; code.each_child { |child| children << child }; children.sum { |child| pieces(child) })
puts pieces(RubyVM::InstructionSequence.compile_file(ARGV[0]))
"""


def look_with(program, *options):
    """What the command finds of Ruby."""
    result = subprocess.run([lab.TRACER, "memory", *lab.PATIENT, "-p", str(program.pid), "--objects", "-j", *options], capture_output=True, text=True,
                            check=False)
    assert not result.returncode, result.stderr
    return [row for row in json.loads(result.stdout)["objects"] if row["runtime"] == "ruby"][0]


def test_longest_and_code():
    program = start()
    runtime = look_with(program)
    array = next(row for row in runtime["longest"] if row["kind"] == "Array")
    assert (array["length"], array["holder"], array["sample"]) == (20000, "constant SESSIONS", None), runtime["longest"]
    code, = [row for row in runtime["code"] if row["file"] == SCRIPT]
    pieces = subprocess.run(["ruby", "-e", PIECES, SCRIPT], capture_output=True, text=True, check=True).stdout
    # The frame around the program has the program's name, too.
    assert code["pieces"] == int(pieces) + 1, (code, pieces)


def test_samples():
    """Keys that are texts of the program are shown only where that is asked for."""
    lab.need("ruby")
    program = Program(["ruby", os.path.join(SCRIPTS, "holders.rb")])
    for options, key in ((), "a String"), (("--samples",), r'"user\d+"'):
        held, = [row for row in look_with(program, *options)["classes"] if row["name"] == "InHash"]
        assert re.match(r"\[%s\] of Hash of 300 <- @table of Store" % key, held["holders"][0]), held


def test_native_memory():
    """What malloc has behind objects of an extension, which the program has made by Fiddle: malloc's own sizes, and the struct of each."""
    lab.need("ruby")
    program = Program(["ruby", os.path.join(SCRIPTS, "native.rb")])
    theirs = int(program.process.stdout.readline())
    row, = [row for row in look_with(program)["classes"] if row["name"] == "Fiddle::Pointer {fiddle/pointer}"]
    structs = row["native_bytes"] - theirs
    assert row["live"] >= 501 and 501 * 24 <= structs <= 520 * 64, (row, theirs)


def test_transient_heap():
    """Up to 3.2 young arrays have their elements in a range of their own: the one mapping of 32 MiB (or in malloc)."""
    program = start()
    with open("/proc/%d/maps" % program.pid) as maps:
        ranges = [[int(end, 16) for end in line.split()[0].split("-")] for line in maps if len(line.split()) == 5]
    mapped = [end - begin for begin, end in ranges if end - begin == 32 << 20]
    if not mapped:
        raise lab.Skip("no mapping of 32 MiB")
    result = subprocess.run([lab.TRACER, "memory", *lab.PATIENT, "-p", str(program.pid), "-j"], capture_output=True, text=True, check=True)
    part, = [row for row in json.loads(result.stdout)["parts"] if row["purpose"] == "ruby_transient"]
    assert part["mapped_bytes"] == 32 << 20 and 0 < part["rss_bytes"], part


def test_command():
    """The command itself: classes, what holds them, no text of the program's."""
    program = start()
    result = subprocess.run([lab.TRACER, "memory", *lab.PATIENT, "-p", str(program.pid), "--objects", "-j"], capture_output=True, text=True,
                            check=False)
    assert not result.returncode, result.stderr
    runtime, = [row for row in json.loads(result.stdout)["objects"] if row["runtime"] == "ruby"]
    session, = [row for row in runtime["classes"] if row["name"] == "Session"]
    assert session["live"] == 20000 and re.fullmatch(r"\[\d+\] of Array of 20000 <- constant SESSIONS", session["holders"][0]), session
    assert "user1" not in result.stdout


if __name__ == "__main__":
    lab.run_tests()
