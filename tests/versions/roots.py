# SPDX-License-Identifier: GPL-2.0-or-later
"""Roots of other Debian releases, with their interpreters. They are made by debootstrap in build/roots and kept there; that takes a minute
or two for each. DEBIAN_MIRROR says where from, otherwise it is where this machine has its packages from. Roots of Ubuntu, for its releases of Ruby,
are made if UBUNTU_MIRROR says where from.
"""
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
UBUNTU = ["noble", "jammy"]
UBUNTU_SCRIPT = "/usr/share/debootstrap/scripts/gutsy"


def find_mirror():
    if os.environ.get("DEBIAN_MIRROR"):
        return [os.environ["DEBIAN_MIRROR"]]
    if not shutil.which("apt-get"):
        return []
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True,
                            check=False).stdout.split()
    return [address for address in listed if re.search(r"/debian/?$", address)][:1]


def find_source(suite):
    """What debootstrap needs for a release: what to include, and where it is."""
    if suite not in UBUNTU:
        return ["--include=ruby,python3,php-cli"], find_mirror()
    if not os.environ.get("UBUNTU_MIRROR"):
        raise lab.Skip("UBUNTU_MIRROR is not set")
    return ["--include=ruby", "--components=main,universe"], [os.environ["UBUNTU_MIRROR"], UBUNTU_SCRIPT]


def need_root(suite):
    """The folder of a root with the interpreters."""
    folder = os.path.join(ROOTS, suite + ("-ruby" if suite in UBUNTU else "-php"))
    if os.path.isdir(folder):
        return folder
    include, source = find_source(suite)
    lab.need("debootstrap")
    os.makedirs(ROOTS, exist_ok=True)
    part = tempfile.mkdtemp(prefix=suite + "-", dir=ROOTS)
    os.chmod(part, 0o755)
    made = subprocess.run(["debootstrap", "--variant=minbase", *include, suite, part, *source],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if made.returncode:
        shutil.rmtree(part, ignore_errors=True)
        raise lab.Skip("debootstrap of %s failed: %s" % (suite, made.stdout.strip().splitlines()[-1:]))
    os.rename(part, folder)
    return folder
