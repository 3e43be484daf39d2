# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the stacks that a script's own interpreter prints with those of the report: frame by frame, byte by byte."""
import collections
import json
import os
import shutil
import subprocess

import lab

SCRIPTS = os.path.join(lab.TOP, "tests/live/scripts")
FIRST = 700001


def need_php():
    """The words of a command that runs PHP 8 that may call functions of C, which can take an extension."""
    for name in ["php"] + ["php8.%d" % minor for minor in range(10)]:
        for words in [name], [name, "-d", "extension=ffi"]:
            if shutil.which(name) and is_php(words):
                return words
    raise lab.Skip("no PHP 8 with FFI is installed")


def is_php(words):
    return subprocess.run(words + ["-r", "echo PHP_MAJOR_VERSION, class_exists('FFI');"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout == b"81"


def account_of(stacks):
    """Bytes and blocks by stack; two blocks may have the same."""
    account = collections.defaultdict(lambda: [0, 0])
    for size, frames in stacks.items():
        entry = account[tuple(tuple(frame) for frame in frames)]
        entry[0] += int(size)
        entry[1] += 1
    return account


def found_in(report, kind):
    found = collections.defaultdict(lambda: [0, 0])
    for site in report["sites"]:
        entry = found[tuple((frame["file"], frame["line"], frame["function"])
                            for frame in site["frames"] if frame["kind"] == kind)]
        entry[0] += site["alloc_bytes"]
        entry[1] += site["alloc_objects"]
    return found


def explain(account, found):
    lines = []
    for stack in account.keys() | found.keys():
        if account.get(stack) != found.get(stack):
            lines.append("interpreter: %s, tracer: %s, at:" % (account.get(stack), found.get(stack)))
            lines += ["    %s:%s %s" % frame for frame in stack[:12]]
    return "\n".join(lines)


def traced(command, kind, *options, workers=0, **arguments):
    """Trace a script that says when it is ready, and when it has forked so many workers, which wait until they are traced.
    Returns what it says in the end, and what was found, by stack."""
    process = lab.start(command, **arguments)
    assert process.stdout.readline() == b"ready\n", lab.end(process)[1].decode()
    tracer = lab.Tracer("-j", "-n", "0", "-z", FIRST, "-Z", FIRST + 5000, *options, "-p", process.pid, "3600")
    lab.release(process)
    line = process.stdout.readline()
    if workers and line == b"forked\n":
        lab.wait_for(lambda: len(tracer.report_now()["targets"]) == 1 + workers, "all workers are traced")
        lab.release(process)
        line = process.stdout.readline()
    if not line:
        raise AssertionError(lab.end(process)[1].decode())
    report = json.loads(tracer.stop().splitlines()[-1])
    assert "cannot be shown" not in tracer.stderr(), tracer.stderr()
    lab.check_sums(report)
    # PHP's fibers begin in assembly that has no unwind tables. Workers wait, but they ran before.
    lab.check_losses(report, {"stack_no_table", "stack_jit"} | ({"stack_no_rows"} if kind == "php" else set()) |
                     ({"children_late"} if workers else set()))
    lab.end(process)
    return json.loads(line), found_in(report, kind)


def check_ways(command, kind, *options, **arguments):
    """A script of ways. Returns how many stacks were compared."""
    stacks, found = traced(command, kind, *options, **arguments)
    account = account_of(stacks)
    assert len(account) > 30 and account == found, explain(account, found)
    return len(account)


def check_load(command, kind, *options, **arguments):
    """A script of load. Returns how many stacks were compared, and how many blocks had them."""
    said, found = traced(command, kind, *options, **arguments)
    account = {tuple(tuple(frame) for frame in stack): figures for stack, *figures in said["stacks"]}
    assert len(account) > 30 and account == found, explain(account, found)
    return len(account), sum(blocks for _, blocks in account.values())
