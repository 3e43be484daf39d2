#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracing without frees, with what is in use read from the heap: equal to the program's own counts at each site whenever it is quiet
(tests/targets/unseen.c). The program works only when the test asks it to, so it is quiet while it is looked at. Of one that works
meanwhile, nothing is asserted but what its own counters show before and after a report."""
import os
import struct
import subprocess
import tempfile

import lab


SCENARIOS = ["all", "calls", "nested", "realloc", "failed", "cross", "signals", "mappings"]


def trace(*arguments):
    return lab.Tracer(*arguments, "--light", "-j", "-n", "0", "-d", "1h", stdout=subprocess.PIPE)


class Program:
    """The program; `calls` is the name of the file in which it counts its calls."""

    def __init__(self, *calls):
        self.process = lab.start([lab.target("unseen"), *calls], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def work(self):
        """Let all threads do a part of their work, and stop; returns (blocks, bytes, calls) by site, of all since the start."""
        self.write("")
        return {line.split()[0]: tuple(int(number) for number in line.split()[1:])
                for line in iter(self.process.stdout.readline, "end\n")}


class Unseen(Program):
    """The program, which has worked before when `before`, and a tracer of it."""

    def __init__(self, *arguments, before=False, calls=()):
        super().__init__(*calls)
        if before:
            self.work()
        self.tracer = trace(*arguments, "-p", self.pid)


def sums_of(report, pid=None):
    """(blocks, bytes) in use, by function; of one process, or of all."""
    found = {}
    for site in report["sites"]:
        if pid not in (None, site["pid"]):
            continue
        blocks, size = found.get(lab.function_of(site), (0, 0))
        found[lab.function_of(site)] = (blocks + site["inuse_objects"], size + site["inuse_bytes"])
    return found


def heap_of(report):
    heap, = report["light"]["heaps"]
    return heap


def check_equal(unseen, counts=None):
    counts = counts or unseen.work()
    report = unseen.tracer.report_now()
    found = sums_of(report)
    assert {name: found.get(name, (0, 0)) for name in counts} == {name: each[:2] for name, each in counts.items()}, (counts, found)
    heap = heap_of(report)
    assert heap["reason"] is None and heap["undecided_blocks"] == 0 == heap["unknown_bytes"], heap
    assert not {name: lost for name, lost in report["loss"].items() if lost}, report["loss"]
    lab.check_sums(report)
    assert all(site["lifespan"] is None and site["temporary_objects"] is None for site in report["sites"])
    assert not any(site["undecided_objects"] or site["undecided_bytes"] for site in report["sites"])
    return report, counts


def test_every_site_is_equal_to_the_truth():
    unseen = Unseen()
    for _ in range(3):
        report, counts = check_equal(unseen)
        # All that the heap has is known, but for what the C library has made for threads, before they are traced.
        heap = heap_of(report)
        assert heap["live_blocks"] == report["totals"]["inuse_objects"] + heap["unrecorded_blocks"], (heap, report["totals"])
        assert heap["live_bytes"] >= report["totals"]["inuse_bytes"]
    # What realloc resizes is two allocations, as without --light; all others are one.
    calls = {}
    for site in report["sites"]:
        calls[lab.function_of(site)] = calls.get(lab.function_of(site), 0) + site["alloc_objects"]
    for name, (_, _, allocated) in counts.items():
        assert calls[name] == allocated * (2 if name in ("by_grown", "by_moved") else 1), (name, calls[name], allocated)


def test_inside_of_malloc():
    """As soon as probes inside of malloc are verified, they record, and every site is equal to the truth as before, calls too."""
    lab.need_backend("session")
    unseen = Unseen()

    def is_inside():
        unseen.work()
        return unseen.tracer.report_now()["light"]["probes"] == "inside"

    lab.wait_for(is_inside, "probes inside of malloc are verified")
    lab.wait_for(lambda: "tracer: price: " in unseen.tracer.stderr(), "a price is printed that is not that of the verification")
    for _ in range(2):
        report, counts = check_equal(unseen)
        assert report["light"]["probes"] == "inside"
        calls = sum(site["alloc_objects"] for site in report["sites"] if lab.function_of(site) == "by_churn")
        assert calls == counts["by_churn"][2], (calls, counts)


CALLS = struct.Struct("4Q")  # begun and done: allocations, frees


class Counters:
    """What the program has counted of its calls until now, by site."""

    def __init__(self, path, names):
        with open(path, "rb") as file:
            rows = list(CALLS.iter_unpack(file.read()))
        assert len(rows) == len(names)
        self.of = dict(zip(names, rows))
        self.sum = sum(row[0] for row in rows)

    def at_least(self, name, later):
        """Blocks that were there now and are at `later`: those of all calls that have ended, without all whose free has begun."""
        return self.of[name][1] - later.of[name][2]


def check_busy(report, before, after):
    """Whatever the program did meanwhile: what was in use all the time is in the report, and no more is certain than the heap had."""
    found = sums_of(report)
    for name in before.of:
        assert found.get(name, (0, 0))[0] >= before.at_least(name, after), (name, found.get(name), before.of[name], after.of[name])
    lab.check_sums(report)
    lab.check_losses(report)
    sites = [site for site in report["sites"] if site["source"] == "heap"]
    assert all(site["undecided_objects"] <= site["inuse_objects"] and site["undecided_bytes"] <= site["inuse_bytes"] for site in sites)
    certain = sum(site["inuse_objects"] - site["undecided_objects"] for site in sites)
    heap = heap_of(report)
    most = 0 if heap["reason"] else heap["live_blocks"] - heap["unrecorded_blocks"]
    assert certain <= most, (certain, heap)


def test_program_that_works_meanwhile():
    """Reports on it hold what its counters before and after show; as soon as it stops, all is equal to the truth again."""
    with tempfile.NamedTemporaryFile(prefix="tracer-calls-") as file:
        unseen = Unseen(calls=[file.name])
        names = list(unseen.work())
        seen = []

        def is_seen():
            before = Counters(file.name, names)
            report = unseen.tracer.report_now()
            after = Counters(file.name, names)
            check_busy(report, before, after)
            seen.append(after.sum > before.sum)
            return sum(seen) >= 3

        unseen.write("run")
        lab.wait_for(is_seen, "three reports were made while it works")
        check_equal(unseen, unseen.work())


def test_several_processes():
    """Each has a heap of its own, and figures that are equal to its own counts."""
    programs = [Program(), Program()]
    tracer = trace("-p", ",".join(str(program.pid) for program in programs))
    for _ in range(2):
        counts = {program.pid: program.work() for program in programs}
        report = tracer.report_now()
        for pid, truth in counts.items():
            found = sums_of(report, pid)
            assert {name: found.get(name, (0, 0)) for name in truth} == {name: each[:2] for name, each in truth.items()}, (truth, found)
        heaps = {heap["pid"]: heap for heap in report["light"]["heaps"]}
        assert set(heaps) == {program.pid for program in programs}, heaps
        assert not any(heap["reason"] or heap["undecided_blocks"] for heap in heaps.values()), heaps


def test_probes_inside_that_see_something_else():
    """malloc returns what the probes inside of it have not seen: they are given up with the reason, and return probes are right."""
    lab.need_backend("session")
    process = lab.start([lab.target("misled")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    if process.stdout.readline() != "ready\n":
        raise lab.Skip("malloc of this C library ends in another way")
    if "inside of malloc" not in lab.run("plan", "--light", "-p", process.pid)[1]:
        raise lab.Skip("malloc of this C library is not probed inside")

    def let_work():
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline()

    tracer = trace("-p", process.pid)
    assert let_work() == "done\n"
    lab.wait_for(lambda: "probes inside malloc could not be verified" in tracer.stderr(), "that is noticed")
    assert "have returned something else than was seen there): return probes are used" in tracer.stderr(), tracer.stderr()
    size = int(let_work())
    report = tracer.report_now()
    assert report["light"]["probes"] == "returns", report["light"]
    found = {name: sums for name, sums in sums_of(report).items() if any(sums)}
    assert found == {"plain_result": (300, size)}, found


def test_plan():
    """It shows the probes inside where there are some, none of functions that only free, and attaches nothing."""
    program = Program()
    before = lab.code_of(program.pid)
    status, text, errors = lab.run("plan", "--light", "-p", program.pid)
    assert status == 0, errors
    lab.wait_for_code(program.pid, before)
    functions = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert "malloc" in functions and "realloc" in functions and not {"free", "cfree"} & set(functions), text
    assert "light: functions that only free are not probed" in text, text
    assert ("(block)" in functions) == ("inside of malloc" in text) == ("Probes inside of a function" in text), text
    status, text, errors = lab.run("plan", "-p", program.pid)
    assert status == 0 and "light: " not in text and "inside of" not in text, (text, errors)


def check_known(command, allowed=()):
    """A program that keeps its own account, and waits while it is looked at."""
    path = lab.target(command[0])
    if not os.path.exists(path):
        raise lab.Skip("%s could not be built here" % command[0])
    account, report = lab.attached_report([path, *command[1:]], "--light")
    lab.check_account(account, report, allowed)
    assert heap_of(report)["undecided_blocks"] == 0, heap_of(report)
    return report


def test_programs_with_an_account():
    for scenario in SCENARIOS:
        check_known(["known", scenario])


def test_operators_of_cxx():
    check_known(["operators", "all"])


def test_jemalloc():
    assert heap_of(check_known(["known-jemalloc", "all"]))["allocator"] == "jemalloc"


def test_mimalloc():
    """What it aligns begins inside of one of its blocks."""
    assert heap_of(check_known(["known-mimalloc", "all"]))["allocator"] == "mimalloc"


# Half of the blocks that leak() has allocated are freed again; each has one block of malloc.
PYTHON = """
import sys
held = [None] * 1000
def leak():
    for i in range(1000):
        held[i] = bytearray(5000)
