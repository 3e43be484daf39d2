# SPDX-License-Identifier: GPL-2.0-or-later
"""FUSE file systems for tests."""
import contextlib
import ctypes
import os
import shutil
import sys
import tempfile

import lab

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuse_server.py")
MNT_DETACH = 2


class Mount:
    def __init__(self, folder, content, user, how):
        self.folder = folder
        self.file = folder + "/file"
        self.server = lab.start([sys.executable, SERVER, folder, lab.target(content), user, how])
        if self.server.stdout.readline() != b"ready\n":
            raise lab.Skip("no FUSE here: %s" % self.server.stderr.read().decode().strip())

    def fall_silent(self, operations="all", but_for=""):
        """For everybody but one process."""
        self.server.stdin.write(("%s %s\n" % (operations, but_for)).encode())
        self.server.stdin.flush()
        assert self.server.stdout.readline() == b"silent\n"


@contextlib.contextmanager
def mounts(count, content="plugin.so", user=0, how="shared"):
    """What waits for a server goes on when that one has ended."""
    folder = tempfile.mkdtemp(prefix="tracer-fuse-")
    made = []
    try:
        if not os.path.exists("/dev/fuse"):
            raise lab.Skip("no /dev/fuse")
        for i in range(count):
            os.mkdir("%s/%d" % (folder, i))
            made.append(Mount("%s/%d" % (folder, i), content, user, how))
        yield made
    finally:
        for i in range(count):
            if i < len(made):
                lab.end(made[i].server)
            ctypes.CDLL(None).umount2(("%s/%d" % (folder, i)).encode(), MNT_DETACH)
        shutil.rmtree(folder)
