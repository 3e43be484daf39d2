#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What memory is for, where the line that ran when it was mapped means nothing. Truth: the interpreters' own counts of their pages
and arenas, the mappings of threads' stacks, and what /proc/PID/smaps has of them."""
import os
import re
import subprocess

import lab

PYTHON = "/usr/bin/python3"
FEW = "10000"  # objects of each loop of a program that gets this as its argument

# Each program answers a line by one line: what it has now. An empty line makes it allocate first.
RUBY = """\
class P; def initialize(a); @a = @b = @c = a; end; end
$kept = []
def answer; puts GC.stat(:heap_allocated_pages); $stdout.flush; end
answer
count = (ARGV[0] || 40_000).to_i
while $stdin.gets
  3.times { count.times { $kept << P.new(1) } }
  count.times { $kept << P.new(2) }
  answer
end
"""
PYTHON_LEAK = """\
import ctypes, sys
class P:
    def __init__(self, a): self.a = (a,)
kept = []
def answer(): sys._debugmallocstats(); print("done", flush=True)
answer()
count = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
for line in sys.stdin:
    for i in range(count): kept.append(P(i))
    for i in range(count): kept.append(P(i))
    answer()
"""
THREADS = """\
puts 'ready'
$stdout.flush
$stdin.gets
$threads = 12.times.map { Thread.new { sleep } } # here
$threads.each { |thread| Thread.pass until thread.stop? }
puts 'done'
$stdout.flush
$stdin.gets
"""


def ask(process):
    process.stdin.write(b"\n")
    process.stdin.flush()
    return process.stdout.readline()


def rows(report, region):
    assert sum(site["inuse_bytes"] for site in report["sites"]) == report["totals"]["inuse_bytes"]
    return [site for site in report["sites"] if site["region"] == region]


def smaps(pid):
    """The mappings of a process: their range, and what of them is in memory."""
    found = []
    with open("/proc/%d/smaps" % pid) as file:
        for line in file:
            bounds = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
            if bounds:
                found.append([int(bounds[1], 16), int(bounds[2], 16), 0])
            elif line.startswith("Rss:"):
                found[-1][2] = int(line.split()[1]) << 10
    return found


def report_with(tracer, region, blocks=1):
    """
    A report that has so many blocks of a region or more, and what of them is in memory: a look ends when its time has passed, and that of
    the next report goes on.
    """
    reports = []

    def is_known():
        reports.append(tracer.report_now())
        found = rows(reports[-1], region)
        return sum(row["inuse_objects"] for row in found) >= blocks and all(row["resident_bytes"] is not None for row in found)
    try:
        lab.wait_for(is_known, "the region is known")
    except AssertionError as error:
        lost = {name: count for name, count in reports[-1]["loss"].items() if count}
        raise AssertionError("%s: %s, %s" % (error, lost, [site for site in reports[-1]["sites"] if site["source"] == "mmap"])) from error
    return reports[-1]


def text_with(tracer, words):
    """The last report as text, when one has had these words."""
    lab.wait_for(lambda: words in tracer.text_now(), "the report has: " + words)
    return tracer.stop()


def check_heap(tracer, region, blocks, size):
    """However sites are added up, the heap is one row of the process, without a line."""
    report = report_with(tracer, region, blocks)
    row, = rows(report, region)
    assert row["inuse_objects"] == blocks and row["inuse_bytes"] == blocks * size, (row, blocks)
    assert row["source"] == "mmap" and row["frames"] == [], row
    assert 0 < row["resident_bytes"] <= row["inuse_bytes"], row
    return report


def check_grown(command, region, expected):
    """
    The first report with such a row, and the last one, have what has grown since the attach, as the program has made it: each line is
    (name, objects, at most so many more). A count that takes too long on a busy machine is left out, so this one is of few objects.
    """
    results = []

    def is_counted():
        process = lab.start([*command, FEW])
        process.stdout.readline()
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
        text = lab.Tracer("-q", "-p", process.pid, "3600")
        ask(process)
        # Not in an interval: the program would be counted in the midst of its work.
        found = [row["grown_classes"] for _ in range(2) for row in rows(tracer.report_now(), region)]
        tracer.stop()
        results[:] = [[classes for classes in found if classes], re.search(r"^ +objects: .*$", text.stop(), re.M)]
        lab.end(process)
        return all(results)
    lab.wait_for(is_counted, "the objects are counted")
    grown = {row["name"]: row["objects"] for row in results[0][-1]}
    for name, objects, more in expected:
        assert objects <= grown.get(name, 0) <= objects + more, (name, objects, results)
        said = re.search(re.escape(name) + r" \+([\d,]+)", results[1].group())
        assert said and objects <= int(said.group(1).replace(",", "")) <= objects + more, (name, objects, results)


