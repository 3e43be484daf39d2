#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every frame of scripts that allocate in all ways that code can be reached in, against what the interpreter says itself."""
import os
import subprocess

import interpreters
import lab

RUBY = os.path.join(interpreters.SCRIPTS, "ways.rb")
PYTHON = os.path.join(interpreters.SCRIPTS, "ways.py")


def test_ruby():
    interpreters.check_ways([lab.need("ruby"), RUBY, "3"], "ruby")


def test_ruby_yjit():
    command = [lab.need("ruby"), "--yjit", "--yjit-call-threshold=2"]
    if subprocess.run(command + ["-e", "exit RubyVM::YJIT.enabled?"], capture_output=True, check=False).returncode:
        raise lab.Skip("ruby has no YJIT")
    interpreters.check_ways(command + [RUBY, "10"], "ruby")


def test_python():
    interpreters.check_ways([lab.need("/usr/bin/python3"), PYTHON, "3"], "python")


lab.run_tests()
