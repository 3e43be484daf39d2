#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Censuses of allocators that are not glibc's, of a program that keeps its own account of its live blocks (tests/targets/filled.c).
Each of its blocks is found by what it begins with, so that these are the same blocks and not only as many. What else is in
use is the allocator's, the C library's and the loader's; the sum is compared with the allocator's own figure."""
import json
import os
import subprocess

import lab

CENSUS = os.path.join(lab.TOP, "build/tests/live/census")
BLOCKS = {1: 3000, 4: 2000, 16: 500}  # that each thread allocates, by their number; it keeps half of them
OTHERS = 6  # blocks of others, at most, and three for each thread


class Filled:
    """`inside`: where the program is in a root, behind what runs it there; then `preload` is a path in it."""

    def __init__(self, program, threads, blocks=None, preload=None, inside=None):
        path = lab.target(program)
        if not inside and not os.path.exists(path):
            raise lab.Skip("%s could not be built here" % program)
        environment = dict(os.environ)
        if preload and not inside:
            environment["LD_PRELOAD"] = find_library(preload)
        command = [*inside[:-1], "LD_PRELOAD=" + (preload or ""), inside[-1]] if inside else [path]
        self.process = lab.start([*command, threads, blocks or BLOCKS.get(threads, 1000)], text=True, bufsize=1, env=environment)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, "the program ended: %s" % self.process.stderr.read()
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def census(self, allocator):
        done = subprocess.run([CENSUS, allocator, str(self.process.pid)], capture_output=True, text=True, check=True,
                              timeout=lab.PATIENCE)
        return json.loads(done.stdout)

    def resident(self, field="Rss"):
        with open("/proc/%d/smaps_rollup" % self.process.pid, encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(field + ":")) * 1024


def find_library(name):
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        if line.split() and line.split()[0] == name:
            return line.split()[-1]
    raise lab.Skip("%s is not installed" % name)


def check_quiet(filled, allocator, threads, unclaimed=300000):
    """The same blocks as the program has, to the byte; nothing that is not understood; no page brought in."""
    truth, before = filled.ask("stats"), filled.resident()
    found, after = filled.census(allocator), filled.resident()
    assert found["find"] == 0 and found["walk"] == 0, found
    assert found["remarks"] == "" and found["unknown_bytes"] == 0 and found["resyncs"] == 0, found
    assert (found["blocks"], found["bytes"], found["too_small"]) == (truth["blocks"], truth["bytes"], 0), (truth, found)
    assert found["all"] == found["live_blocks"] and found["all_bytes"] == found["live_bytes"], found
    assert 0 <= found["live_blocks"] - truth["blocks"] <= OTHERS + 3 * threads, (truth, found)
    # The kernel may take pages of files back at any time.
    assert after - before < 500000, (before, after)
    # What is neither claimed nor a module's: descriptors and stacks of threads.
    assert found["unclaimed_rss"] < unclaimed + 60000 * threads, found
    return truth, found


def check_returned(filled, found):
    """Without pages of files: a purge runs code that may be mapped only then."""
    before = filled.resident("Anonymous")
    filled.ask("purge")
    after = filled.resident("Anonymous")
    assert abs(before - after - found["trim_bytes"]) <= 2 * 4096, (before, after, found["trim_bytes"])


def check_jemalloc(filled, threads, version="5.3"):
    """stats.allocated counts blocks in threads' caches as in use; a purge returns what is predicted, to the page."""
    truth, found = check_quiet(filled, "jemalloc", threads)
    assert found["version"] == version and found["threads"] == threads + 1, found
    assert found["live_bytes"] == truth["allocated"] - truth["tcache"], (truth, found)
    check_returned(filled, found)


def check_busy(filled, allocator):
    """Within 5 % of what the program has before and after, or with a remark."""
    filled.ask("churn")
    for _ in range(3):
        before, found, after = filled.ask("stats"), filled.census(allocator), filled.ask("stats")
        assert found["find"] == 0 and found["walk"] == 0, found
        low, high = sorted((before["blocks"], after["blocks"]))
        within = low * 0.95 <= found["live_blocks"] <= high * 1.05 + OTHERS
        assert within or found["remarks"], (before, found, after)
        assert found["all"] == (0 if found["counts_only"] else found["live_blocks"]), found
    filled.ask("calm")


def test_jemalloc_preloaded():
    for threads in (1, 4, 16):
        check_jemalloc(Filled("filled", threads, preload="libjemalloc.so.2"), threads)
        lab.end_all()


def test_jemalloc_linked():
    check_jemalloc(Filled("filled-jemalloc", 4), 4)


def test_jemalloc_static_stripped():
    check_jemalloc(Filled("filled-jemalloc-static", 4), 4)


def test_jemalloc_busy():
    check_busy(Filled("filled-jemalloc", 2, 8000), "jemalloc")


def check_musl(filled, threads):
    """musl's figure is what the program asked for, so the sums are equal as they are."""
    truth, found = check_quiet(filled, "musl", threads)
    assert found["live_bytes"] - truth["bytes"] < 4096, (truth, found)


def test_musl():
    for program in ("filled-musl", "filled-musl-static"):
        for threads in (1, 4, 16):
            check_musl(Filled(program, threads), threads)
            lab.end_all()


def test_musl_busy():
    check_busy(Filled("filled-musl-static", 2, 8000), "musl")


def check_mimalloc(filled, threads):
    """Blocks are the program's, a buffer of the C library's, and what the loader has for each thread."""
    truth, found = check_quiet(filled, "mimalloc", threads)
    assert found["live_blocks"] - truth["blocks"] <= 1 + threads, (truth, found)


def test_mimalloc():
    for threads in (1, 4, 16):
        check_mimalloc(Filled("filled", threads, preload="libmimalloc.so.2"), threads)
        lab.end_all()
    check_quiet(Filled("filled-mimalloc", 4), "mimalloc", 4)


def test_mimalloc_busy():
    check_busy(Filled("filled-mimalloc", 2, 8000), "mimalloc")


def check_tcmalloc(filled, threads):
    """generic.current_allocated_bytes leaves out what is in caches; ReleaseFreeMemory returns what is predicted."""
    truth, found = check_quiet(filled, "tcmalloc", threads, unclaimed=3000000)
    assert not found["counts_only"] and found["live_bytes"] == truth["allocated"], (truth, found)
    check_returned(filled, found)


def test_tcmalloc():
    for program, threads, preload in (("filled", 1, "libtcmalloc_minimal.so.4"), ("filled", 16, "libtcmalloc_minimal.so.4"),
                                      ("filled", 4, "libtcmalloc.so.4"), ("filled-tcmalloc", 4, None),
                                      ("filled-tcmalloc-static", 4, None)):
        check_tcmalloc(Filled(program, threads, preload=preload), threads)
        lab.end_all()


def test_tcmalloc_busy():
    """Its lists cannot be followed then: blocks are counted, and none is named."""
    filled = Filled("filled-tcmalloc", 2, 8000)
    check_busy(filled, "tcmalloc")
    found = filled.census("tcmalloc")
    assert not found["counts_only"] and found["remarks"] == "", found


def test_none():
    """None of them is found in a program that has glibc's."""
    filled = Filled("filled", 2)
    for allocator in ("jemalloc", "tcmalloc", "mimalloc", "musl"):
        assert filled.census(allocator)["find"] < 0, allocator


if __name__ == "__main__":
    lab.run_tests()
