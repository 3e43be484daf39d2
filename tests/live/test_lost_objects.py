#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks` of Ruby and Python: memory that only an object holds may be held by garbage, and is lost when that has been collected. Truth: the scripts
themselves, which allocate blocks of a size that nothing else has."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

COUNT, SIZE = 10, 77784
RUBY = """
require 'fiddle'
GC.disable
$places = []
def make; %d.times { block = Fiddle::Pointer.new(Fiddle.malloc(%d)); $places << block.to_i.to_s(16) }; nil; end
def deep(n); n.zero? ? nil : deep(n - 1); end
make
deep(200)
$stdout.puts $places.join(' '); $stdout.flush
$stdin.gets
GC.enable
3.times { GC.start }
deep(200)
$stdout.puts 'collected'; $stdout.flush
$stdin.gets
""" % (COUNT, SIZE)
PYTHON = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
class Holder: pass
kept = []
for i in range(%d):
    holder = Holder()
    holder.pointer = ctypes.c_void_p(libc.malloc(%d))
    kept.append(holder)
holder = None
print('made', flush=True)
sys.stdin.readline()
""" % (COUNT, SIZE)

# Ways to keep an address or not, by the size of their blocks.
ROWS_OF_RUBY = """
require 'fiddle'
GC.disable
$kept = []
def take(size) = Fiddle.malloc(size)
def drop = 10.times { take(70008) }
def keep_number = 10.times { $kept << take(71000) }
def keep = 10.times { $kept << Fiddle::Pointer.new(take(72008)) }
def forget = 10.times { Fiddle::Pointer.new(take(73000)) }
def forget_freed = 10.times { Fiddle::Pointer.new(take(74008), 0, Fiddle::RUBY_FREE) }
def deep(n) = n.zero? ? nil : deep(n - 1)
def reach(text)
  deep(200)
  $stdout.puts text
  $stdout.flush
  $stdin.gets
end
drop; keep_number; keep; forget; forget_freed
reach 'made'
GC.enable
3.times { GC.start }
reach 'collected'
"""
ROWS_OF_PYTHON = """
import ctypes, gc, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
class Holder: pass
gc.disable()
def keep(size):
    holder = Holder()
    holder.pointer = ctypes.c_void_p(libc.malloc(size))
    return holder
def ring(size):
    holder = keep(size)
    holder.itself = holder
def reach(text):
    print(text, flush=True)
    sys.stdin.readline()
kept = [keep(72008) for _ in range(10)]
numbers = [libc.malloc(71000) for _ in range(10)]
for _ in range(10): libc.malloc(70008)
for _ in range(10): ring(73000)
others = [keep(24) for _ in range(10)]
reach('made')
gc.collect()
new = [keep(24) for _ in range(1000)]
reach('collected')
"""


def report_of(pid, *options):
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-p", pid, "-n", "0", "-j", *options)
    assert status in (0, 1), (status, errors)
    return json.loads(output)


def who_of(pid, place):
    return report_of(pid, "--who", place)["who"]


def rows_of_size(report):
    return [group for group in report["groups"] if group["size"] == SIZE]


def test_garbage_of_ruby():
    """Before a collection objects that nobody has any more hold the memory; what they have held is lost after it, and was reachable."""
    lab.need("ruby")
    process = lab.start(["ruby", "-e", RUBY], text=True)
    places = process.stdout.readline().split()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "before")
        before = report_of(process.pid, "--save", file)
        assert before["roots"]["ruby"]["bytes"] >= (COUNT - 1) * SIZE, before["roots"]
        assert sum(row["blocks"] for row in rows_of_size(before)) <= 1, rows_of_size(before)
        status, text, _ = lab.run("leaks", *lab.PATIENT, "-q", "-p", process.pid)
        assert status in (0, 1) and "Ruby heap pages: may be garbage" in text, text
        ways = [who_of(process.pid, place)["way"] for place in places[:3]]
        assert any(link["root"] == "ruby" for way in ways for link in way), ways
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        after = report_of(process.pid, "--since", file)
    lost = rows_of_size(after)
    assert sum(row["blocks"] for row in lost if row["kind"] == "definite") >= COUNT - 2, lost
    assert sum(row["before"]["reachable"]["bytes"] for row in lost) >= (COUNT - 2) * SIZE, lost


def test_objects_of_python():
    """Memory that Python objects hold is reachable through an arena."""
    process = lab.start([sys.executable, "-c", PYTHON], text=True)
    process.stdout.readline()
    report = report_of(process.pid)
    assert report["roots"]["python"]["bytes"] >= (COUNT - 1) * SIZE and not rows_of_size(report), (report["roots"], rows_of_size(report))


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()


def check_rows(report, **wanted):
    """Blocks of a size by verdict, of ten: those of `wanted`, but for two that old words may hide. What is not listed is reachable, or free."""
    found = {}
    for group in report["groups"]:
        if group["size"]:
            found.setdefault(group["size"], {}).setdefault(group["kind"], []).append(group["blocks"])
    for name, kind in wanted.items():
        rows = {word: sum(blocks) for word, blocks in found.get(int(name[1:]), {}).items()}
        if kind is None:
            assert sum(rows.values()) <= 2, (name, rows, wanted)
        else:
            assert rows.get(kind, 0) >= 8, (name, rows, wanted)


def test_rows_of_ruby():
    """Memory of an extension that is dropped; whose address is a number; whose object is kept; whose object is garbage, without a function that frees, and with one: before a
    collection, and after it."""
    process = lab.start([lab.need("ruby"), "-e", ROWS_OF_RUBY], text=True)
    process.stdout.readline()
    shared = {"s70008": "definite", "s71000": "possible", "s72008": None, "s74008": None}
    check_rows(report_of(process.pid), **shared, s73000=None)
    go_on(process)
    check_rows(report_of(process.pid), **shared, s73000="definite")


def test_rows_of_python():
    """Memory that is dropped; whose address is a number; that an object has; that a ring of objects has which nobody has, until it is collected and other objects are in its place."""
    process = lab.start([sys.executable, "-c", ROWS_OF_PYTHON], text=True)
    process.stdout.readline()
    shared = {"s70008": "definite", "s71000": "possible", "s72008": None}
    check_rows(report_of(process.pid), **shared, s73000=None)
    go_on(process)
    check_rows(report_of(process.pid), **shared, s73000="definite")


lab.run_tests()
