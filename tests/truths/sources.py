# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of Debian's packages, in build/truths/sources. They are fetched once, with lists of apt's own folder; this machine's are left alone."""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/kernels"))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

import kernels  # noqa: E402
import lab  # noqa: E402

BUILT = os.path.join(TOP, "build/truths")
RELEASE = "bookworm"


def release_of(folder):
    """The version in the name of what was fetched."""
    description, = glob.glob(os.path.join(folder, "*.dsc"))
    return re.search(r"_(.*)\.dsc$", description).group(1)


def fetch(package):
    """The folder of a package's unpacked source, and its version."""
    folder = os.path.join(BUILT, "sources", package)
    tree = os.path.join(folder, "tree")
    if not os.path.isdir(tree):
        lab.need("dpkg-source")
        os.makedirs(folder, exist_ok=True)
        try:
            kernels.Suite(RELEASE, "amd64", "deb-src").download_source(package, folder)
            description, = glob.glob(os.path.join(folder, "*.dsc"))
            kernels.output_of(["dpkg-source", "--no-check", "-x", description, tree + ".part"])
        except (kernels.Unavailable, ValueError) as error:
            raise lab.Skip("the source of %s cannot be had: %s" % (package, error)) from error
        os.rename(tree + ".part", tree)
    return tree, release_of(folder)


def compile_with(command, output):
    """Run a compiler; what it prints is the reason if it fails."""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    done = subprocess.run([*command, "-o", output], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return output
