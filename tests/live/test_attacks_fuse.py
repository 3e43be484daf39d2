#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that map a file whose FUSE server does not answer: the tracer gives it up, and others' figures are exact."""
import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile

import lab

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuse_server.py")
MNT_DETACH = 2


class Mount:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder + "/file"
        self.server = lab.start([sys.executable, SERVER, folder, lab.target("plugin.so")])
        if self.server.stdout.readline() != b"ready\n":
            raise lab.Skip("no FUSE here: %s" % self.server.stderr.read().decode().strip())

    def fall_silent(self):
        self.server.stdin.write(b"\n")
        self.server.stdin.flush()
        assert self.server.stdout.readline() == b"silent\n"


@contextlib.contextmanager
def mounts(count):
    """What waits for a server goes on when that one has ended."""
    folder = tempfile.mkdtemp(prefix="tracer-fuse-")
    made = []
    try:
        if not os.path.exists("/dev/fuse"):
            raise lab.Skip("no /dev/fuse")
        for i in range(count):
            os.mkdir("%s/%d" % (folder, i))
            made.append(Mount("%s/%d" % (folder, i)))
        yield made
    finally:
        for i in range(count):
            if i < len(made):
                lab.end(made[i].server)
            ctypes.CDLL(None).umount2(("%s/%d" % (folder, i)).encode(), MNT_DETACH)
        shutil.rmtree(folder)


def mapper(*paths):
    process = lab.start([lab.target("hostile"), "files", "0", *paths])
    assert process.stdout.readline() == b"ready\n", process.stderr.read()
    return process


def victim():
    process = lab.start([lab.target("blocks"), "1000", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the victim waits")
    return process


def check_report(tracer, process):
    """Reports come; the victim does its work, and the last report, at SIGINT, is right about it."""
    for _ in range(2):
        assert json.loads(tracer.process.stdout.readline())["targets"]
    process.stdin.write(b"go\n")
    process.stdin.flush()
    account = json.loads(process.stdout.readline())
    report = json.loads(tracer.stop().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    report["sites"] = [site for site in report["sites"] if site["pid"] == process.pid]
    assert lab.sums(report, {"site_block"}) == account, (account, lab.sums(report, {"site_block"}))
    return report


def check_silent(made, order):
    process, attacker = victim(), mapper(*[mount.file for mount in made])
    for mount in made:
        mount.fall_silent()
    pids = "%d,%d" % order(attacker.pid, process.pid)
    tracer = lab.Tracer("-j", "-n", "0", "-p", pids, "0.5")
    report = check_report(tracer, process)
    assert report["loss"]["files_unopened"] >= len(made), report["loss"]
    for mount in made:
        assert "the file system of %s does not answer" % mount.file in tracer.stderr(), tracer.stderr()
    lab.end(attacker)


def test_file_of_a_silent_server():
    for order in (lambda a, b: (a, b), lambda a, b: (b, a)):
        with mounts(1) as made:
            check_silent(made, order)


def test_files_of_several_silent_servers():
    with mounts(4) as made:
        check_silent(made, lambda a, b: (a, b))


def test_server_that_answers():
    with mounts(1) as made:
        process, attacker = victim(), mapper(made[0].file)
        tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (attacker.pid, process.pid), "0.5")
        report = check_report(tracer, process)
        assert report["loss"]["files_unopened"] == 0, report["loss"]
        assert "does not answer" not in tracer.stderr(), tracer.stderr()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
