#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports that the target's memory asks for, and the command that is run on each."""
import json
import os
import signal
import tempfile
import time

import lab

MIB = 1 << 20
# In a folder with blanks and quotes in its name, which are no part of a shell's line.
FOLDER = "tracer 'trigger\"-"
# What CMD does: a line for each run, which is there as a whole or not at all.
COMMAND = 'echo "$TRACER_TRIGGER $1" >> "$(dirname "$1")/log"'


def start(**options):
    process = lab.start([lab.target("resident")], **options)
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    return process


def order(process, line):
    """Have the target do something, and wait until it is done."""
    process.stdin.write(b"%s\n" % str(line).encode())
    process.stdin.flush()
    assert process.stdout.readline() == b"done\n", process.stderr.read()


def runs(folder):
    """What CMD was run on: [reason, file] each."""
    try:
        with open(os.path.join(folder, "log"), encoding="utf-8") as file:
            return [line.rstrip("\n").split(" ", 1) for line in file]
    except FileNotFoundError:
        return []


def report_in(path):
    """The one report of a file."""
    with open(path, encoding="utf-8") as file:
        report, = [json.loads(line) for line in file]
    lab.check_sums(report)
    return report


def test_size():
    """It fires once when the size is reached, and again only after it was below three quarters of it."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        path, process = os.path.join(folder, "report"), start()
        tracer = lab.Tracer("-j", "-n", "0", "--when-rss", "64m", "-o", path, "--exec", COMMAND, "-p", process.pid)
        # The block is recorded before a byte of it is resident.
        order(process, 100)
        lab.wait_for(lambda: runs(folder), "the command is run")
        assert report_in(path + ".1")["totals"]["inuse_bytes"] >= 100 * MIB
        order(process, 10)
        tracer.process.send_signal(signal.SIGUSR1)
        lab.wait_for(lambda: len(runs(folder)) > 1, "the command is run")
        assert runs(folder) == [["when-rss", path + ".1"], ["signal", path + ".2"]], runs(folder)
        assert report_in(path + ".2")["totals"]["inuse_bytes"] >= 110 * MIB

        def again():
            """A look may come neither while it is small, nor before it is small again: then it does the same again."""
            order(process, "drop")
            time.sleep(0.2)
            order(process, 100)
            return len(runs(folder)) > 2
        lab.wait_for(again, "it fires again")
        assert runs(folder)[2] == ["when-rss", path + ".3"], runs(folder)
        order(process, "drop")
        # It may have fired once more. What is asked for comes after that, and then nothing else can.
        tracer.process.send_signal(signal.SIGUSR1)
        lab.wait_for(lambda: [reason for reason, _ in runs(folder)].count("signal") == 2, "the command is run")
        assert not tracer.stop() and tracer.process.returncode == 0, tracer.stderr()
        reports = [name for name in os.listdir(folder) if name.startswith("report.")]
        assert len(runs(folder)) == len(reports) and runs(folder)[-1][0] == "signal", (runs(folder), reports)
        # The last report, and no other.
        assert report_in(path)["totals"]["inuse_bytes"] == report_in(runs(folder)[-1][1])["totals"]["inuse_bytes"] < 10 * MIB
        assert "the report is in" in tracer.stderr(), tracer.stderr()


def test_growth():
    """Nothing is printed until it fires; with --budget as well."""
    for options in ((), ("--budget", "1")):
        process = start()
        order(process, 100)  # is no growth
        tracer = lab.Tracer("-q", "-j", "-n", "0", "--when-growth", "50m/h", *options, "-p", process.pid)
        order(process, 60)
        report = json.loads(tracer.process.stdout.readline())
        assert report["targets"][0]["process"]["rss_bytes"] >= 150 * MIB, report["targets"]
        assert ("budget" in report) == bool(options), report.keys()
        assert options or report["totals"]["inuse_bytes"] == 60 * MIB, report["totals"]
        assert len(tracer.stop().splitlines()) == 1, "it has fired more than once"


def test_recording():
    """An interval with a mark."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        path, process = os.path.join(folder, "x.db"), start()
        tracer = lab.Tracer("record", "-o", path, "--when-rss", "64m", "--exec", COMMAND, "-p", process.pid, "3600")
        order(process, 100)
        lab.wait_for(lambda: runs(folder), "the command is run")
        assert runs(folder) == [["when-rss", path]], runs(folder)
        status, output, errors = lab.run("report", path, "-j", "--at", "when-rss-1")
        assert status == 0, errors
        assert json.loads(output)["totals"]["inuse_bytes"] >= 100 * MIB
        tracer.stop()
        assert "2 intervals are recorded" in tracer.stderr(), tracer.stderr()