def test_ruby():
    lab.need("ruby")
    process = lab.start(["ruby", "-e", RUBY])
    before = int(process.stdout.readline())
    tracers = [lab.Tracer("-q", "-j", "-n", "0", *by, "-p", process.pid, "3600")
               for by in [(), ("--by", "app-line"), ("--by", "function"), ("--by", "ruby-line")]]
    text = lab.Tracer("-q", "-p", process.pid, "3600")
    pages = int(ask(process)) - before
    assert pages > 100, pages
    for tracer in tracers:
        report = check_heap(tracer, "ruby_heap", pages, 16384)
    # All of them were written to.
    row, = rows(report, "ruby_heap")
    assert row["resident_bytes"] == pages * 16384, row
    output = text_with(text, "Ruby heap pages")
    assert "Ruby heap pages" in output, output
    # The command that looks inside is there, and has as many pages.
    command, = re.findall(r"inside: tracer (.*)", output)
    assert command == "memory -p %d --objects" % process.pid, output
    status, inside, errors = lab.run(*command.split(), "--deadline", "3m")
    assert status == 0 and "%d pages" % (pages + before) in inside.replace(",", ""), (pages, before, inside, errors)
    # None of the lines has a mapping.
    assert not [site for site in report["sites"] if site["source"] == "mmap" and not site["region"]], report["sites"]
    check_grown(["ruby", "-e", RUBY], "ruby_heap", [("P", 4 * int(FEW), 0)])


def arenas(process):
    process.stdout.readline()
    count = None
    while count is None:
        count = re.match(rb"# arenas allocated current +=\s+(\d+)", process.stderr.readline())
    return int(count[1])


def test_python():
    lab.need(PYTHON)
    process = lab.start([PYTHON, "-c", PYTHON_LEAK], stderr=lab.subprocess.PIPE)
    before = arenas(process)
    tracers = [lab.Tracer("-q", "-j", "-n", "0", *by, "-p", process.pid, "3600")
               for by in [(), ("--by", "app-line"), ("--by", "process")]]
    text = lab.Tracer("-q", "-p", process.pid, "3600")
    process.stdin.write(b"\n")
    process.stdin.flush()
    grown = arenas(process) - before
    assert grown > 5, grown
    for tracer in tracers:
        check_heap(tracer, "python_arena", grown, 1 << 20)
    assert "CPython arenas" in text_with(text, "CPython arenas")
    # An object, and what it has in itself: as many as the program has made, and a few of others.
    check_grown([PYTHON, "-c", PYTHON_LEAK], "python_arena", [("__main__.P", 2 * int(FEW), 0), ("tuple", 2 * int(FEW), 99)])


NODE = """\
const kept = [];
function answer() { console.log(process.memoryUsage().heapTotal); }
process.stdin.on('data', () => { for (let i = 0; i < 300000; i++) kept.push({ number: i, text: 'text ' + i }); answer(); });
answer();
"""


def test_v8():
    """The truth is V8's own count of what it has committed; what it keeps back of a page that it returned may be more."""
    node = lab.need("node")
    if int(subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout[1:].split(".")[0]) > 20:
        raise lab.Skip("the pages of this release are not known")
    # The young generation stays as it is, so that all pages that are new are kept.
    process = lab.start([node, "--min-semi-space-size=16", "--max-semi-space-size=16", "-e", NODE])
    before = int(process.stdout.readline())
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    text = lab.Tracer("-q", "-p", process.pid, "3600")
    grown = int(ask(process)) - before
    row, = rows(report_with(tracer, "v8_heap"), "v8_heap")
    assert row["frames"] == [] and row["source"] == "mmap", row
    assert grown > 16 << 20 and 0.9 * grown <= row["inuse_bytes"] <= 1.5 * grown, (grown, row)
    output = text_with(text, "V8 heap pages")
    assert "V8 heap pages" in output and "inside: tracer memory -p %d\n" % process.pid in output, output


