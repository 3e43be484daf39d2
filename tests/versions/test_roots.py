#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of the Ruby, Python and PHP of other Debian releases, which run in roots of their own, against their own answers.

The roots are made by debootstrap in build/roots and kept there; that takes a minute or two for each. DEBIAN_MIRROR says where
from, otherwise it is where this machine has its packages from.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

import interpreters  # noqa: E402
import lab  # noqa: E402

ROOTS = os.path.join(TOP, "build/roots")
SECONDS = os.environ.get("STORM_SECONDS", "3")


def find_mirror():
    if os.environ.get("DEBIAN_MIRROR"):
        return [os.environ["DEBIAN_MIRROR"]]
    if not shutil.which("apt-get"):
        return []
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True,
                            check=False).stdout.split()
    return [address for address in listed if re.search(r"/debian/?$", address)][:1]


def need_root(suite):
    """The folder of a root with the interpreters."""
    folder = os.path.join(ROOTS, suite + "-php")
    if os.path.isdir(folder):
        return folder
    lab.need("debootstrap")
    os.makedirs(ROOTS, exist_ok=True)
    part = tempfile.mkdtemp(prefix=suite + "-", dir=ROOTS)
    os.chmod(part, 0o755)
    made = subprocess.run(["debootstrap", "--variant=minbase", "--include=ruby,python3,php-cli", suite, part] + find_mirror(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if made.returncode:
        shutil.rmtree(part, ignore_errors=True)
        raise lab.Skip("debootstrap of %s failed: %s" % (suite, made.stdout.strip().splitlines()[-1:]))
    os.rename(part, folder)
    return folder


def check(suite, kind, version, *command):
    suffix = {"ruby": ".rb", "python": ".py", "php": ".php"}[kind]
    root = need_root(suite)
    inside = ["chroot", root, "env", "-i", "LANG=C.UTF-8", "PATH=/usr/bin:/bin"]
    said = subprocess.run(inside + [command[0], "--version"], capture_output=True, text=True, check=True).stdout
    assert re.match(r"(?i)%s %s\." % (kind, re.escape(version)), said), said
    with tempfile.TemporaryDirectory(prefix="tracer-ways-", dir=os.path.join(root, "tmp")) as folder:
        for name in ("ways", "stack") if kind == "php" else ("ways", "load"):
            shutil.copy(os.path.join(interpreters.SCRIPTS, name + suffix), folder)
        path = "/tmp/%s/" % os.path.basename(folder)
        if kind == "php":
            count = interpreters.check_ways(inside + [*command, path + "ways" + suffix, "3"], kind)
            print("# %s: %d stacks" % (said.splitlines()[0], count))
            return
        count = interpreters.check_ways(inside + [*command, path + "ways" + suffix, "3"], kind)
        load = interpreters.check_load(inside + [*command, path + "load" + suffix, SECONDS, "6"], kind)
    print("# %s: %d stacks; under load %d stacks of %d blocks" % (said.strip(), count, *load))


def test_ruby_2_7():
    check("bullseye", "ruby", "2.7", "ruby")


def test_python_3_9():
    check("bullseye", "python", "3.9", "python3")


def test_ruby_3_3():
    check("trixie", "ruby", "3.3", "ruby")


def test_python_3_13():
    check("trixie", "python", "3.13", "python3")


def test_php_8_4():
    check("trixie", "php", "8.4", "php")


lab.run_tests()
