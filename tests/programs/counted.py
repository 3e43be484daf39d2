# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a program plainly, under the counter, and under the tracer, and compare.

There are two ways to compare. Apart: the tracer sees the program as it is, the counter sees it in runs of its own. This
needs a program that does the same in each run, which addresses that are not random help with; whether it does is shown by
two runs under the counter. Together: the tracer traces the program with the counter in it, so both see the same calls,
whatever they are.
"""
import collections
import contextlib
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

import lab  # noqa: E402
import material  # noqa: E402

BUILT = os.path.join(TOP, "build/programs")
PATIENCE = 900
FIGURES = ("alloc_bytes", "alloc_objects", "free_bytes", "free_objects")
SLOT = struct.Struct("<9Q64s")  # struct slot in counter.c
SLOTS_AT, SLOTS_MAX = 128, 4096
ADDR_NO_RANDOMIZE = 0x0040000
# Where stacks end early, figures are whole: they are sums of all sites of a program, whatever their stacks.
ABOUT_STACKS = {"stack_unreadable", "stack_jit", "stack_no_rows", "stack_guessed", "stack_broken", "stack_truncated"}
# What says that calls of children were missed.
ABOUT_CHILDREN = ("children_late", "children_missed", "memory_shared")
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
               "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "SOURCE_DATE_EPOCH": "1000000000"}

Run = collections.namedtuple("Run", "status output errors")


class Differs(Exception):
    """The tracer and the truth are not the same."""


class Workshop:
    """A folder in which one program works, with the same path and the same content in each run."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="tracer-programs-")
        os.chmod(self.folder, 0o755)
        self.work = os.path.join(self.folder, "work")
        self.account = os.path.join(self.folder, "account")
        self.report = os.path.join(self.folder, "report")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def prepare(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(material.folder(), self.work, symlinks=True)
        with open(self.account, "wb") as file:
            file.truncate(SLOTS_AT + SLOTS_MAX * SLOT.size)
        if self.program.setup:
            subprocess.run(["/bin/sh", "-ec", self.program.setup], cwd=self.work, env=self.environment(), check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           timeout=PATIENCE)

    def environment(self, library=None):
        environment = {**ENVIRONMENT, "HOME": self.work, "TMPDIR": self.work, **self.program.environment}
        if library:
            environment.update(COUNTER_FILE=self.account, LD_PRELOAD=os.path.join(BUILT, library))
        return environment

    def run(self, command, library="plain.so", is_random=False):
        """The command in a session of its own; stdout is what is compared."""
        self.prepare()
        with contextlib.ExitStack() as stack:
            output, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            given = stack.enter_context(open(os.path.join(self.work, self.program.given) if self.program.given
                                             else os.devnull, "rb"))
            process = lab.start(command, cwd=self.work, env=self.environment(library), stdin=given, stdout=output,
                                stderr=errors, start_new_session=True,
                                preexec_fn=None if is_random else fix_addresses)
            status = process.wait(timeout=PATIENCE)
            output.seek(0)
            errors.seek(0)
            return Run(status, output.read(), errors.read().decode("utf-8", "replace"))

    def run_traced(self, command, is_random=False):
        """The run under the tracer, with the command's own status, and the report."""
        run = self.run([lab.TRACER, "-j", "-n", "0", "--keep-exited", "--max-blocks", "4194304", "--max-stacks", "262144",
                        "-o", self.report, "--", *command], is_random=is_random)
        ended = re.search(r"^tracer: \S+ exited with status (\d+)$", run.errors, re.M)
        killed = re.search(r"^tracer: \S+ was ended by signal (\d+)", run.errors, re.M)
        assert run.status == 0 and (ended or killed), "the tracer ended with %d\n%s" % (run.status, run.errors)
        status = int(ended.group(1)) if ended else -int(killed.group(1))
        with open(self.report, encoding="utf-8") as file:
            return Run(status, run.output, run.errors), json.loads(file.read().splitlines()[-1])

    def slots(self):
        """What each program of the tree has counted."""
        with open(self.account, "rb") as file:
            content = file.read()
        used = struct.unpack_from("<Q", content)[0]
        rows = []
        for number in range(used):
            pid, calls, *figures, unknown, reused, forked, name = SLOT.unpack_from(content, SLOTS_AT + number * SLOT.size)
            rows.append({"pid": pid, "calls": calls, **dict(zip(FIGURES, figures)), "unknown": unknown,
                         "reused": reused, "forked": forked, "name": name.rstrip(b"\0").decode("utf-8", "replace")})
        return rows


def fix_addresses():
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def total(rows):
    return {figure: sum(row[figure] for row in rows) for figure in FIGURES}


def is_own(site, library):
    """Does an allocator's library call its own function? The counter cannot see that: tcmalloc does it when it is loaded."""
    callers = [frame["module"] or "" for frame in site["frames"] if not frame["inlined"]]
    return bool(library and callers) and site["allocator"] != "unknown" and library in os.path.basename(callers[0])


def traced_rows(report, library=""):
    return [site for site in report["sites"] if site["source"] == "heap" and not is_own(site, library)]


def by_program(rows, name):
    found = collections.defaultdict(list)
    for row in rows:
        found[name(row)].append(row)
    return {key: total(value) for key, value in found.items()}


def describe(truth, report, library=""):
    """Both accounts by program and process, for whoever has to find out why they differ."""
    names = {target["pid"]: os.path.basename(target["exe"] or "?") for target in report["targets"]}
    lines = ["counted: %s %s" % pair for pair in by_program(truth, lambda row: (row["pid"], row["name"])).items()]
    lines += ["traced: %s %s" % pair for pair in
              by_program(traced_rows(report, library), lambda row: (row["pid"], names.get(row["pid"]))).items()]
    lines.append("losses: %s" % {name: count for name, count in report["loss"].items() if count})
    return "\n".join(lines)


def check(truth, report, how, library=""):
    """
    The tracer's figures are the counter's. What may be missing are calls of children of fork() and vfork(), until they are
    probed or execute a program; then the tracer has counted such children. Returns the number of blocks that are missing.
    """
    lab.check_sums(report)
    expected, seen = total(truth), total(traced_rows(report, library))
    least = total([row for row in truth if not row["forked"]])
    # A parent may free what a child of vfork() has left it.
    for unit in ("bytes", "objects"):
        least["free_" + unit] -= expected["alloc_" + unit] - least["alloc_" + unit]
    if seen != expected and any(not least[figure] <= seen[figure] <= expected[figure] for figure in FIGURES):
        off = {figure: seen[figure] - expected[figure] for figure in FIGURES if seen[figure] != expected[figure]}
        raise Differs("%s: %s\n%s" % (how, off, describe(truth, report, library)))
    if seen != expected and not any(report["loss"][name] for name in ABOUT_CHILDREN):
        raise Differs("%s: %s, and no child is counted as missed" % (how, describe(truth, report, library)))
    lab.check_losses(report, ABOUT_STACKS)
    return expected["alloc_objects"] - seen["alloc_objects"]


def launch(library, command, *options):
    return [os.path.join(BUILT, "launch"), *options, "LD_PRELOAD=" + os.path.join(BUILT, library), *command]


def compare_apart(shop, command, plain):
    """As check() of a traced run against counted ones; None if these differ among themselves."""
    def count(how, library="count.so"):
        check_same(plain, shop.run(launch(library, command, "-w")), how, shop.program)
        return shop.slots()
    truth = count("counted")
    is_same = total(count("counted again")) == total(truth)
    run, report = shop.run_traced(command)
    check_same(plain, run, "traced", shop.program)
    if not is_same or shop.program.only_together:
        return None
    try:
        return check(truth, report, "apart", shop.program.allocator)
    except Differs:
        # Some programs do the same for as long as a second lasts.
        if any(total(count("counted once more")) != total(truth) for _ in range(3)):
            return None
        # Others do what the words say that calls have left on the stack, and a counter that is called leaves some.
        wiped = total(count("counted with a clean stack", "wiped.so"))
        if wiped == total(truth):
            raise
        print("# %s depends on what is left on its stack: counted %s, then %s" % (shop.program.name, total(truth), wiped))
        return None


def compare(program):
    """All runs of one program. Returns its calls, its bytes, and the blocks that were missed in each way."""
    with Workshop(program) as shop:
        command = [lab.need(program.command[0]), *program.command[1:]]
        plain = shop.run(launch("plain.so", command, "-w"))
        assert plain.status == program.status, "status %s: %s" % (plain.status, plain.errors[-2000:])
        missed = {"apart": compare_apart(shop, command, plain)}
        run, report = shop.run_traced(launch("count.so", command), is_random=True)
        check_same(plain, run, "traced with the counter", program)
        truth = shop.slots()
        missed["together"] = check(truth, report, "together", program.allocator)
        return sum(row["calls"] for row in truth), total(truth)["alloc_bytes"], missed


def check_same(plain, run, how, program):
    """Output and exit status are what they were."""
    assert run.status == plain.status, "%s: status %s, not %s\n%s" % (how, run.status, plain.status, run.errors[-2000:])
    if not program.output_varies:
        assert run.output == plain.output, "%s: another output: %r, not %r" % (
            how, run.output[:500], plain.output[:500])
