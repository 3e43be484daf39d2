#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""The kernel's own memory: what files, sockets, pipes and mounts take, against the number that a process holds and /proc/slabinfo.

With -p the numbers of blocks are exact: nothing else allocates there for that process. A size of /proc/slabinfo (the fourth column) is
that of each block; its count of active objects is not exact, since the kernel counts all objects of the slabs that CPUs have at hand
as active, and other processes use the same cache. So counts of the whole machine are compared with it within a tenth of so many files
that such slabs make no difference."""
import json
import os
import re
import sqlite3
import sys
import tempfile

import lab

COUNT = 300
MANY = 15000
FILES = "alloc_empty_file|__alloc_file"  # the latter before Linux 6.5

# Holds what it is asked for, and says so: "files 10", "sockets 10", "pipes 10", "mounts 10", "close".
HOLDER = r"""
import ctypes, os, resource, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100000, 100000))
except (ValueError, OSError):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most[1], most[1]))
libc = ctypes.CDLL(None, use_errno=True)
page = os.sysconf("SC_PAGESIZE")
held, mounted = [], []
def mount(number):
    if not mounted:
        if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, 0x40000 | 0x4000, None):
            raise OSError(ctypes.get_errno(), "unshare")
        mounted.append(None)
    if libc.mount(b"/dev", b"/dev", None, 0x1000, None):
        raise OSError(ctypes.get_errno(), "mount")
    mounted.append(b"/dev")
print("ready", flush=True)
for line in sys.stdin:
    what, _, count = line.strip().partition(" ")
    for number in range(int(count or 0)):
        if what == "files":
            held.append(os.open("/dev/null", os.O_RDONLY))
        elif what == "sockets":
            held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).detach())
        elif what == "pipes":
            held.extend(os.pipe())
            os.write(held[-1], b"x" * page)
        elif what == "mounts":
            mount(number)
    if what == "close":
        while held:
            os.close(held.pop())
        while len(mounted) > 1:
            libc.umount2(mounted.pop(), 2)
    print("done", flush=True)
"""


class Holder:
    def __init__(self):
        self.process = lab.start([sys.executable, "-c", HOLDER], text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", what


def slab(name):
    """(active objects, bytes of each) of a cache in /proc/slabinfo."""
    with open("/proc/slabinfo", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] == name:
                return int(words[1]), int(words[3])
    raise lab.Skip("/proc/slabinfo has no %s" % name)


def held(report, function, source, allocator=None):
    """(blocks, bytes) in use at sites where this function has called the allocator."""
    blocks = size = 0
    for site in report["sites"]:
        if site["source"] != source or (allocator and site["function"] != allocator):
            continue
        if site["frames"] and re.match("(%s)" % function + r"(\.|$| \[)", site["frames"][0]["function"] or ""):
            assert {frame["kind"] for frame in site["frames"]} <= {"kernel"}, site
            blocks += site["inuse_objects"]
            size += site["inuse_bytes"]
    return blocks, size


def trace(*arguments):
    return lab.Tracer("--kernel", "-q", "-j", "-n", "0", *arguments, "3600")


def check_held(what, expected, *where):
    """Blocks of a site are as many as the holder has, and are none when it has closed them. Returns the bytes of each."""
    holder = Holder()
    holder.ask(what + " 1")
    tracer = trace("-p", holder.pid)
    before = held(tracer.report_now(), *where)
    holder.ask("%s %d" % (what, COUNT))
    report = tracer.report_now()
    blocks, size = held(report, *where)
    print("# %s: %d blocks, %d bytes at %s" % (what, blocks - before[0], size - before[1], where[0]))
    assert blocks - before[0] == expected, (where, before, blocks, report["loss"])
    holder.ask("close")
    # Frees are put off until all CPUs have passed by.
    lab.wait_for(lambda: held(tracer.report_now(), *where) == before, "what was held is freed")
    tracer.stop()
    return (size - before[1]) // expected


def test_files():
    assert check_held("files", COUNT, FILES, "kmem_cache") == slab("filp")[1]


def test_sockets():
    assert check_held("sockets", COUNT, "sock_alloc_inode", "kmem_cache") == slab("sock_inode_cache")[1]


def test_pipes():
    """A struct and its buffers, and a page that was written to each."""
    check_held("pipes", 2 * COUNT, "alloc_pipe_info", "kmalloc")


def test_pipe_pages():
    page = os.sysconf("SC_PAGESIZE")
    assert check_held("pipes", COUNT, "(anon_)?pipe_write|anon_pipe_get_page", "pages") == page


def test_percpu():
    """Each mount has a counter on each CPU."""
    size = check_held("mounts", COUNT, "alloc_vfsmnt", "percpu")
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as file:
        cpus = int(re.split("[-,]", file.read().strip())[-1]) + 1
    assert size % cpus == 0 and 4 <= size // cpus <= 64, (size, cpus)


def test_slabinfo():
    """Of the whole machine."""
    tracer, holder = trace(), Holder()
    before, active = held(tracer.report_now(), FILES, "kmem_cache")[0], slab("filp")[0]
    holder.ask("files %d" % MANY)
    report = tracer.report_now()
    grown, active = held(report, FILES, "kmem_cache")[0] - before, slab("filp")[0] - active
    print("# %d files: %d blocks, %d in /proc/slabinfo; loss %s" % (
        MANY, grown, active, {name: value for name, value in report["loss"].items() if value}))
    assert abs(grown - MANY) <= MANY / 10 and abs(grown - active) <= MANY / 10, (grown, active)
    assert report["loss"]["frees_unseen"] >= 1 and report["targets"][0]["comm"] == "kernel", report["targets"]
    assert {site["source"] for site in report["sites"]} <= {"kmalloc", "kmem_cache", "pages", "percpu"}
    # Where blocks of the slab allocator are is not counted once more.
    assert held(report, "allocate_slab|new_slab|___slab_alloc", "pages") == (0, 0)
    holder.ask("close")
    lab.wait_for(lambda: held(tracer.report_now(), FILES, "kmem_cache")[0] - before < MANY / 10,
                 "files are freed")
    tracer.stop()


def test_limits():
    """What finds no room is a loss; nothing is silent."""
    holder = Holder()
    tracer = trace("-p", holder.pid, "--max-blocks", 64, "--max-stacks", 16)
    holder.ask("files %d" % COUNT)
    report = tracer.report_now()
    blocks = sum(site["inuse_objects"] for site in report["sites"])
    assert 0 < blocks <= 64, (report["totals"], report["loss"], report["sites"])
    assert report["loss"]["blocks_full"] >= COUNT - 128, report["loss"]
    assert report["loss"]["bytes_unattributed"] >= report["loss"]["blocks_full"], report["loss"]
    tracer.stop()


def test_other_processes():
    """What others allocate takes no room with -p."""
    holder, other = Holder(), Holder()
    tracer = trace("-p", holder.pid, "--max-blocks", 2 * COUNT)
    other.ask("files %d" % (4 * COUNT))
    report = tracer.report_now()
    assert not report["loss"]["blocks_full"], report["loss"]
    assert held(report, FILES, "kmem_cache") == (0, 0), report["sites"]
    tracer.stop()


def test_sizes():
    """-z and -Z leave blocks out."""
    size = slab("filp")[1]
    holder = Holder()
    for arguments, expected in (("-z", size), COUNT), (("-z", size + 1), 0), (("-Z", size - 1), 0):
        tracer = trace("-p", holder.pid, *arguments)
        holder.ask("files %d" % COUNT)
        assert held(tracer.report_now(), FILES, "kmem_cache")[0] == expected, arguments
        tracer.stop()
        holder.ask("close")


def test_formats():
    """Text has offsets; folded stacks and JSON by schema 2 the names."""
    holder = Holder()
    outputs = {}
    for name, arguments in {"text": ("-v",), "folded": ("-f",), "json": ("-j", "--schema", 2)}.items():
        tracer = lab.Tracer("--kernel", "-p", holder.pid, "-n", "0", *arguments, "-d", "1h")
        holder.ask("files %d" % COUNT)
        outputs[name] = tracer.stop()
        holder.ask("close")
    assert re.search(r"alloc_empty_file(\.\w+)*\+0x[0-9a-f]+", outputs["text"]), outputs["text"]
    assert re.search(r";alloc_empty_file[^;]*;\S* \d+$", outputs["folded"], re.M), outputs["folded"]
    report = json.loads(outputs["json"])
    assert "alloc_empty_file" in report["strings"] and "kernel" in report["strings"], report["strings"]


def test_count_without_signals():
    """COUNT is of INTERVAL's: a report that a signal asks for is an extra one."""
    tracer = lab.Tracer("--kernel", "-p", Holder().pid, "-j", "3", "2")
    tracer.report_now()
    tracer.report_now()
    assert len(tracer.finish().splitlines()) == 2 and tracer.process.returncode == 0, tracer.stderr()


