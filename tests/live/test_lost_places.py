#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks`: places in which the only pointers to blocks are. What is read has none lost; what is not read is said, and nothing is
certain then. Truth: tests/targets/leak_places.c has lost no block of its 1,000."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402
from fuse import mounts  # noqa: E402

COUNT = 1000


def look(*command):
    """What is said of a process at rest: its report, and the text."""
    process = lab.start(command, text=True)
    line = process.stdout.readline()
    if line != "placed\n":
        raise lab.Skip("cannot be mapped here: %s" % process.stderr.read().strip())
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads wait")
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", process.pid)
    assert status in (0, 1), (status, errors)
    report = json.loads(output)
    assert status == (report["lost"]["definite"]["blocks"] > 0) and report["evidence"] == "quiet", (status, report)
    text = lab.run("leaks", *lab.PATIENT, "-q", "-p", process.pid)[1]
    lab.end(process)
    return report, " ".join(text.split())


def check_held(*command):
    report, text = look(*command)
    assert report["lost"]["definite"]["blocks"] == 0 and report["certain"] and not report["unread_bytes"], (report["lost"], report["remarks"])
    assert "definitely lost 0 blocks" in text, text


def check_unread(least, name, *command):
    """Blocks may be called lost, but not for certain, and the report has what was not read."""
    report, text = look(*command)
    assert not report["certain"] and report["unread_bytes"] >= least, report
    assert any("may hold pointers" in remark and name in remark for remark in report["remarks"]), report["remarks"]
    assert "probably lost" in text and "definitely" not in text and "may hold pointers" in text, text


@contextlib.contextmanager
def file_of(size):
    """Of a disk: what is in memory only does not show when it has changed."""
    with tempfile.NamedTemporaryFile(prefix="tracer-places-", dir=os.path.dirname(lab.TRACER)) as file:
        file.truncate(size)
        yield file.name


def test_static_data():
    check_held(lab.target("leak_places"), "static")


def test_zeroes():
    """A private mapping of /dev/zero is anonymous memory, whether it can be written still or not."""
    for how in ("private", "dropped"):
        check_held(lab.target("leak_places"), how, "/dev/zero")


def test_files():
    for how in ("private", "dropped", "shared"):
        with file_of(65536) as path:
            check_held(lab.target("leak_places"), how, path)


def test_shared_file_that_is_not_in_the_page_table():
    """What the process wrote is in the file, and its mapping of that can only be read."""
    with file_of(65536) as path:
        check_unread(COUNT * 8, os.path.basename(path)[:12], lab.target("leak_places"), "closed", path)


def test_servers():
    """Data of a program, and own pages of a file, on FUSE: where the server lets others in, and where the tracer, which is a user of its own by
    then, cannot look at the file."""
    for how in ("shared", "private"):
        with mounts(1, "leak_places", 0, how) as made:
            check_held(made[0].file, "static")
            check_held(lab.target("leak_places"), "private", made[0].file)


def test_block_device():
    losetup = lab.need("losetup")
    with file_of(1 << 20) as path:
        made = subprocess.run([losetup, "--find", "--show", path], capture_output=True, text=True, check=False)
        if made.returncode:
            raise lab.Skip("no loop device can be made: %s" % made.stderr.strip())
        device = made.stdout.strip()
        try:
            check_held(lab.target("leak_places"), "private", device)
            check_unread(COUNT * 8, device, lab.target("leak_places"), "shared", device)
        finally:
            subprocess.run([losetup, "--detach", device], check=True)


def test_addresses_that_the_kernel_has():
    """Requests and queued signals are not shown: what they have may be called lost, but not for certain, and why is said."""
    for where, what in (("flight", "io_uring"), ("aio", "aio"), ("signals", "signals")):
        report, text = look(lab.target("leak_kernel"), where)
        assert report["kernel_unread"] and not report["certain"], (where, report)
        assert any(what in remark and "may hold pointers" in remark for remark in report["remarks"]), (where, report["remarks"])
        assert "probably lost" in text and "definitely" not in text and what in text, text


def test_completions_of_a_ring():
    """What waits in io_uring's ring is read there: the ring is memory of the process."""
    report, text = look(lab.target("leak_kernel"), "done")
    assert report["lost"]["definite"]["blocks"] == 0 and report["roots"]["shared"]["blocks"] == 100, report["roots"]
    assert report["kernel_unread"] and not report["unread_bytes"] and not report["certain"] and "io_uring" in text, report


def test_alternate_signal_stack():
    """Only the kernel has its address, and shows it, where it shows registers. Truth: the program's other blocks are the C library's."""
    report, _ = look(lab.target("leak_kernel"), "stack")
    assert report["has_registers"] and report["certain"] and not report["kernel_unread"], report
    assert report["lost"]["definite"]["blocks"] == 0 and report["roots"]["kernel"] == {"blocks": 1, "bytes": 65544}, report["roots"]


def test_nothing_that_the_kernel_has():
    report, text = look(lab.target("leak_kernel"), "nothing")
    assert report["certain"] and not report["kernel_unread"] and not report["remarks"], report


lab.run_tests()
