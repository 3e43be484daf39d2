#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How the programs are built: what they read comes from others, so a bug in them must be hard to use."""
import os
import platform
import re
import subprocess

import lab


def readelf(path, *options):
    return subprocess.run([lab.need("readelf"), "-W", *options, path], capture_output=True, text=True, check=True).stdout


def check_layout(path):
    assert re.search(r"Type: +DYN", readelf(path, "-h")), "it is loaded at a fixed address"
    segments, dynamic = readelf(path, "-l"), readelf(path, "-d")
    assert "GNU_RELRO" in segments, segments
    assert re.search(r"GNU_STACK.* RW ", segments), segments
    assert not re.search(r" LOAD .* RWE ", segments), segments
    flags = re.search(r"\(FLAGS_1\) +Flags: (.*)", dynamic).group(1).split()
    assert "NOW" in flags and "PIE" in flags, dynamic
    assert "TEXTREL" not in dynamic, dynamic


def test_program():
    check_layout(lab.TRACER)
    imported = readelf(lab.TRACER, "--dyn-syms")
    assert "__stack_chk_fail" in imported and "__memcpy_chk" in imported, imported


def test_static_program():
    static = os.path.join(lab.TOP, "build/tracer-static")
    if not os.path.exists(static):
        raise lab.Skip("build/tracer-static is not built")
    check_layout(static)
    assert "INTERP" not in readelf(static, "-l")


def test_objects():
    """The linker drops the mark when one library lacks it, so each object is asked."""
    if platform.machine() != "x86_64":
        raise lab.Skip("there is a mark for it on x86-64 only")
    found = 0
    for folder, _, names in os.walk(os.path.join(lab.TOP, "build/user")):
        for name in names:
            if name.endswith(".o"):
                found += 1
                notes = readelf(os.path.join(folder, name), "-n")
                assert "IBT, SHSTK" in notes, (folder, name, notes)
    if not found:
        raise lab.Skip("the objects are not here")


lab.run_tests()