for line in sys.stdin:
    leak()
    for i in range(0, 1000, 2):
        held[i] = None
    print("done", flush=True)
"""
RUBY = """
$held = Array.new(1000)
def leak
  1000.times { |i| $held[i]&.clear; $held[i] = "x" * 5000 }
end
while gets
  leak
  500.times { |i| $held[i * 2].clear }
  puts "done"
  $stdout.flush
end
"""


def check_script(command, kind):
    process = lab.start([lab.need(command[0]), *command[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    lab.wait_for(lambda: lab.is_reading(process), "the script waits")
    tracer = lab.Tracer("--light", "-j", "-n", "0", "-d", "1h", "-z", "4999", "-Z", "5099", "-p", process.pid, stdout=subprocess.PIPE)
    for _ in range(2):
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        lab.wait_for(lambda: lab.is_reading(process), "the script waits")
        report = tracer.report_now()
        blocks = sum(site["inuse_objects"] for site in report["sites"]
                     if any(frame["kind"] == kind and "leak" in (frame["function"] or "") for frame in site["frames"]))
        assert blocks == 500, (blocks, report)
        assert heap_of(report)["undecided_blocks"] == 0, heap_of(report)


def test_python():
    check_script(["python3", "-c", PYTHON], "python")


def test_ruby():
    check_script(["ruby", "-e", RUBY], "ruby")


def test_blocks_of_a_size_only():
    unseen = Unseen("-z", "300000")
    for _ in range(2):
        counts = unseen.work()
        report = unseen.tracer.report_now()
        assert sums_of(report) == {"by_large": counts["by_large"][:2]}, (counts, sums_of(report))


def test_older_blocks_are_not_counted_to_any_site():
    """Of a program that has worked before, only what is new is in use, and the rest is in the heap."""
    unseen = Unseen(before=True)
    report = unseen.tracer.report_now()
    assert not sums_of(report), report["sites"]
    assert heap_of(report)["live_blocks"] == heap_of(report)["unrecorded_blocks"] > 1000, heap_of(report)
    unseen.work()
    report = unseen.tracer.report_now()
    heap = heap_of(report)
    assert heap["live_blocks"] == report["totals"]["inuse_objects"] + heap["unrecorded_blocks"], (heap, report["totals"])
    assert heap["undecided_blocks"] == 0, heap


def test_what_cannot_be_combined():
    for arguments, words in ((["--budget", "1%", "-p", "1"], "--budget"), (["-a"], "--all"), (["--", "true"], "has gone when it ends"),
                             (["--usdt=only", "-p", "1"], "--usdt=only"), (["--alloc", "x:y:1", "-p", "1"], "--alloc"),
                             (["--sort", "temporary", "-p", "1"], "--sort temporary"), (["plan", "--", "true"], "has gone when it ends")):
        status, _, errors = lab.run(*arguments[:1], "--light", *arguments[1:]) if arguments[0] == "plan" else lab.run("--light", *arguments)
        assert status == 2 and words in errors, (arguments, status, errors)


def test_a_heap_that_is_not_known_is_refused():
    path = lab.target("known-tbb")
    if not os.path.exists(path):
        raise lab.Skip("known-tbb could not be built here")
    process = lab.start([path, "plain", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lab.wait_for(lambda: lab.is_waiting(process) or process.poll() is not None, "it waits")
    if process.poll() == 127:
        raise lab.Skip("known-tbb has not all its libraries here")
    for words in (), ("plan",):
        status, _, errors = lab.run(*words, "--light", "-p", process.pid)
        assert status == 5 and "(allocator: tbb)" in errors and "--budget" in errors, (status, errors)


if __name__ == "__main__":
    lab.run_tests()
