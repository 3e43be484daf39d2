#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Images of processes that wait, recorded: every analysis of the file has the result of that of the process, and counts what the program
itself has counted (tests/targets/filled.c; ObjectSpace; gc)."""
import json
import os
import subprocess
import tempfile

import lab
import test_memory_allocators as allocators
import test_memory_python as python
import test_memory_ruby as ruby

RECORDED = os.path.join(lab.TOP, "build/tests/live/recorded")
# What a look costs, and figures of the kernel alone.
NOT_IN_THE_IMAGE = {"time", "duration_s", "reads", "read_bytes", "process", "targets", "parts", "remarks", "kernel", "cgroup", "verdict"}


def run(*arguments):
    done = subprocess.run([RECORDED, *[str(word) for word in arguments]], capture_output=True, text=True, check=False,
                          timeout=lab.PATIENCE)
    assert not done.returncode, done.stderr
    return done.stdout


def look(source):
    return json.loads(run("look", source))


def census(allocator, source):
    done = subprocess.run([allocators.CENSUS, allocator, str(source)], capture_output=True, text=True, check=True, timeout=lab.PATIENCE)
    # A page that the kernel moves meanwhile is read again.
    return {name: value for name, value in json.loads(done.stdout).items() if not name.endswith("_ns") and not name.startswith("read")}


def differences(live, recorded):
    return {name: (live[name], recorded.get(name)) for name in live if name not in NOT_IN_THE_IMAGE and live[name] != recorded.get(name)}


def purposes(report):
    return [{name: value for name, value in part.items() if name != "pss_bytes"} for part in report["parts"]]


def check_looks(pid, path):
    """Heaps, kinds with their holders, copies, runtimes with their classes; and the memory of each purpose. Returns the recorded one's."""
    live, recorded = look(pid), look(path)
    assert not differences(live, recorded), differences(live, recorded)
    assert purposes(live) == purposes(recorded), (live["parts"], recorded["parts"])
    return recorded


def check_allocator(allocator, program, preload=None):
    """The recorded census: the live one's in each figure, also of no more than the pages that censuses read; and the program's count."""
    filled = allocators.Filled(program, 3, 600, preload=preload)
    truth, live = filled.ask("stats"), census(allocator, filled.process.pid)
    with tempfile.TemporaryDirectory() as folder:
        for way in ("save", "trim"):
            path = os.path.join(folder, way)
            run(way, filled.process.pid, path)
            assert census(allocator, path) == live, (live, census(allocator, path))
        assert (live["blocks"], live["bytes"], live["remarks"]) == (truth["blocks"], truth["bytes"], ""), (truth, live)
        found = check_looks(filled.process.pid, os.path.join(folder, "save"))
    assert [heap["live_blocks"] for heap in found["malloc"]] == [live["live_blocks"]], (live, found["malloc"])
    lab.end_all()


def test_glibc():
    check_allocator("glibc", "filled")


def test_jemalloc():
    check_allocator("jemalloc", "filled", "libjemalloc.so.2")


def test_tcmalloc():
    check_allocator("tcmalloc", "filled", "libtcmalloc_minimal.so.4")


def test_mimalloc():
    check_allocator("mimalloc", "filled", "libmimalloc.so.2")


def test_musl():
    for program in lab.built("filled-musl", "filled-musl-static"):
        check_allocator("musl", program)


def check_runtime(pid):
    """Returns classes by name."""
    with tempfile.NamedTemporaryFile(prefix="recorded-") as file:
        run("save", pid, file.name)
        found = check_looks(pid, file.name)["objects"]
    assert len(found) == 1, found
    return found[0], {row["name"]: row for row in found[0]["classes"]}


def test_ruby():
    """Classes that the program has made, with their bytes as ObjectSpace has them; old objects and collections as GC.stat has them."""
    program = ruby.start()
    runtime, classes = check_runtime(program.pid)
    theirs = json.loads(program.ask("count"))
    ruby.check_classes(classes, theirs["bytes"])
    assert [runtime["minor_gcs"], runtime["major_gcs"]] == [theirs["stat"]["minor_gc_count"], theirs["stat"]["major_gc_count"]], theirs["stat"]
    assert sum(row["old"] for row in runtime["classes"]) == theirs["stat"]["old_objects"], theirs["stat"]
    lab.end_all()


def test_python():
    """Each class that the program has made, as gc counts it, and the ways to what holds them."""
    process = python.start()
    theirs = python.ask_truth(process)
    runtime, classes = check_runtime(process.pid)
    python.check_numbers(theirs, runtime, classes)
    python.check_holders(classes)
    lab.end_all()


if __name__ == "__main__":
    lab.run_tests()
