#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks --pause`: a process that never rests is stopped for one pass, which is a proof; it goes on whatever becomes of the tracer, and
what a stop does to its system calls is known (tracer.8).

Truth: what tests/targets/leak_motion.c and shares.c lose, and the EINTR that tests/targets/stoppable.c counts itself."""
import ctypes.util
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


def moving(*how, **options):
    process = lab.start([lab.target("leak_motion"), *how], text=True, **options)
    assert process.stdout.readline() == "at work\n"
    return process


def check_proof(*how, options=(), looks=1):
    process, reports = moving(*how), []

    def is_known():
        """A stop in the midst of malloc may leave it open which blocks are free, and then nothing is certain."""
        report = leaks(process, "--pause", *PATIENT, *options)
        reports.append(report)
        assert report["evidence"] == "pause" and report["pause_s"] > 0, report
        assert report["certain"] == (report["has_registers"] and not report["swapped_bytes"] and not report["frees_unknown"]), report
        return not report["frees_unknown"]
    for _ in range(looks):
        lab.wait_for(is_known, "a stop at which all free blocks are known")
        report = reports[-1]
        assert [(group["kind"], group["size"], group["blocks"], group["indirect_bytes"]) for group in report["groups"]
                if group["kind"] != "possible"] == [("definite", 3016, 12, 12 * 3000)], report["groups"]
        # Of what each of two threads has in hand the inside may be known only.
        assert report["lost"]["possible"]["blocks"] <= 2, report["lost"]
        lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
    lab.end(process)


def test_lists_that_change():
    check_proof()


def test_pointers_between_ends():
    check_proof("ends")


def test_tables_that_move():
    check_proof("tables")


def test_blocks_in_hand():
    """malloc and free know the block that they have in hand by its header, and nothing else may have it: it is not lost."""
    check_proof("hands", looks=15)


def test_traced():
    check_proof(options=("-d", "1s"))


def sharing(how):
    """A process that shares its memory, the other one's number, and the address of a block that is held."""
    process = lab.start([lab.target("shares"), how], text=True)
    child, address = process.stdout.readline().split()
    return process, int(child), address


def check_shared(how, *options, remark):
    process, child, _ = sharing(how)
    report = leaks(process, *options)
    assert report["evidence"].endswith(" passes") and report["pause_s"] is None and not report["certain"], report
    assert any(remark % child in line for line in report["remarks"]), report["remarks"]
    assert report["lost"]["definite"] == {"blocks": 12, "bytes": 12 * 3000}, report["lost"]
    lab.end(process)


def test_shared_memory():
    """No thread of the process runs, and nothing is certain: another process may write to its memory. It is no reason to stop this one."""
    check_shared("vfork", remark="Process %d shares the memory of this one")
    check_shared("clone", remark="Process %d shares the memory of this one")
    check_shared("busy", "--pause", *PATIENT, remark="not stopped: process %d shares its memory")


def test_memory_not_shared():
    """A child that has executed a program has memory of its own."""
    process, _, _ = sharing("spawn")
    report = leaks(process)
    assert report["evidence"] == "quiet" and report["certain"] == report["has_registers"], report
    assert report["lost"]["definite"]["blocks"] == 12, report["lost"]
    lab.end(process)


def test_who():
    """A block that is reached needs no proof, one that is lost does."""
    process, _, held = sharing("alone")
    report = leaks(process, "--pause", *PATIENT, "--who", held)
    assert report["evidence"].endswith(" passes") or report["evidence"] == "1 pass", report["evidence"]
    assert report["pause_s"] is None and report["who"]["kind"] == "reachable", report
    lost = leaks(process)["groups"][0]["address"]
    report = leaks(process, "--pause", *PATIENT, "--who", lost)
    assert report["evidence"] == "pause" and report["pause_s"] > 0 and report["who"]["kind"] == "definite", report
    lab.end(process)


def test_jemalloc():
    preload = ctypes.util.find_library("jemalloc")
    if not preload:
        raise lab.Skip("the allocator is not installed")
    process = moving("tables", env=dict(os.environ, LD_PRELOAD=preload))
    report = leaks(process, "--pause", *PATIENT)
    assert report["evidence"] == "pause", report
    assert 20 <= report["lost"]["definite"]["blocks"] + report["lost"]["indirect"]["blocks"] <= 24, report["lost"]
    lab.end(process)


