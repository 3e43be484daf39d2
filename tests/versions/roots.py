# SPDX-License-Identifier: GPL-2.0-or-later
"""Roots of other releases, with their interpreters, C library and allocators. They are made by debootstrap in build/roots and kept there; that takes
a minute or two for each. DEBIAN_MIRROR says where from, otherwise it is where this machine has its packages from. Roots of Ubuntu, for its
releases of Ruby and of the C library, are made if UBUNTU_MIRROR says where from.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

import lab  # noqa: E402

ROOTS = os.path.join(TOP, "build/roots")
# All of Ubuntu's releases are made alike; Debian's debootstrap may not have a script for these.
UBUNTU = ["noble", "jammy", "bionic"]
UBUNTU_SCRIPT = "/usr/share/debootstrap/scripts/gutsy"
# Programs are built with a root's C library, and by this machine's compiler.
SHARED = ["libc6-dev", "libjemalloc2", "musl", "python3"]
TCMALLOC = ["libtcmalloc-minimal4", "libgoogle-perftools4"]
TCMALLOC_64 = [name + "t64" for name in TCMALLOC]
PACKAGES = {
    "bullseye": SHARED + TCMALLOC + ["ruby", "php-cli"],
    "trixie": SHARED + TCMALLOC_64 + ["ruby", "php-cli", "libmimalloc3"],
    # With Ruby 3.4 of experimental.
    "sid": SHARED + TCMALLOC_64 + ["ruby3.4", "libmimalloc3"],
    "noble": SHARED + TCMALLOC_64 + ["ruby", "libmimalloc2.0"],
    "jammy": SHARED + TCMALLOC + ["ruby", "libmimalloc2.0"],
    "bionic": ["libc6-dev"],
}
OTHER_SUITES = {"sid": ["--extra-suites=experimental"]}


def find_mirror():
    if os.environ.get("DEBIAN_MIRROR"):
        return [os.environ["DEBIAN_MIRROR"]]
    if not shutil.which("apt-get"):
        return []
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True,
                            check=False).stdout.split()
    return [address for address in listed if re.search(r"/debian/?$", address)][:1]


def find_source(suite):
    """What debootstrap needs for a release: options, and where it is."""
    include = ["--include=" + ",".join(PACKAGES[suite])]
    if suite not in UBUNTU:
        return include + OTHER_SUITES.get(suite, []), find_mirror()
    if not os.environ.get("UBUNTU_MIRROR"):
        raise lab.Skip("UBUNTU_MIRROR is not set")
    return include + ["--components=main,universe"], [os.environ["UBUNTU_MIRROR"], UBUNTU_SCRIPT]


def need_root(suite):
    """The folder of a root."""
    folder = os.path.join(ROOTS, suite + "-all")
    if os.path.isdir(folder):
        return folder
    options, source = find_source(suite)
    lab.need("debootstrap")
    os.makedirs(ROOTS, exist_ok=True)
    part = tempfile.mkdtemp(prefix=suite + "-", dir=ROOTS)
    os.chmod(part, 0o755)
    made = subprocess.run(["debootstrap", "--variant=minbase", *options, suite, part, *source],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if made.returncode:
        shutil.rmtree(part, ignore_errors=True)
        raise lab.Skip("debootstrap of %s failed: %s" % (suite, made.stdout.strip().splitlines()[-1:]))
    os.rename(part, folder)
    return folder


@contextlib.contextmanager
def place_in(suite, prefix):
    """A folder in a root for a test's files, how that root has it, and what to put before a command for it to run there."""
    root = need_root(suite)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=os.path.join(root, "tmp")) as folder:
        os.chmod(folder, 0o755)
        yield folder, "/tmp/" + os.path.basename(folder), \
            ["chroot", root, "env", "-i", "LANG=C.UTF-8", "PATH=/usr/bin:/bin"]


def need_library(suite, path):
    """A library of a root, by its path there."""
    if not os.path.exists(need_root(suite) + path):
        raise lab.Skip("%s has no %s" % (suite, path))
    return path
