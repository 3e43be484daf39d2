#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Open files of a process, as reports have them; the truth is the folder of its descriptors."""
import json
import os
import sys

import lab

# Opens as many files as it reads, or, below 0, closes them.
OPENER = """
import os, sys
for line in sys.stdin:
    n = int(line)
    while n:
        if n > 0: os.open("/dev/null", os.O_RDONLY)
        else: os.close(max(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + fd)))
        n -= 1 if n > 0 else -1
    print("done", flush=True)
"""


def ask(process, count):
    process.stdin.write(b"%d\n" % count)
    process.stdin.flush()
    assert process.stdout.readline() == b"done\n"
    return len(os.listdir("/proc/%d/fd" % process.pid))


def figures(tracer):
    target = tracer.report_now()["targets"][0]
    return target["open_files_at_attach"], target["open_files"]


def test_files_that_grow():
    process = lab.start([sys.executable, "-c", OPENER])
    before = ask(process, 3)
    tracer = lab.Tracer("-q", "-j", "-p", process.pid, "3600")
    text = lab.Tracer("-q", "-p", process.pid, "3600")
    assert figures(tracer) == (before, before)
    after = ask(process, 40)
    assert after == before + 40
    assert figures(tracer) == (before, after)
    words = "open files: %d, 40 more than at the attach" % after
    output = text.stop()
    assert words in output, output
    assert ask(process, -41) == before - 1
    assert figures(tracer) == (before, before - 1)
    # Of one that has ended, what it had last.
    process.kill()
    target = json.loads(tracer.finish().splitlines()[-1])["targets"][0]
    assert target["exited"] and target["open_files"] == before - 1, target


lab.run_tests()
