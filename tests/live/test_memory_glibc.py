#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The census of glibc's malloc, of a program that keeps its own account (tests/targets/chunks.c). Its blocks are found by what they
begin with. Totals are compared with mallinfo2, what malloc_trim would return with what it does return, by the kernel's count."""
import json
import os
import subprocess

import lab

CENSUS = os.path.join(lab.TOP, "build/tests/live/census")
PAGE = 4096


class Chunks:
    """`inside`: where the program is in a root, behind what runs it there."""

    def __init__(self, shape, threads, blocks, program="chunks", inside=None):
        path = lab.target(program)
        if not inside and not os.path.exists(path):
            raise lab.Skip("%s could not be built here" % program)
        self.process = lab.start([*(inside or [path]), shape, threads, blocks], text=True, bufsize=1)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, "the program ended: %s" % self.process.stderr.read()
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def census(self):
        done = subprocess.run([CENSUS, "glibc", str(self.process.pid)], capture_output=True, text=True, check=True,
                              timeout=lab.PATIENCE)
        return json.loads(done.stdout)


def check_quiet(chunks, threads):
    truth, found = chunks.ask("stats"), chunks.census()
    assert found["find"] == 0 and found["walk"] == 0, found
    assert found["remarks"] == "" and found["unknown_bytes"] == 0 and found["resyncs"] == 0, found
    assert (found["blocks"], found["bytes"], found["too_small"]) == (truth["blocks"], truth["bytes"], 0), (truth, found)
    assert found["all"] == found["live_blocks"] and found["all_bytes"] == found["live_bytes"], found
    # The program's array of blocks for each thread, and what the C library has for a thread.
    assert 0 <= found["live_blocks"] - truth["blocks"] <= 4 * threads + 6, (truth, found)
    # mallinfo2 counts blocks in threads' caches as in use.
    cached = found["thread_caches_resident"]
    assert found["free_bytes"] - cached == truth["fordblks"], (truth, found)
    assert found["live_bytes"] + found["overhead_bytes"] + cached == truth["uordblks"] + truth["hblkhd"], (truth, found)
    assert found["fast_resident"] == truth["fsmblks"] and found["mapped_blocks"] == truth["hblks"], (truth, found)
    assert found["threads"] == threads, found
    return found


def check_trim(shape, threads, blocks, program="chunks", inside=None):
    chunks = Chunks(shape, threads, blocks, program, inside)
    found = check_quiet(chunks, threads)
    returned = chunks.ask("trim")["returned"]
    assert abs(found["trim_bytes"] - returned) <= 2 * PAGE, (found, returned)
    # What is left is as well understood.
    check_quiet(chunks, threads)
    return chunks


def test_mixed():
    check_trim("mixed", 1, 10000)
    check_trim("mixed", 5, 5000)


def test_small():
    check_trim("small", 4, 20000)


def test_tail():
    check_trim("tail", 1, 20000)
    check_trim("tail", 3, 10000)


def test_aligned():
    check_trim("aligned", 3, 5000)


def test_static_without_symbols():
    check_trim("mixed", 3, 10000, "chunks-static")


def check_busy(shape):
    """Within 5 % of what the program has before and after, or with a remark; exact again when it is quiet."""
    chunks = Chunks(shape, 3, 20000)
    chunks.ask("churn")
    for _ in range(4):
        before, found, after = chunks.ask("stats"), chunks.census(), chunks.ask("stats")
        assert found["find"] == 0 and found["walk"] == 0, found
        low, high = sorted((before["blocks"], after["blocks"]))
        within = low * 0.95 <= found["live_blocks"] <= high * 1.05 + 20
        assert within or found["remarks"], (before, found, after)
    chunks.ask("churn")
    check_quiet(chunks, 3)


def test_busy():
    check_busy("mixed")
    check_busy("small")


if __name__ == "__main__":
    lab.run_tests()
