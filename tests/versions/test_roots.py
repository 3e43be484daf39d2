#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of the Ruby, Python and PHP of other Debian releases, which run in roots of their own (roots.py), against their own answers."""
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
import test_memory_python  # noqa: E402
from roots import need_root, place_in  # noqa: E402

SECONDS = os.environ.get("STORM_SECONDS", "3")


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


def check_objects(suite, version, command="python3"):
    """Objects of that release's Python, by class, against its own collector; what holds them."""
    with place_in(suite, "tracer-ways-") as (folder, path, inside):
        said = subprocess.run([*inside, command, "--version"], capture_output=True, text=True, check=True).stdout
        assert said.startswith("Python %s." % version), said
        shutil.copy(test_memory_python.SCRIPT, folder)
        script = path + "/objects.py"
        process = test_memory_python.start(command=[*inside, command, script])
        test_memory_python.check_one_look(process, script)
        lab.end(process)
    print("# %s: objects" % said.strip())


def test_objects_of_python_3_9():
    check_objects("bullseye", "3.9")


def test_objects_of_python_3_10():
    check_objects("jammy", "3.10")


def test_objects_of_python_3_12():
    check_objects("noble", "3.12")


def test_objects_of_python_3_13():
    check_objects("trixie", "3.13")
    check_objects("sid", "3.13", "python3.13")


def test_objects_of_python_3_14():
    check_objects("sid", "3.14", "python3.14")


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