def limit_memory(group, size):
    """So much memory, and no swap."""
    names = {"memory.max": size, "memory.swap.max": 0}
    if os.path.exists(os.path.join(group.path, "memory.limit_in_bytes")):
        names = {"memory.limit_in_bytes": size, "memory.memsw.limit_in_bytes": size}
    with open("/proc/swaps", encoding="utf-8") as file:
        has_swap = len(file.readlines()) > 1
    for name, value in names.items():
        path = os.path.join(group.path, name)
        if "sw" in name and not os.path.exists(path):
            if has_swap:
                raise lab.Skip("the kernel does not count the swap of a cgroup here")
            continue
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(value))
        except OSError as error:
            raise lab.Skip("no memory limit can be set here: %s" % error) from error


def test_killed():
    """The kernel kills the target, and the command is run before the tracer ends."""
    with lab.Group("tracer-oom-%d" % os.getpid(), account=True) as group, tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        limit_memory(group, 64 * MIB)
        path, process = os.path.join(folder, "report"), start()
        group.enter(process.pid)
        tracer = lab.Tracer("-j", "-n", "0", "--on-oom", "-o", path, "--exec", COMMAND, "-p", process.pid)
        process.stdin.write(b"200\n")
        process.stdin.flush()
        assert process.wait(lab.PATIENCE) == -signal.SIGKILL, process.returncode
        assert not tracer.finish() and tracer.process.returncode == 0, tracer.stderr()
        assert runs(folder) == [["on-oom", path + ".1"]], (runs(folder), tracer.stderr())
        for name in (path + ".1", path):
            assert report_in(name)["totals"]["inuse_bytes"] == 200 * MIB
        assert "memory has run out" in tracer.stderr(), tracer.stderr()


def test_command_that_goes_on():
    """When the target has ended, the tracer says what it waits for, and a signal ends the wait."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        process, held = start(), os.path.join(folder, "held")
        os.mkfifo(held)
        tracer = lab.Tracer("-j", "--when-rss", "64m", "-o", os.path.join(folder, "report"), "-p", process.pid,
                            "--exec", 'echo > "$(dirname "$1")/began"; read line < "$(dirname "$1")/held"')
        order(process, 100)
        lab.wait_for(lambda: os.path.exists(os.path.join(folder, "began")), "the command runs")
        lab.end(process)
        lab.wait_for(lambda: "waiting for the command of --exec" in tracer.stderr(), "the tracer says that it waits")
        assert tracer.process.poll() is None, tracer.stderr()
        tracer.stop()
        assert tracer.process.returncode == 0, tracer.stderr()
        # The command is still there, and ends with its line.
        with open(held, "w", encoding="ascii") as file:
            file.write("go\n")


def test_refusals():
    for arguments, wanted in (
            (("--exec", "true", "-p", os.getpid()), "-o FILE"),
            (("--when-growth", "10m", "-p", os.getpid()), "size per time"),
            (("-o", "/nowhere/x", "--exec", "true", "-p", os.getpid()), "/nowhere/x")):
        status, output, errors = lab.run(*arguments)
        assert status == 2 and not output and wanted in errors, (arguments, status, errors)


lab.run_tests()