def test_first_process_of_a_container():
    """It ignores SIGSTOP from inside: there is no pause, and what the passes have found is reported."""
    lab.need("unshare")
    outer = lab.start([lab.need("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc", lab.target("shares"), "alone"], text=True)
    _, held = outer.stdout.readline().split()
    pid = lab.children_of(outer.pid)[0]
    tracer = lab.start([lab.need("nsenter"), "-t", str(pid), "-p", "-m", lab.TRACER, "leaks", *lab.PATIENT, "-q", "-j", "--pause", "--max-pause",
                        "1s", "-p", "1"])
    output, errors = tracer.communicate(timeout=lab.PATIENCE * 5)
    assert tracer.returncode == 1, errors
    report = json.loads(output)
    assert report["evidence"].endswith(" passes") and report["pause_s"] is None and not report["certain"], report
    assert any("did not stop within 1.0 s" in line for line in report["remarks"]), report["remarks"]
    assert report["lost"]["definite"]["blocks"] == 12 and held, report["lost"]
    lab.end(outer)


def look_inside(pid, *options):
    """The report of a tracer in the pid namespace of a process, its first one."""
    tracer = lab.start([lab.need("nsenter"), "-t", str(pid), "-p", lab.need("unshare"), "--mount", "--mount-proc", lab.TRACER, "leaks", *lab.PATIENT,
                        "-q", "-j", "-p", "1", *options])
    output, errors = tracer.communicate(timeout=lab.PATIENCE * 5)
    assert tracer.returncode == 1, errors
    return json.loads(output)


def test_sharer_outside_of_the_namespace():
    """No process in the namespace shares the memory of its first one, but one outside does: nothing is certain, nobody is stopped. Where there is
    none, a pass is a proof inside of a namespace, too."""
    if subprocess.run([lab.need("unshare"), "-m", "-p", "-f", "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no namespaces can be made here")
    outer, child, _ = sharing("outer")
    for options in ((), ("--pause", *PATIENT)):
        report = look_inside(child, *options)
        assert not report["certain"] and report["evidence"] != "quiet" and report["pause_s"] is None, report
        assert report["lost"]["definite"]["blocks"] == 12, report["lost"]
        assert any("whether other processes share" in remark for remark in report["remarks"]), report["remarks"]
    lab.end(outer)
    outer = lab.start([lab.need("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc", lab.target("shares"), "spawn"], text=True)
    outer.stdout.readline()
    report = look_inside(lab.children_of(outer.pid)[0])
    assert report["has_registers"] and report["certain"] and report["evidence"] == "quiet", report
    lab.end(outer)


def test_limit():
    """A pass is longer than the stop may be: the process is not stopped, or goes on; either is said, and nothing is certain."""
    process = moving()
    report = leaks(process, "--pause", "--max-pause", "1ms")
    assert report["evidence"].endswith(" passes") and not report["certain"], report
    assert any("--max-pause is 1.0 ms" in remark for remark in report["remarks"]), report["remarks"]
    assert report["lost"]["definite"]["blocks"] == 12, report["lost"]
    lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
    lab.end(process)


def is_watchdog(pid):
    try:
        return "pidfd" in os.readlink("/proc/%d/fd/3" % pid)
    except OSError:
        return False


def in_the_pause(process, strike):
    """Do something to a tracer and its watchdog while the process is stopped: until `strike`, which has waited for the tracer, returns true."""
    for _ in range(20):
        tracer = lab.start([lab.TRACER, "leaks", *lab.PATIENT, "-q", "-j", "--pause", *PATIENT, "-p", process.pid])
        while tracer.poll() is None and state(process) not in "Tt":
            pass
        dogs = [pid for pid in lab.children_of(tracer.pid) if is_watchdog(pid)] if tracer.poll() is None else []
        if dogs and state(process) in "Tt":
            done = strike(tracer, dogs[0])
            lab.wait_for(lambda: state(process) not in "Tt", "it goes on")
            assert process.poll() is None
            if done:
                return
        lab.end(tracer)
    assert False, "the process was never met while it was stopped"


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_killed_in_the_pause():
    """The tracer is killed while the process is stopped."""
    process = moving()

    def strike(tracer, _):
        tracer.kill()
        return tracer.wait() == -signal.SIGKILL
    in_the_pause(process, strike)
    lab.end(process)


def test_both_killed_in_the_pause():
    process = moving()

    def strike(tracer, watchdog):
        tracer.send_signal(signal.SIGSTOP)  # it does nothing more
        kill(watchdog)
        tracer.kill()
        return tracer.wait() == -signal.SIGKILL
    in_the_pause(process, strike)
    lab.end(process)


def test_watchdog_killed_in_the_pause():
    """The process goes on at once, and the passes before are reported."""
    process = moving("ends")

    def strike(tracer, watchdog):
        kill(watchdog)
        output, errors = tracer.communicate(timeout=lab.PATIENCE)
        assert tracer.returncode == 1, errors
        report = json.loads(output)
        assert report["lost"]["definite"]["blocks"] == 12, report["lost"]
        if report["evidence"] == "pause":
            return False
        if report["pause_s"] is None:
            # It went on before the tracer, which waited for a CPU, had seen it stopped.
            assert any("did not stop within" in line for line in report["remarks"]), report["remarks"]
            return False
        assert report["evidence"].endswith(" passes") and report["pause_s"] > 0 and not report["certain"], report
        return any("went on before a pass was over" in line for line in report["remarks"])
    in_the_pause(process, strike)
    lab.end(process)


def test_signal_in_the_pause():
    """SIGTERM ends the look, and the pause."""
    process = moving("ends")

    def strike(tracer, _):
        tracer.terminate()
        _, errors = tracer.communicate(timeout=lab.PATIENCE)
        assert tracer.returncode in (1, 3), errors
        return tracer.returncode == 3 and b"a signal has ended the look" in errors
    in_the_pause(process, strike)
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
    # Each thread is in its call, or back in it when it has counted that.
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads wait")
    report = leaks(process)
    assert report["evidence"] != "pause" and report["pause_s"] is None, report
    assert not counts(process)
    report = leaks(process, "--pause", *PATIENT)
    assert report["evidence"] == "pause", report
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads wait again")
    found = counts(process)
    assert found <= INTERRUPTED, found
    assert {"epoll_wait", "semop"} <= found, found
    process.stdin.close()
    process.wait()


def test_parent_sees_it():
    """A parent that waits for stopped children, with WUNTRACED, sees the stop."""
    script = "import ctypes,os,subprocess,sys\nchild=subprocess.Popen(sys.argv[1:],stdout=subprocess.PIPE,\n" \
             "  preexec_fn=lambda: ctypes.CDLL(None).prctl(1, 9))\nchild.stdout.readline()\n" \
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
    status, _, errors = lab.run("leaks", "-p", os.getpid(), "--max-pause", "1s")
    assert status == 2 and "add --pause" in errors, errors


if __name__ == "__main__":
    lab.run_tests()
