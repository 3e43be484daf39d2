#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks` with other allocators, whose own records of blocks must not keep lost ones. Truth: the program loses 100 blocks of each of four
sizes, and keeps as many (tests/targets/leak_sizes.c)."""
import collections
import ctypes.util
import json
import os

import lab

SIZES = (1111, 7001, 20000, 300000)
EACH = 100


def found_in(program, preload=None):
    """Lost blocks by the size that was asked for; an allocator gives up to half as much more."""
    environment = dict(os.environ, LD_PRELOAD=preload) if preload else None
    process = lab.start([lab.target(program)], text=True, env=environment)
    assert process.stdout.readline() == "lost\n", lab.end(process)[1]
    lab.wait_for(lambda: lab.is_reading(process), "it waits")
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", process.pid)
    assert status == 1, (status, errors)
    found = collections.Counter()
    for group in json.loads(output)["groups"]:
        sizes = [size for size in SIZES if size <= group["size"] <= size * 1.5]
        if group["kind"] == "definite" and sizes:
            found[sizes[0]] += group["blocks"] + group["indirect_blocks"]
    return found


def check(least, program="leak_sizes", preload=None):
    """So many of 400 are found at least, and none that is kept."""
    if preload:
        preload = ctypes.util.find_library(preload)
        if not preload:
            raise lab.Skip("the allocator is not installed")
    found = found_in(program, preload)
    assert sum(found.values()) >= least and max(found.values()) <= EACH, found


def check_once(least, preload):
    """A single block of each of 20 sizes: so many are lost, and no other block is."""
    path = ctypes.util.find_library(preload)
    if not path:
        raise lab.Skip("the allocator is not installed")
    process = lab.start([lab.target("leak_sizes"), "once"], text=True, env=dict(os.environ, LD_PRELOAD=path))
    assert process.stdout.readline() == "lost\n", lab.end(process)[1]
    lab.wait_for(lambda: lab.is_reading(process), "it waits")
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-n", "0", "-p", process.pid)
    report = json.loads(output)
    sizes = [200 + 171 * number for number in range(20)]
    # The allocator of gperftools loses a small object itself.
    groups = [group for group in report["groups"] if group["size"] >= sizes[0]]
    assert status == 1 and least <= sum(group["blocks"] for group in groups) <= 20, (errors, report["groups"])
    for group in groups:
        assert group["blocks"] <= sum(group["size"] / 1.5 <= size <= group["size"] for size in sizes), group


def test_single_blocks_of_jemalloc():
    """A thread's cache, from which each of them has come, has their addresses still: such words lead nowhere."""
    check_once(18, "jemalloc")


def test_single_blocks_of_tcmalloc():
    check_once(18, "tcmalloc_minimal")


def test_single_blocks_of_mimalloc():
    check_once(18, "mimalloc")


def test_glibc():
    check(396)


def test_jemalloc():
    """Stale words in its own structures hide some of the small ones."""
    check(340, preload="jemalloc")


def test_tcmalloc():
    check(396, preload="tcmalloc_minimal")


def check_at_work(program, truth, looks, *arguments):
    """Lost blocks by size and those lost through them, in each of so many looks: nothing else, and no row is missing."""
    path = ctypes.util.find_library("tcmalloc_minimal")
    if not path:
        raise lab.Skip("the allocator is not installed")
    process = lab.start([lab.target(program), *arguments], text=True, env=dict(os.environ, LD_PRELOAD=path))
    assert process.stdout.readline() == "at work\n", lab.end(process)[1]
    for _ in range(looks):
        status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-n", "0", "-p", process.pid)
        assert status == 1, (status, errors)
        report = json.loads(output)
        found = {group["size"]: group["blocks"] + group["indirect_blocks"] for group in report["groups"]
                 if group["kind"] == "definite" and group["size"] > 8}
        assert not report["certain"] and set(found) <= set(truth), report["groups"]
        for size, (least, blocks) in truth.items():
            assert least <= found.get(size, 0) <= blocks, (size, report["groups"], report["remarks"])
    lab.end(process)


def test_tcmalloc_at_work():
    """Two threads allocate and free all the time, also each other's blocks, of one of the sizes that are lost."""
    truth = {5120: (49, 50), 20480: (49, 50), 303104: (49, 50), 144: (0, 50)}
    for rate in (2000, 50000, 0):
        check_at_work("leak_work", truth, 2, rate)


def test_tcmalloc_in_motion():
    """What is about to be freed is in a register alone; blocks change lists."""
    check_at_work("leak_motion", {3072: (24, 24)}, 2, "hands")
    check_at_work("leak_motion", {3072: (24, 24)}, 1)


def test_mimalloc():
    check(396, preload="mimalloc")


def test_musl():
    check(396, *lab.built("leak_sizes-musl"))


lab.run_tests()
