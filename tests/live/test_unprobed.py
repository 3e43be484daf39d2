#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes that somebody else takes out of a process are noticed with the next report, counted, and put back."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import lab

BLOCKS = 100  # of one "allocate" of tests/targets/unprobed.c


class Target:
    def __init__(self):
        self.process = lab.start([lab.target("unprobed")])
        lab.wait_for(lambda: lab.is_reading(self.process), "the target waits")
        self.pid = self.process.pid

    def ask(self, what):
        self.process.stdin.write(what.encode() + b"\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class Reports:
    """A tracer whose reports are asked for."""

    def __init__(self, pid, *options, under=()):
        self.tracer = lab.Tracer("-j", "-n", "0", "-p", pid, *options, "3600", under=under)

    def next(self):
        self.tracer.process.send_signal(signal.SIGUSR1)
        return json.loads(self.tracer.process.stdout.readline())

    def next_missing(self):
        """The first one that misses probes: a look ends when its time has passed, and that of the next report goes on."""
        reports = []
        lab.wait_for(lambda: reports.append(self.next()) or missing(reports[-1]), "the probes are missed")
        return reports[-1]

    def last(self):
        return json.loads(self.tracer.stop().splitlines()[-1])


def counted(report):
    return lab.sums(report, {"site_blocks"}).get("site_blocks", [0, 0])[1]


def missing(report):
    return report["loss"]["probes_missing"]


def check_put_back(*options, under=()):
    target = Target()
    reports = Reports(target.pid, *options, under=under)
    target.ask("allocate")
    first = reports.next()
    assert counted(first) == BLOCKS and not missing(first), first["loss"]
    target.ask("drop")
    target.ask("allocate")
    second = reports.next_missing()
    assert counted(second) == BLOCKS, "%d, %s" % (counted(second), second["loss"])
    target.ask("allocate")
    third = reports.last()
    assert counted(third) == 2 * BLOCKS, counted(third)
    assert missing(third) == missing(second), third["loss"]
    lab.check_sums(third)
    said = reports.tracer.stderr()
    assert said.count("put back, but calls were missed") == 1 and "process %d (unprobed)" % target.pid in said, said


def test_put_back():
    check_put_back()


def test_put_back_by_multi_probes():
    lab.need_backend("multi")
    check_put_back("--backend", "multi")


def test_put_back_by_perf_probes():
    lab.need_backend("perf")
    check_put_back("--backend", "perf")


def test_put_back_with_least_capabilities():
    """The tracer may not open the files of the target in /proc that say which pages it has."""
    least = "-all,+bpf,+perfmon,+sys_ptrace"
    under = [lab.need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
             "--inh-caps=" + least, "--ambient-caps=" + least, "--bounding-set=" + least]
    if lab.run("--backend", "multi", "-d", "1ms", "--", "true")[0]:
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    built = lab.TRACER
    with tempfile.TemporaryDirectory(prefix="tracer-unprobed-") as folder:
        os.chmod(folder, 0o755)
        lab.TRACER = shutil.copy(built, folder)
        try:
            check_put_back(under=under)
        finally:
            lab.TRACER = built


def check_replaced(what):
    target = Target()
    reports = Reports(target.pid)
    target.ask("allocate")
    first = reports.next()
    assert counted(first) == BLOCKS and not missing(first), first["loss"]
    target.ask(what)
    target.ask("allocate")
    second, third = reports.next(), reports.last()
    assert counted(third) == BLOCKS, counted(third)
    assert 0 < missing(second) < missing(third), "%s, %s" % (second["loss"], third["loss"])
    said = reports.tracer.stderr()
    assert said.count("cannot be put back") == 1 and "process %d (unprobed)" % target.pid in said, said


def test_page_is_replaced():
    check_replaced("page")


def test_library_is_replaced():
    check_replaced("all")


def test_child_takes_them_out():
    target = Target()
    reports = Reports(target.pid, "--follow-fork")
    target.ask("allocate")
    child = target.ask("fork")
    assert child != target.pid
    lab.wait_for(lambda: any(row["pid"] == child for row in reports.next()["targets"]), "the child is traced")
    target.ask("drop")
    reports.next_missing()
    target.ask("allocate")
    report = reports.next()
    assert sum(site["alloc_objects"] for site in report["sites"]
               if site["pid"] == child and lab.function_of(site) == "site_blocks") == BLOCKS
    said = reports.tracer.stderr()
    assert "process %d (unprobed): " % child in said and "process %d (unprobed): " % target.pid not in said, said
    reports.last()


def test_unmapped_library_is_no_loss():
    account, report = lab.attached_report([lab.target("changes"), "dlopen", lab.target("plugin.so")])
    lab.check_account(account, report)


def send(debugger, *lines):
    """Have gdb do something, and wait until it has."""
    debugger.stdin.write("\n".join([*lines, "echo \\ndone\\n", ""]).encode())
    debugger.stdin.flush()
    said = b" "
    while said and not said.strip().endswith(b"done"):
        said = debugger.stdout.readline()
    assert said, "gdb ended"


def test_debugger_takes_them_out():
    gdb = lab.need("gdb")
    target = Target()
    _, plan, _ = lab.run("plan", "-p", target.pid)
    distance = re.search(r"^ +malloc +0x[0-9a-f]+(?:\+(\d+))?", plan, re.M).group(1) or "0"
    debugger = lab.start([gdb, "-q", "-nx", "-p", str(target.pid)], stderr=subprocess.STDOUT)
    send(debugger, "set confirm off", "set pagination off", "set breakpoint always-inserted on",
         "break *((char *)&malloc + %s)" % distance)
    reports = Reports(target.pid)
    send(debugger, "delete", "detach")
    target.ask("allocate")
    first = reports.next()
    assert missing(first) > 0 and counted(first) == 0, "%d, %s" % (counted(first), first["loss"])
    target.ask("allocate")
    last = reports.last()
    assert counted(last) == BLOCKS and missing(last) == missing(first), "%d, %s" % (counted(last), last["loss"])
    assert "malloc" in reports.tracer.stderr(), reports.tracer.stderr()


lab.run_tests()
