#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Nothing is left behind and nothing is harmed, however the tracer or its target ends."""
import json
import signal
import subprocess

import lab


def churn(threads=2):
    process = lab.start([lab.target("churn"), threads])
    process.stdout.readline()
    return process


def rounds(process):
    """Rounds in the next tenth of a second: the target lives, and its blocks hold what it has written."""
    first = int(process.stdout.readline())
    return int(process.stdout.readline()) - first


def test_code_is_unchanged():
    process = churn()
    before = lab.code_of(process.pid)
    tracer = lab.Tracer("-q", "-p", process.pid)
    assert lab.code_of(process.pid) != before, "no probe can be seen in the code"
    tracer.stop()
    lab.wait_for_code(process.pid, before)
    assert rounds(process) > 0


def test_tracer_is_killed():
    process = churn()
    before = lab.code_of(process.pid)
    for _ in range(3):
        tracer = lab.Tracer("-q", "-j", "-p", process.pid, "0.05")
        tracer.process.stdout.readline()
        programs = lab.programs_of(tracer.process.pid)
        assert programs
        tracer.process.kill()
        tracer.process.wait()
        lab.wait_for(lambda: lab.are_gone(programs), "the kernel has removed the programs")
        lab.wait_for_code(process.pid, before)
        assert process.poll() is None and rounds(process) > 0


def test_target_is_killed():
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
        process = churn(4)
        tracer = lab.Tracer("-q", "-j", "-p", process.pid, "3600")
        programs = lab.programs_of(tracer.process.pid)
        assert programs
        tracer.wait_for_calls()
        process.send_signal(number)
        report = json.loads(tracer.finish())
        lab.check_sums(report)
        assert tracer.process.returncode == 0 and report["targets"][0]["exited"], report["targets"]
        lab.wait_for(lambda: lab.are_gone(programs), "the programs are gone")


def test_probing_in_a_loop():
    process = churn(4)
    before = lab.code_of(process.pid)
    for _ in range(15):
        status, output, errors = lab.run("-q", "-j", "-p", process.pid, "-d", "50ms")
        assert status == 0, errors
        lab.check_sums(json.loads(output))
    lab.wait_for_code(process.pid, before)
    assert process.poll() is None and rounds(process) > 0


def state_of(pid):
    """The program that a process runs, None if it has ended."""
    try:
        return lab.os.readlink("/proc/%s/exe" % pid)
    except OSError:
        return None


def held_until_killed():
    """Kill a tracer that has its programs and holds its command. Was that in time? A command that was let go before runs on."""
    tracer = lab.start([lab.TRACER, "--", lab.target("leaky")])
    children = []

    def is_held():
        with open("/proc/%d/task/%d/children" % (tracer.pid, tracer.pid), encoding="ascii") as file:
            children[:] = file.read().split()
        return len(children) > 1 or tracer.poll() is not None
    lab.wait_for(is_held, "the command is there")
    lab.wait_for(lambda: lab.programs_of(tracer.pid), "the programs are there")
    programs = lab.programs_of(tracer.pid)
    tracer.kill()
    tracer.wait()
    try:
        lab.wait_for(lambda: all(state_of(child) in (None, lab.target("leaky")) for child in children), "the held command has ended")
        return all(state_of(child) is None for child in children)
    finally:
        for child in children:
            if state_of(child):
                lab.os.kill(int(child), signal.SIGKILL)
        lab.wait_for(lambda: lab.are_gone(programs), "the programs are gone")


def test_held_command_ends_with_the_tracer():
    lab.wait_for(held_until_killed, "a held command ends")


def test_two_tracers():
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracers = [lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600") for _ in range(2)]
    account = lab.work(process)
    for tracer in tracers:
        lab.check_account(account, json.loads(tracer.stop()))


def test_under_a_debugger():
    gdb = lab.need("gdb")
    process = lab.start([lab.target("known"), "calls", "wait"])
    debugger = lab.start([gdb, "-q", "-nx", "-p", str(process.pid)], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    debugger.stdin.write(b"set confirm off\nset pagination off\nbreak scenario_calls\ncontinue\n")
    debugger.stdin.flush()
    lab.wait_for(lambda: lab.state_of(process) == ("S", True), "gdb has attached to it and let it go on")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    lab.release(process)
    lab.wait_for(lambda: lab.state_of(process) == ("t", True), "it is at gdb's breakpoint")
    debugger.stdin.write(b"next\nnext\ndelete\ncontinue\n")
    debugger.stdin.flush()
    account = json.loads(process.stdout.readline())
    report = json.loads(tracer.stop())
    debugger.kill()
    lab.check_account(account, report)


def test_probes_are_put_back_in_all_processes():
    process = lab.start([lab.target("unprobed")])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")

    def ask(what):
        process.stdin.write(what + b"\n")
        process.stdin.flush()
        process.stdout.readline()

    # Only its blocks: to name those of all processes takes a busy machine long, and many reports may be needed.
    tracer = lab.Tracer("-j", "-n", "0", "-z", "1000", "-Z", "1000", "--all", "3600")
    ask(b"drop")
    ask(b"allocate")
    # Each report looks at some processes of the machine, and the next one at others.
    reports = [tracer.report_now()]
    lab.wait_for(lambda: "process %d (unprobed): " % process.pid in tracer.stderr() or reports.append(tracer.report_now()), "its probes are missed")
    reports.append(tracer.report_now())
    first = reports[-1]
    assert first["loss"]["probes_missing"], first["loss"]
    ask(b"allocate")
    last = json.loads(tracer.stop())
    counted = [sum(site["alloc_objects"] for site in report["sites"]
                   if site["pid"] == process.pid and lab.function_of(site) == "site_blocks") for report in (first, last)]
    assert counted == [0, 100], "%s, %s" % (counted, first["loss"])


def test_no_ptrace_and_no_writes():
    strace = lab.shutil.which("strace")
    if not strace:
        raise lab.Skip("strace is not installed")
    process = churn()
    log = subprocess.run([strace, "-f", "-e", "trace=ptrace,process_vm_writev,kill,tgkill,openat,open", lab.TRACER, "-q", "-p",
                          str(process.pid), "-d", "300ms"], capture_output=True, text=True, check=False,
                         timeout=lab.PATIENCE).stderr
    assert "openat(" in log, log
    for line in log.splitlines():
        assert "ptrace(" not in line and "process_vm_writev(" not in line, line
        assert not ("/proc/%d/" % process.pid in line and "O_RDONLY" not in line and "O_PATH" not in line), line


lab.run_tests()
