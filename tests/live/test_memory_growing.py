#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at heaps that grow meanwhile. Truth: what the program (tests/targets/growing.c) says of its live blocks right before and
right after each look. What is newer than the look is no damage, and the sentence about it is the only one."""
import json
import os
import re
import signal

import lab
from test_memory_allocators import find_library

LOOKS = 4
OTHERS = 30  # blocks of others, and three for each thread
GROWN = re.compile(r"(\w+: )?the heap has grown from [\d.]+ [KMG]iB to [\d.]+ [KMG]iB while it was walked: "
                   r"what is new is not in these figures")
# KiB per second, bytes of a block, threads (0 = the first one allocates).
GROWTHS = ((800, 1000, 0), (10240, 60, 0), (10240, 1000, 4), (102400, 60, 4), (102400, 200000, 0))


def ask(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def look(pid):
    status, output, errors = lab.run("memory", *lab.PATIENT, "-j", "-p", pid)
    assert status == 0 and not errors, (status, errors)
    return json.loads(output)


def check_looks(rate, size, threads, program="growing", preload=None, sentence=re.compile(".*")):
    environment = dict(os.environ, **({"LD_PRELOAD": find_library(preload)} if preload else {}))
    process = lab.start([lab.target(program), rate, size, threads], text=True, bufsize=1, env=environment)
    lab.wait_for(lambda: ask(process)["blocks"] > 4, "the first blocks")
    for _ in range(LOOKS):
        before, report, after = ask(process), look(process.pid), ask(process)
        heap = max(report["malloc"], key=lambda heap: heap["live_blocks"])
        least, most = before["blocks"], after["blocks"] + OTHERS + 3 * threads
        assert least <= heap["live_blocks"] <= most, (rate, size, threads, before, heap, after)
        assert heap["unknown_bytes"] == 0, (rate, size, threads, heap)
        assert all(sentence.fullmatch(remark) for remark in heap["remarks"]), (rate, size, threads, heap["remarks"])
    lab.end(process)


def test_glibc():
    for growth in GROWTHS:
        check_looks(*growth, sentence=GROWN)


def test_musl():
    if not os.path.exists(lab.target("growing-musl")):
        raise lab.Skip("growing-musl could not be built here")
    for growth in GROWTHS:
        check_looks(*growth, program="growing-musl")


def test_jemalloc():
    for growth in GROWTHS[:3]:
        check_looks(*growth, preload="libjemalloc.so.2")


def test_mimalloc():
    for growth in GROWTHS[:3]:
        check_looks(*growth, preload="libmimalloc.so.2")


def test_python():
    """Its large objects are blocks at the end of the heap, where it grows."""
    script = "import time\nkept = []\nwhile True:\n    kept.append(bytearray(2000))\n    time.sleep(.0005)"
    process = lab.start(["/usr/bin/python3", "-c", script])
    lab.wait_for(lambda: look(process.pid)["malloc"] and report_of_heap(process.pid)["live_bytes"] > 1 << 20, "a heap")
    for _ in range(LOOKS):
        heap = report_of_heap(process.pid)
        assert heap["unknown_bytes"] == 0, heap
        assert all(GROWN.fullmatch(remark) for remark in heap["remarks"]), heap["remarks"]
    os.kill(process.pid, signal.SIGKILL)


def report_of_heap(pid):
    return look(pid)["malloc"][0]


if __name__ == "__main__":
    lab.run_tests()
