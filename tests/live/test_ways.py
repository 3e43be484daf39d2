#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every frame of scripts that allocate in all ways that code can be reached in, and of scripts that do as web applications do,
against what the interpreter says itself. STORM_SECONDS is how long the latter take.
"""
import os
import subprocess

import interpreters
import lab

RUBY = os.path.join(interpreters.SCRIPTS, "ways.rb")
PHP = os.path.join(interpreters.SCRIPTS, "ways.php")
PYTHON = os.path.join(interpreters.SCRIPTS, "ways.py")
SECONDS = os.environ.get("STORM_SECONDS", "3")


def test_ruby():
    interpreters.check_ways([lab.need("ruby"), RUBY, "3"], "ruby")


def test_ruby_yjit():
    command = [lab.need("ruby"), "--yjit", "--yjit-call-threshold=2"]
    if subprocess.run(command + ["-e", "exit RubyVM::YJIT.enabled?"], capture_output=True, check=False).returncode:
        raise lab.Skip("ruby has no YJIT")
    interpreters.check_ways(command + [RUBY, "10"], "ruby")


def test_python():
    interpreters.check_ways([lab.need("/usr/bin/python3"), PYTHON, "3"], "python")


def test_php():
    interpreters.check_ways([*interpreters.need_php(), PHP, "3"], "php")


def test_php_opcache():
    """Code that is kept in memory that processes share, and not compiled to machine code."""
    php = interpreters.need_php() + ["-d", "opcache.enable_cli=1", "-d", "opcache.jit=off"]
    enabled = subprocess.run(php + ["-r", "echo (int) opcache_get_status()['opcache_enabled'];"], capture_output=True, check=False)
    if enabled.stdout != b"1":
        raise lab.Skip("php has no opcache")
    interpreters.check_ways(php + [PHP, "3"], "php")


def check_load(command, kind, *options, **arguments):
    print("# %d stacks of %d blocks" % interpreters.check_load([*command, SECONDS, "6"], kind, *options, **arguments))


def test_ruby_load():
    check_load([lab.need("ruby"), os.path.join(interpreters.SCRIPTS, "load.rb")], "ruby")


def test_python_load():
    check_load([lab.need("/usr/bin/python3"), os.path.join(interpreters.SCRIPTS, "load.py")], "python")


def test_php_load():
    """In workers, which are forked while they are traced: PHP has no threads."""
    check_load([*interpreters.need_php(), os.path.join(interpreters.SCRIPTS, "load.php")], "php", "--follow-fork", workers=6)


lab.run_tests()
