#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What ended programs held and had freed stays in the report with --keep-exited, whatever comes after them."""
import json
import os

import lab

# Maps an allocator after each line.
OPENS = """
import ctypes, sys
for library in sys.argv[1:]:
    sys.stdin.readline()
    ctypes.CDLL(library)
sys.stdin.readline()
"""
LIBRARIES = ("libstdc++.so.6", "libtbbmalloc.so.2", "libmimalloc.so.2.0")


def report_now(tracer):
    """The next report, which is written when asked for."""
    tracer.process.send_signal(lab.signal.SIGUSR1)
    return json.loads(tracer.process.stdout.readline())


class Pair:
    """A program that ends, and one that goes on, under one tracer."""

    def __init__(self):
        self.first = lab.start([lab.target("known"), "calls", "wait"])
        self.second = lab.start([lab.need("python3"), "-c", OPENS, *LIBRARIES])
        for process in (self.first, self.second):
            lab.wait_for(lambda process=process: lab.is_reading(process), "the target waits")
        # What the tracer has given back reads as nonsense.
        self.tracer = lab.Tracer("-v", "-j", "-n", "0", "--keep-exited", "-p",
                                 "%d,%d" % (self.first.pid, self.second.pid), "3600",
                                 env={**os.environ, "MALLOC_PERTURB_": "165"})

    def work(self):
        """The first one's own account."""
        return lab.work(self.first)

    def end_first(self):
        self.first.stdin.close()
        lab.wait_for(lambda: self.first.poll() is not None, "the target ends")
        lab.wait_for(lambda: self.sums()["exited"], "the end is noticed")

    def sums(self):
        return [target for target in report_now(self.tracer)["targets"] if target["pid"] == self.first.pid][0]


def in_use(figures):
    return figures[0] - figures[2], figures[1] - figures[3]


def test_sums_are_whole():
    pair = Pair()
    account = pair.work()
    before = pair.sums()
    pair.end_first()
    after = pair.sums()
    for figure in ("alloc_bytes", "alloc_objects"):
        assert after[figure] == before[figure], (figure, before, after)
    for figure in ("free_bytes", "free_objects"):
        assert after[figure] >= before[figure], (figure, before, after)
    report = json.loads(pair.tracer.stop().splitlines()[-1])
    lab.check_sums(report)
    # What held nothing is one row without a function.
    rest = [site for site in report["sites"] if site["ended"] and not site["inuse_objects"]]
    assert rest and all(site["function"] is None and not site["frames"] for site in rest), rest
    held = {name: in_use(figures) for name, figures in account.items() if figures[1] > figures[3]}
    ended = [site for site in report["sites"] if site["ended"] and site["function"]]
    assert {name: in_use(figures) for name, figures in lab.sums({"sites": ended}, set(held)).items()} == held


def test_functions_have_names():
    pair = Pair()
    pair.work()
    pair.end_first()
    for library in LIBRARIES:
        lab.release(pair.second)
        lab.wait_for(lambda name=library: name in pair.tracer.stderr(), "the library is probed")
    ended = [site for site in report_now(pair.tracer)["sites"] if site["ended"] and site["inuse_objects"]]
    assert ended
    for site in ended:
        assert (site["allocator"], site["source"]) in (("glibc", "heap"), ("glibc", "mmap")), site
        assert site["function"] in ("malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc",
                                    "memalign", "valloc", "pvalloc", "mmap", "mremap"), site


lab.run_tests()