def check_stacks(process, tracer, count):
    # Until a thread sleeps, its stack may grow.
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads sleep")
    report = report_with(tracer, "thread_stack", count)
    row, = rows(report, "thread_stack")
    assert row["inuse_objects"] == count, row
    # A stack is a guard and, behind it, what is written to; both are one mapping of the C library's.
    size = row["inuse_bytes"] // count
    spans = smaps(process.pid)
    guards = [(at, spans[at]) for at in range(len(spans) - 1) if spans[at][1] - spans[at][0] == 4096]
    stacks = [spans[at + 1] for at, guard in guards
              if spans[at + 1][0] == guard[1] and spans[at + 1][1] - guard[0] == size]
    assert len(stacks) == count, (size, spans)
    assert row["resident_bytes"] == sum(stack[2] for stack in stacks), (row, stacks)
    return row


def test_threads():
    lab.need("ruby")
    process = lab.start(["ruby", "-e", THREADS])
    process.stdout.readline()
    tracer = lab.Tracer("-q", "-j", "-n", "0", "--by", "app-line", "-p", process.pid, "3600")
    by_stack = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    assert ask(process) == b"done\n"
    row = check_stacks(process, tracer, 12)
    assert [(frame["file"], frame["line"]) for frame in row["frames"]] == [("-e", 4)], row
    row = check_stacks(process, by_stack, 12)
    assert ("-e", 4) in [(frame["file"], frame["line"]) for frame in row["frames"]], row


def test_unchanged():
    """Looking neither brings pages in nor copies those that processes share since a fork."""
    lab.need("ruby")
    process = lab.start(["ruby", "-e", FORKED])
    process.stdout.readline()
    tracer = lab.Tracer("-q", "-j", "-n", "0", "--tree", process.pid, "3600")
    child = int(ask(process))
    try:
        check_unchanged(process, child, tracer)
    finally:
        os.kill(child, 9)


def check_unchanged(process, child, tracer):
    # A child that has only begun writes to pages that it shares.
    lab.wait_for(lambda: lab.all_wait(child), "the child sleeps")
    report = report_with(tracer, "ruby_heap")
    # Of the process's own pages: the share of a library's is another one with each process that maps it, or ends.
    pss = sum(memory_of(pid, "Pss_Anon") for pid in (process.pid, child))
    rss = sum(memory_of(pid, "Rss") for pid in (process.pid, child))
    for _ in range(5):
        report = report_with(tracer, "ruby_heap")
    row, = [site for site in report["sites"] if site["inuse_bytes"] > 1 << 30]
    assert row["resident_bytes"] == 0, row
    grown = sum(memory_of(pid, "Pss_Anon") for pid in (process.pid, child)) - pss
    assert grown < 64 << 10, grown
    grown = sum(memory_of(pid, "Rss") for pid in (process.pid, child)) - rss
    assert grown < 64 << 10, grown


FORKED = """\
require 'fiddle'
class P; def initialize(a); @a = @b = @c = a; end; end
map = Fiddle::Function.new(Fiddle.dlopen(nil)['mmap'],
                           [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T, Fiddle::TYPE_INT, Fiddle::TYPE_INT, Fiddle::TYPE_INT,
                            Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
$kept = []
puts 'ready'
$stdout.flush
$stdin.gets
map.call(0, 1 << 40, 3, 0x4022, -1, 0) # reserved: no page of it is there
100_000.times { $kept << P.new(1) }
GC.disable
begun, says = IO.pipe
child = fork { says.close; sleep }
says.close
begun.read
puts child
$stdout.flush
$stdin.gets
"""


def memory_of(pid, what):
    with open("/proc/%d/smaps_rollup" % pid) as file:
        for line in file:
            if line.startswith(what + ":"):
                return int(line.split()[1]) << 10
    raise AssertionError(what)


def test_generated_code():
    """YJIT reserves what its option has, and generates code in it when methods are called often."""
    ruby, option = lab.need("ruby"), "--yjit-exec-mem-size=64"
    program = "def f(n) = n < 2 ? n : f(n - 1) + f(n - 2)\nf(20)\nwarn 'compiled'\n$stdin.gets"
    if subprocess.run([ruby, "--yjit", option, "-e", ""], stderr=subprocess.DEVNULL, check=False).returncode:
        raise lab.Skip("this Ruby has no YJIT")
    tracer = lab.Tracer("-j", "-n", "0", "--", ruby, "--yjit", option, "-e", program)
    lab.wait_for(lambda: "compiled" in tracer.stderr(), "code is generated")
    report = report_with(tracer, "jit")
    tracer.process.stdin.close()
    tracer.process.stdin = None
    tracer.finish()
    found = rows(report, "jit")
    assert [site["inuse_bytes"] for site in found] == [64 << 20] and found[0]["frames"] == [], found


lab.run_tests()
