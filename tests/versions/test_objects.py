#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of the Ruby of other releases from outside, as tests/live/test_memory_ruby.py has them of this one, and how often its collector
has been at work, as tests/live/test_ages.py has it."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from roots import place_in  # noqa: E402  (finds tests/live)
import lab  # noqa: E402
import test_ages as ages  # noqa: E402
import test_memory_ruby as ruby  # noqa: E402


def check(suite, version, command="ruby"):
    with place_in(suite, "tracer-objects-") as (folder, path, inside):
        inside = [*inside, command]
        for name in ("objects.rb", "holders.rb"):
            shutil.copy(os.path.join(ruby.SCRIPTS, name), folder)
        program = ruby.Program([*inside, path + "/objects.rb"])
        ruby.check_layouts(program, version)
        ruby.check_quiet(program)
        ruby.check_busy(program)
        ruby.check_holders(ruby.Program([*inside, path + "/holders.rb"]))
        lab.end_all()
        ages.check_collector([*inside, "-e", ages.RUBY])


def test_ruby_2_7():
    check("bullseye", "2.7")


def test_ruby_3_0():
    check("jammy", "3.0")


def test_ruby_3_2():
    check("noble", "3.2")


def test_ruby_3_3():
    check("trixie", "3.3")


def test_ruby_3_4():
    check("sid", "3.4", "ruby3.4")


lab.run_tests()
