#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of the Ruby of other releases from outside, as tests/live/test_memory_ruby.py has them of this one, and how often its collector
has been at work, as tests/live/test_ages.py has it."""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from roots import need_root  # noqa: E402  (finds tests/live)
import lab  # noqa: E402
import test_ages as ages  # noqa: E402
import test_memory_ruby as ruby  # noqa: E402


def check(suite, version):
    root = need_root(suite)
    with tempfile.TemporaryDirectory(prefix="tracer-objects-", dir=os.path.join(root, "tmp")) as folder:
        os.chmod(folder, 0o755)
        for name in ("objects.rb", "holders.rb"):
            shutil.copy(os.path.join(ruby.SCRIPTS, name), folder)
        inside = ["chroot", root, "env", "-i", "LANG=C.UTF-8", "PATH=/usr/bin:/bin", "ruby"]
        path = "/tmp/%s/" % os.path.basename(folder)
        program = ruby.Program(inside + [path + "objects.rb"])
        ruby.check_layouts(program, version)
        ruby.check_quiet(program)
        ruby.check_busy(program)
        ruby.check_holders(ruby.Program(inside + [path + "holders.rb"]))
        lab.end_all()
    ages.check_collector(inside + ["-e", ages.RUBY])


def test_ruby_2_7():
    check("bullseye", "2.7")


def test_ruby_3_0():
    check("jammy", "3.0")


def test_ruby_3_2():
    check("noble", "3.2")


def test_ruby_3_3():
    check("trixie", "3.3")


lab.run_tests()
