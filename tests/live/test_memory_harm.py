#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Looking at memory changes nothing of it. Truth: what the kernel counts of the processes before and after (smaps_rollup, status)."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

READER = os.path.join(os.path.dirname(lab.TRACER), "tests/live/image_read")
CHILDREN = 3
# A parent with 48 MB of memory of all kinds: touched, never touched, and small objects; its children wait in one call for ever.
GROUP = """
import mmap, os, signal, sys
touched = bytearray(b"x" * (32 << 20))
never = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
objects = [{"number": number} for number in range(60000)]
pids = [os.getpid()]
for _ in range(%d):
    pid = os.fork()
    if not pid:
        signal.pause()
    pids.append(pid)
print(*pids, flush=True)
sys.stdin.read()
""" % CHILDREN


def figure(pid, name, key):
    with open("/proc/%d/%s" % (pid, name), encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    raise AssertionError("/proc/%d/%s lacks %s" % (pid, name, key))


def waits(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"


def figures(pids):
    # Pages of files may be shared with any other process.
    return {"pss": sum(figure(pid, "smaps_rollup", "Pss_Anon") for pid in pids),
            "rss": [figure(pid, "status", "VmRSS") for pid in pids],
            "swap": [figure(pid, "status", "VmSwap") for pid in pids],
            "switches": [figure(pid, "status", "voluntary_ctxt_switches") +
                         figure(pid, "status", "nonvoluntary_ctxt_switches") for pid in pids[1:]]}


def group():
    process = lab.start([sys.executable, "-c", GROUP], text=True)
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == CHILDREN + 1
    lab.wait_for(lambda: all(waits(pid) for pid in pids), "the group waits")
    return process, pids


def check_unchanged(before, after):
    assert abs(after["pss"] - before["pss"]) < before["pss"] / 100, (before, after)
    for old, new in zip(before["rss"], after["rss"]):
        assert new - old < 512, "RSS grew by %d kB" % (new - old)
    assert before["swap"] == after["swap"]
    # Who was stopped, or whose call was interrupted, has run.
    assert before["switches"] == after["switches"], (before, after)


def finish(process, pids):
    for pid in pids[1:]:
        os.kill(pid, signal.SIGKILL)
    lab.end(process)


def test_read_whole():
    process, pids = group()
    try:
        before = figures(pids)
        result = subprocess.run([READER, str(pids[1])], check=True, capture_output=True, text=True)
        answer = json.loads(result.stdout)
        check_unchanged(before, figures(pids))
        # All of its memory was read: it has more than 40 MB.
        assert answer["bytes"] > answer["present"] > 40 << 20, answer
    finally:
        finish(process, pids)


def test_look():
    process, pids = group()
    try:
        before = figures(pids)
        for pid in pids[:2]:
            status, output, errors = lab.run("memory", *lab.PATIENT, "-p", pid, "-j")
            assert status == 0, errors
            assert json.loads(output)
        check_unchanged(before, figures(pids))
    finally:
        finish(process, pids)


def test_allocators():
    """Of each allocator: no page is brought in by all that a look can look at."""
    for program in lab.built("filled", "filled-jemalloc", "filled-tcmalloc", "filled-mimalloc", "filled-musl"):
        process = lab.start([lab.target(program), 2, 1000])
        assert process.stdout.readline(), program
        before = figure(process.pid, "status", "VmRSS")
        status, output, errors = lab.run("memory", *lab.PATIENT, "-j", "--objects", "--holders", "--thp", "-p", process.pid)
        grown = figure(process.pid, "status", "VmRSS") - before
        assert status == 0, errors
        report = json.loads(output)
        assert report["malloc"] and report["malloc"][0]["live_blocks"] > 800, (program, report["malloc"])
        assert grown < 512, "%s: RSS grew by %d kB" % (program, grown)
        lab.end(process)


SWAPPED = """
import ctypes, mmap, sys
SIZE = 16 << 20
pages = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
pages.write(bytes(range(256)) * (SIZE // 256))
address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
MADV_PAGEOUT = 21
assert ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(SIZE), MADV_PAGEOUT) == 0
print("ready", flush=True)
sys.stdin.read()
"""


class Swap:
    """A file of 64 MB to swap to, as long as it is needed."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.path = os.path.join(self.folder.name, "swap").encode()

    def __enter__(self):
        with open(self.path, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            os.posix_fallocate(file.fileno(), 0, 64 << 20)
        if subprocess.run(["mkswap", self.path], capture_output=True, check=False).returncode or ctypes.CDLL(None).swapon(self.path, 0):
            self.folder.cleanup()
            raise lab.Skip("nothing can be swapped out here")

    def __exit__(self, *_):
        lab.end_all()
        ctypes.CDLL(None).swapoff(self.path)
        self.folder.cleanup()


def test_swapped():
    """What is swapped out stays there, and is a part's share of VmSwap."""
    with Swap():
        process = lab.start([sys.executable, "-c", SWAPPED])
        assert process.stdout.readline() == b"ready\n"
        before = figure(process.pid, "status", "VmSwap")
        if before < 8 << 10:
            raise lab.Skip("the kernel swaps nothing out when it is asked to")
        status, output, errors = lab.run("memory", *lab.PATIENT, "-j", "--objects", "--holders", "--thp", "-p", process.pid)
        assert status == 0, errors
        # The kernel may swap out more, while the file is there.
        after = figure(process.pid, "status", "VmSwap")
        report = json.loads(output)
        swapped = sum(row["swap_bytes"] for row in report["parts"])
        for found in (swapped, report["process"]["swap_bytes"]):
            assert before << 10 <= found <= after << 10, (before, found, after, report["process"])
        assert any(row["cause"] == "swap" for row in report["verdict"]), report["verdict"]


lab.run_tests()
