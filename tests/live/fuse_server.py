#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A FUSE file system of one file, `fuse_server.py FOLDER FILE [USER [private]]`: FOLDER/file has the content of FILE.

It prints "ready"; at a line "OPERATION... [PID]" of its input it takes these requests ("all": any), but answers those of
the process PID only, and prints "silent". Nothing is cached for longer than a request takes, except pages that were
read. For the kernel the server is a process of USER; with "private", it lets no process of another user in.
"""
import ctypes
import errno
import os
import select
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = \
    1, 2, 3, 14, 15, 18, 25, 26, 27, 36, 42
ROOT, FILE = 1, 2


def attributes(node, size):
    mode = 0o40755 if node == ROOT else 0o100755
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node, body, content):
    """What the kernel is answered: bytes, or an errno; None for requests that want no answer."""
    if opcode == INIT:
        major, _, readahead, _ = struct.unpack_from("<IIII", body)
        return struct.pack("<IIIIHHIIHHI7I", major, 31, readahead, 0, 8, 8, 65536, 1, 0, 0, 0, *[0] * 7)
    if opcode == LOOKUP and body.rstrip(b"\0") == b"file":
        return struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE, len(content))
    if opcode == LOOKUP:
        return errno.ENOENT
    if opcode == GETATTR:
        return struct.pack("<QII", 0, 0, 0) + attributes(node, len(content) if node == FILE else 0)
    if opcode == OPEN:
        return struct.pack("<QII", 1, 2, 0)  # FOPEN_KEEP_CACHE
    if opcode == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        return content[offset:offset + size]
    if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
        return None
    return b"" if opcode in (RELEASE, FLUSH) else errno.ENOSYS


NAMES = {"lookup": LOOKUP, "getattr": GETATTR, "open": OPEN, "read": READ, "release": RELEASE, "flush": FLUSH}


def serve(device, content):
    silent, but_for, line = set(), 0, b""
    while True:
        ready = select.select([device, 0], [], [])[0]
        if 0 in ready:
            line += os.read(0, 64)
            if not line:
                return
            words = line.decode().split()
            silent = set(range(64)) if "all" in words else {NAMES[word] for word in words if word in NAMES}
            but_for, line = ([int(word) for word in words if word.isdigit()] or [-1])[0], b""
            print("silent", flush=True)
        if device not in ready:
            continue
        request = os.read(device, 1 << 17)
        _, opcode, unique, node, _, _, pid = struct.unpack_from("<IIQQIII", request)
        result = None
        if opcode not in silent or pid == but_for:
            result = answer(opcode, node, request[40:], content)
        if result is not None:
            failure, data = (-result, b"") if isinstance(result, int) else (0, result)
            os.write(device, struct.pack("<IiQ", 16 + len(data), failure, unique) + data)


def main():
    folder, path = sys.argv[1:3]
    user = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with open(path, "rb") as file:
        content = file.read()
    device = os.open("/dev/fuse", os.O_RDWR)
    library = ctypes.CDLL(None, use_errno=True)
    options = "fd=%d,rootmode=40000,user_id=%d,group_id=0" % (device, user)
    options += "" if "private" in sys.argv[4:] else ",allow_other"
    if library.mount(b"lab", folder.encode(), b"fuse", 0, options.encode()):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    print("ready", flush=True)
    serve(device, content)


main()