def test_recording():
    """A recording has what a report has, and its moments differ by what was opened between them."""
    holder = Holder()
    with tempfile.TemporaryDirectory(prefix="tracer-test-") as folder:
        path = os.path.join(folder, "x.db")
        tracer = lab.Tracer("record", "--kernel", "-p", holder.pid, "-o", path, "1h")
        tracer.process.send_signal(lab.signal.SIGUSR2)
        lab.wait_for(lambda: "mark 'm1' is set" in tracer.stderr(), "the first mark")
        holder.ask("files %d" % COUNT)
        tracer.process.send_signal(lab.signal.SIGUSR2)
        lab.wait_for(lambda: "mark 'm2' is set" in tracer.stderr(), "the second mark")
        tracer.stop()
        report = json.loads(lab.run("report", path, "-j", "-n", "0")[1])
        assert held(report, FILES, "kmem_cache")[0] >= COUNT, report
        _, output, errors = lab.run("diff", path + "@m1", path + "@m2", "-j")
        rows = json.loads(output)
        assert any(frame["function"].startswith("alloc_empty_file") for row in rows["sites"] for frame in row["frames"]
                   if frame["function"]), (output, errors)
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_refusals():
    """What has no meaning for the kernel's memory is refused, and so is who may not see it."""
    for arguments, word in ((("--light",), "--light"), (("--", "true"), "CMD"), (("-a",), "--all"),
                            (("--budget",), "--budget"), (("--by", "thread"), "--by"),
                            (("--when-rss", "1g"), "--when-rss"), (("--comm", "x"), "select")):
        status, _, errors = lab.run("--kernel", *arguments)
        assert status == 2 and word in errors, (arguments, status, errors)
    status, _, errors = lab.run("--kernel", "-p", "4194303", "-d", "1")
    assert status == 4 and "4194303" in errors, (status, errors)


def test_nothing_is_left():
    """No program and no map outlives the tracer, however it ends."""
    holder = Holder()
    for number in lab.signal.SIGINT, lab.signal.SIGKILL:
        tracer = trace("-p", holder.pid)
        programs = lab.programs_of(tracer.process.pid)
        assert len(programs) >= 8, programs
        tracer.process.send_signal(number)
        tracer.process.wait(timeout=lab.PATIENCE)
        lab.wait_for(lambda: lab.are_gone(programs), "the programs are gone")


lab.run_tests()
