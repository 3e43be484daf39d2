#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""On a terminal, what takes long shows how far it is, and wipes that out before the report; nobody else sees it. How memory does is in
test_memory.py."""
import os
import signal

import lab

WIPED = b"\r\x1b[K"


def read(master):
    try:
        return os.read(master, 4096)
    except OSError:  # nobody has the other end any more
        return b""


def watch(wanted, *arguments):
    """Run the tracer until its messages, on a terminal, have a text; then ask for its end. Returns all of them."""
    master, slave = os.openpty()
    tracer = lab.start([lab.TRACER, *arguments], stderr=slave)
    os.close(slave)
    written = b""
    while wanted not in written:
        more = read(master)
        assert more, written
        written += more
    tracer.send_signal(signal.SIGINT)
    while True:
        more = read(master)
        if not more:
            break
        written += more
    output, _ = tracer.communicate(timeout=lab.PATIENCE)
    os.close(master)
    return written, output


def check_wiped(written, text):
    after = written[written.rindex(text):]
    assert WIPED in after, written
    assert text not in after[after.index(WIPED):], written


def test_duration():
    process = lab.start(["sleep", "600"])
    written, output = watch(b"traced for", "-p", process.pid, "-d", "10m")
    assert b" of 10m00s" in written and b"Leak approximation summary" in output, (written, output)
    check_wiped(written, b"traced for")


def test_leaks():
    """A process that never rests has several passes, which take longer than a second where it has much memory."""
    process = lab.start([lab.need("python3"), "-c", "kept = [bytearray(100) for _ in range(2000000)]\nprint(1, flush=True)\n"
                         "while True:\n    kept[0] = bytearray(100)"])
    assert process.stdout.readline() == b"1\n"
    written, _ = watch(b"looking for lost blocks", "leaks", *lab.PATIENT, "-p", process.pid)
    check_wiped(written, b"looking for lost blocks")


def test_nobody_looks():
    """Not in a file, and not with -q."""
    process = lab.start(["sleep", "600"])
    _, _, errors = lab.run("-p", process.pid, "-d", "3s")
    assert "traced for" not in errors and "\033" not in errors, errors
    master, slave = os.openpty()
    tracer = lab.start([lab.TRACER, "-q", "-p", process.pid, "-d", "3s"], stderr=slave)
    os.close(slave)
    tracer.communicate(timeout=lab.PATIENCE)
    written = read(master)
    os.close(master)
    assert written.startswith(b"tracer: ready") and b"\033" not in written, written


lab.run_tests()
