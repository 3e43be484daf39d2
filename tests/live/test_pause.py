#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks --pause`: a process that never rests is stopped for one pass, which is a proof; it goes on whatever becomes of the tracer, and
what a stop does to its system calls is known (tracer.8).

Truth: what tests/targets/leak_motion.c loses, and the EINTR that tests/targets/stoppable.c counts itself."""
import json
import os
import signal
import subprocess

import lab

# Those that signal(7) names: they fail after a stop, without a handler of the program.
INTERRUPTED = {"epoll_wait", "semop", "sigtimedwait", "recv with a timeout", "msgrcv", "read of inotify"}
PATIENT = ("--max-pause", "30s")


def state(process):
    return lab.state_of(process)[0][:1]


def leaks(process, *options):
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", process.pid, *options)
    assert status in (0, 1), (status, errors)
    return json.loads(output)


def moving(*how):
    process = lab.start([lab.target("leak_motion"), *how], text=True)
    assert process.stdout.readline() == "at work\n"
    return process


def check_proof(*how):
    process = moving(*how)
    report = leaks(process, "--pause", *PATIENT)
    assert report["evidence"] == "pause" and report["pause_s"] > 0, report
    assert report["certain"] == (report["has_registers"] and not report["swapped_bytes"]), report
    assert [(group["kind"], group["size"], group["blocks"], group["indirect_bytes"]) for group in report["groups"]] == [
        ("definite", 3016, 12, 12 * 3000)], report["groups"]
    lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
    lab.end(process)


def test_lists_that_change():
    check_proof()


def test_pointers_between_ends():
    check_proof("ends")


def test_tables_that_move():
    check_proof("tables")


def test_limit():
    """A pass is longer than the stop may be: the process is not stopped, or goes on; either is said, and nothing is certain."""
    process = moving()
    report = leaks(process, "--pause", "--max-pause", "1ms")
    assert report["evidence"].endswith(" passes") and not report["certain"], report
    assert any("--max-pause is 1.0 ms" in remark for remark in report["remarks"]), report["remarks"]
    assert report["lost"]["definite"]["blocks"] == 12, report["lost"]
    lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
    lab.end(process)


def test_killed_in_the_pause():
    """The tracer is killed while the process is stopped."""
    process = moving()
    for _ in range(20):
        tracer = subprocess.Popen([lab.TRACER, "leaks", *lab.PATIENT, "-q", "--pause", *PATIENT, "-p", str(process.pid)],
                                  stdout=subprocess.DEVNULL)
        while tracer.poll() is None and state(process) not in "Tt":
            pass
        tracer.kill()
        tracer.wait()
        lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
        if tracer.returncode == -signal.SIGKILL:
            break
    else:
        assert False, "the tracer was never killed in the pause"
    assert process.poll() is None
    lab.end(process)


def test_stopped_already():
    """What somebody else has stopped stays so: it is at rest, and there is no other stop."""
    process = moving()
    os.kill(process.pid, signal.SIGSTOP)
    lab.wait_for(lambda: state(process) == "T", "it stops")
    report = leaks(process, "--pause", *PATIENT)
    assert report["evidence"] == "quiet" and report["pause_s"] is None, report
    assert state(process) == "T"
    lab.end(process)


def counts(process):
    return {name for name, count in lab.work(process).items() if count}


def test_system_calls():
    """Without a pause none is interrupted; with one only those that signal(7) names."""
    process = lab.start([lab.target("stoppable")])
    assert process.stdout.readline() == b"ready\n"
    report = leaks(process)
    assert report["evidence"] != "pause" and report["pause_s"] is None, report
    assert not counts(process)
    report = leaks(process, "--pause", *PATIENT)
    assert report["evidence"] == "pause", report
    lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
    found = counts(process)
    assert found <= INTERRUPTED, found
    assert {"epoll_wait", "semop"} <= found, found
    process.stdin.close()
    process.wait()


def test_parent_sees_it():
    """A parent that waits for stopped children, with WUNTRACED, sees the stop."""
    script = "import os,subprocess,sys\nchild=subprocess.Popen(sys.argv[1:],stdout=subprocess.PIPE)\nchild.stdout.readline()\n" \
             "print(child.pid,flush=True)\n_,status=os.waitpid(child.pid,os.WUNTRACED)\n" \
             "print('stopped' if os.WIFSTOPPED(status) else 'ended',flush=True)\nsys.stdin.read()\nos.kill(child.pid,9)\n"
    parent = lab.start(["python3", "-c", script, lab.target("leak_motion")])
    pid = int(parent.stdout.readline())
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "--pause", *PATIENT, "-p", pid)
    assert status == 1 and json.loads(output)["evidence"] == "pause", errors
    assert parent.stdout.readline() == b"stopped\n"
    parent.stdin.close()
    parent.wait()


def test_refused():
    status, _, errors = lab.run("leaks", "--pause", "--", "true")
    assert status == 2 and "leave out --pause" in errors, errors


if __name__ == "__main__":
    lab.run_tests()
