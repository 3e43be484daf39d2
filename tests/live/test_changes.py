#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that do not stay what they were: exec, fork, libraries opened later, files replaced while they run."""
import json
import os
import shutil
import tempfile

import lab


def test_exec():
    # What the old program held has gone with it.
    account, report = lab.command_report([lab.target("changes"), "exec"])
    lab.check_account(account, report)
    assert not lab.sums(report, {"site_before"}), report["sites"]
    account, report = lab.attached_report([lab.target("changes"), "exec"])
    lab.check_account(account, report)
    assert not lab.sums(report, {"site_before"}), report["sites"]


def probes_in(pid):
    """The places in its library at which a process has other code than the file."""
    code, file = lab.code_of(pid), lab.file_code_of(pid)
    return {at for at, byte in enumerate(code) if byte != file[at]}


def is_probed_at(pid, places):
    """Somebody else's `tracer -a` may have probes elsewhere."""
    try:
        return places <= probes_in(pid)
    except (AssertionError, OSError):
        return False


def is_zombie(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "Z"


def test_exec_by_another_thread():
    """The kernel ties probes to the first thread, which ends there."""
    for backend in ["auto"] + [name for name in ("multi", "perf") if lab.has_backend(name)]:
        process = lab.start([lab.target("changes"), "thread-exec", "wait"])
        lab.wait_for(lambda process=process: lab.is_reading(process), "the target waits")
        tracer = lab.Tracer("-q", "-j", "-n", "0", "--backend", backend, "-p", process.pid, "3600")
        before = probes_in(process.pid)
        assert before, "no probe can be seen in the code"
        lab.release(process)

        def runs_again(pid=process.pid):
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                return b"after" in file.read().split(b"\0")
        lab.wait_for(runs_again, "the program is executed")
        lab.wait_for(lambda pid=process.pid, places=before: is_probed_at(pid, places), "it is probed again")
        # The report comes when all is done that has begun.
        tracer.process.send_signal(lab.signal.SIGUSR1)
        json.loads(tracer.process.stdout.readline())
        account = lab.work(process)
        report = json.loads(tracer.stop().splitlines()[-1])
        lab.check_account(account, report, ("execs_late", "files_late"))
        assert report["loss"]["execs_late"] == 1, report["loss"]
        assert not lab.sums(report, {"site_before"}), report["sites"]


def test_first_thread_ends():
    """The kernel ties probes to the first thread. A process that has lost it has not ended, and nothing says so."""
    process = lab.start([lab.target("changes"), "thread-only"])
    lab.wait_for(lambda: is_zombie(process.pid), "the first thread has ended")
    status, _, errors = lab.run("-p", process.pid)
    assert status == 5 and "other threads" in errors, (status, errors)
    process = lab.start([lab.target("changes"), "thread-only", "wait"])
    lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
    tracer = lab.Tracer("-j", "-p", process.pid, "3600")
    lab.release(process)
    lab.wait_for(lambda: is_zombie(process.pid), "the first thread has ended")
    lab.check_sums(json.loads(tracer.stop()))
    assert "the first thread of process %d has ended" % process.pid in tracer.stderr(), tracer.stderr()


def test_exec_of_a_static_program():
    # An empty report does not mean a program that frees everything.
    process = lab.start(["sh", "-c", "read line; exec %s" % lab.target("static")])
    lab.wait_for(lambda: lab.is_reading(process), "the shell waits for a line")
    tracer = lab.Tracer("-j", "-p", process.pid, "3600")
    lab.release(process)
    # The process has the new program before the kernel records that.
    lab.wait_for(lambda: tracer.report_now()["targets"][0]["exe"] == lab.target("static"), "the program is executed")
    process.kill()
    tracer.finish()
    assert "nothing is probed in process %d: %s" % (process.pid, lab.target("static")) in tracer.stderr(), tracer.stderr()
    static, dynamic = lab.start([lab.target("static")]), lab.start([lab.target("leaky")])
    lab.wait_for(lambda: lab.is_waiting(dynamic), "it sleeps between two requests")
    status, _, errors = lab.run("-p", "%d,%d" % (dynamic.pid, static.pid), "-d", "100ms")
    assert status == 0 and "nothing is probed in process %d" % static.pid in errors, errors
    assert "nothing is probed in process %d" % dynamic.pid not in errors, errors


def test_exec_of_a_script():
    account, report = lab.command_report(["sh", "-c", "exec %s calls" % lab.target("known")])
    lab.check_account(account, report)
    assert report["targets"][0]["comm"] == "known", report["targets"]


def test_fork():
    for get in (lab.command_report, lab.attached_report):
        account, report = get([lab.target("changes"), "fork"])
        lab.check_account(account, report)


def test_library_opened_later():
    for get, extra in ((lab.command_report, []), (lab.attached_report, [])):
        account, report = get([lab.target("changes"), "dlopen", lab.target("plugin.so")] + extra)
        lab.check_sums(report)
        found = lab.sums(report, {"plugin_leak"})
        assert found == {"plugin_leak": account["plugin_leak"]}, (found, account)
        frames = [frame for site in report["sites"] for frame in site["frames"] if frame["function"] == "plugin_leak"]
        assert all(frame["file"].endswith("plugin.c") and frame["line"] for frame in frames), frames


def replaced_report(replace):
    """A program whose file is gone or another one when it is attached to."""
    with tempfile.TemporaryDirectory(prefix="tracer-replaced-") as folder:
        program = os.path.join(folder, "program")
        shutil.copy(lab.target("known"), program)
        process = lab.start([program, "calls", "wait"])
        lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
        replace(program)
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
        account = lab.work(process)
        report = json.loads(tracer.stop())
        lab.check_account(account, report)
        lines = {frame["line"] for site in report["sites"] for frame in site["frames"]
                 if frame["function"] == "site_malloc"}
        assert lines and None not in lines, lines


def test_deleted_file():
    replaced_report(os.unlink)


def test_replaced_file():
    def replace(program):
        shutil.copy(lab.target("churn"), program + ".new")
        os.rename(program + ".new", program)
    replaced_report(replace)


# Runs as the first process of a pid namespace, where it can choose the next pid.
REUSE = """
import json, signal, subprocess, sys
tracer, known, churn = sys.argv[1:]
first = subprocess.Popen([churn, '1'], stdout=subprocess.PIPE)
first.stdout.readline()
traced = subprocess.Popen([tracer, '-j', '-n', '0', '-p', str(first.pid), '3600'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
assert b'ready' in traced.stderr.readline()
# The tracer starts processes of its own, which would take the pid. Its probes go on meanwhile.
traced.send_signal(signal.SIGSTOP)
first.kill()
first.wait()
with open('/proc/sys/kernel/ns_last_pid', 'w') as file:
    file.write(str(first.pid - 1))
second = subprocess.Popen([known, 'calls'], stdout=subprocess.DEVNULL)
second.wait()
traced.send_signal(signal.SIGCONT)
assert second.pid == first.pid, (first.pid, second.pid)
print(traced.communicate(timeout=180)[0].decode())
"""


def test_pid_is_used_again():
    unshare = lab.need("unshare")
    if not os.path.exists("/proc/sys/kernel/ns_last_pid"):
        raise lab.Skip("the kernel does not let a pid be chosen")
    if lab.subprocess.run([unshare, "--pid", "--fork", "--mount-proc", "true"], capture_output=True,
                          check=False).returncode:
        raise lab.Skip("no namespaces can be made here")
    process = lab.start([unshare, "--pid", "--fork", "--mount-proc", "python3", "-c", REUSE, lab.TRACER,
                         lab.target("known"), lab.target("churn")])
    output, errors = process.communicate(timeout=lab.PATIENCE)
    assert process.returncode == 0, errors
    report = lab.last_object(output.decode())
    lab.check_sums(report)
    assert report["targets"][0]["exited"] and report["targets"][0]["comm"] == "churn", report["targets"]
    assert not any((lab.function_of(site) or "").startswith("site_") for site in report["sites"]), report["sites"]


def test_short_commands():
    # Programs that end before their mappings could be read from /proc.
    for _ in range(10):
        account, report = lab.command_report([lab.target("known"), "zero"])
        lab.check_account(account, report)


lab.run_tests()
