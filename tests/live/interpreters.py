# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the stacks that a script's own interpreter tells with those of the report: frame by frame, byte by byte."""
import collections
import json
import os

import lab

SCRIPTS = os.path.join(lab.TOP, "tests/live/scripts")
FIRST = 700001


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


def check_ways(command, kind, *options, **arguments):
    """Trace a script of ways, which runs before the tracer does. Returns how many stacks were compared."""
    process = lab.start(command, **arguments)
    assert process.stdout.readline() == b"ready\n", lab.end(process)[1].decode()
    tracer = lab.Tracer("-j", "-n", "0", "-z", FIRST, "-Z", FIRST + 5000, *options, "-p", process.pid, "3600")
    process.stdin.write(b"go\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise AssertionError(lab.end(process)[1].decode())
    stacks = json.loads(line)
    report = json.loads(tracer.stop().splitlines()[-1])
    assert "cannot be shown" not in tracer.stderr(), tracer.stderr()
    lab.check_sums(report)
    lab.end(process)
    account, found = account_of(stacks), found_in(report, kind)
    assert len(account) > 30 and account == found, explain(account, found)
    return len(account)
