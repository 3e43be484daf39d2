#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command line promises: reports, times, signals, files, formats, exit statuses."""
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile

import lab


def leaky():
    process = lab.start([lab.target("leaky")])
    lab.wait_for(lambda: lab.is_waiting(process), "it sleeps between two requests")
    return process


def has_requests(report):
    """Do requests of the program hold something? What it allocates first may be the end of one that began before the probes."""
    return any(frame["function"] == "request_read" for site in report["sites"] if site["inuse_objects"] for frame in site["frames"])


def run_until(has_seen, *arguments, milliseconds=300):
    """
    Trace for this time, as given by -d, and again for four times as long until `has_seen` is true of status and output: on a busy
    machine the target may not run at all in a short one.
    """
    for longer in (1, 4, 16, 64, 256):
        status, output, errors = lab.run(*arguments, "-d", "%dms" % (longer * milliseconds))
        if has_seen(status, output):
            break
    return status, output, errors


def test_one_shot():
    process = leaky()
    status, output, errors = run_until(lambda _, output: "request_read" in output and "calloc" in output, "-p", process.pid, "-n", "2")
    assert status == 0, (status, errors)
    assert output.count("traced for") == 1 and "calloc (glibc, heap)" in output, output
    assert "request_read" in output and "leaky.c:" in output, output
    assert max(map(len, output.splitlines())) <= 80, output
    assert "coverage: " in output and output.splitlines()[-1].startswith("Leak approximation summary: "), output
    assert errors.startswith("tracer: ready"), errors


def test_interval_and_count():
    process = leaky()
    # On a busy machine the target may not run at all between two reports.
    for interval in (0.2, 0.8, 3.2, 12.8):
        status, output, errors = lab.run("-q", "-j", "-p", process.pid, str(interval), "4")
        assert "until Ctrl-C" not in errors, errors
        reports = [json.loads(line) for line in output.splitlines()]
        assert status == 0 and len(reports) == 4, output
        times = [report["duration_s"] for report in reports]
        assert times == sorted(times) and times[0] >= interval - 0.01, times
        for report in reports:
            lab.check_sums(report)
        if reports[-1]["totals"]["alloc_bytes"] > reports[0]["totals"]["alloc_bytes"]:
            break
    assert reports[-1]["totals"]["alloc_bytes"] > reports[0]["totals"]["alloc_bytes"], output


def test_count_without_signals():
    """COUNT is of INTERVAL's: a report that a signal asks for is an extra one."""
    tracer = lab.Tracer("-j", "-p", leaky().pid, "3", "2")
    tracer.report_now()
    tracer.report_now()
    assert len(tracer.finish().splitlines()) == 2 and tracer.process.returncode == 0, tracer.stderr()


def test_several_processes():
    first, second = leaky(), leaky()

    def of_requests(output):
        return {site["pid"] for site in json.loads(output)["sites"] for frame in site["frames"] if frame["function"] == "request_read"}
    status, output, _ = run_until(lambda _, output: len(of_requests(output)) == 2, "-q", "-j", "-n", "0", "-p",
                                  "%d,%d" % (first.pid, second.pid))
    report = json.loads(output)
    assert status == 0 and [row["pid"] for row in report["targets"]] == [first.pid, second.pid], report
    assert of_requests(output) == {first.pid, second.pid}, report


def test_signals():
    tracer = lab.Tracer("-j", "-p", leaky().pid, "3600")
    assert tracer.report_now()["schema"] == 1
    output = tracer.stop(signal.SIGTERM)
    assert tracer.process.returncode == 0 and len(output.splitlines()) == 1, output


def family(pid):
    """A process and all that it has started."""
    found = [pid]
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, thread), encoding="ascii") as file:
            for child in file.read().split():
                found += family(int(child))
    return found


def test_signals_to_all_its_processes():
    # As a service manager or pkill does.
    tracer = lab.Tracer("-j", "-p", leaky().pid, "3600")
    lab.wait_for(lambda: has_requests(tracer.report_now()), "requests hold something")
    processes = family(tracer.process.pid)
    assert len(processes) > 1, processes
    for number in (signal.SIGUSR1, signal.SIGTERM):
        for pid in reversed(processes):
            os.kill(pid, number)
        report = json.loads(tracer.process.stdout.readline())
        assert any(frame["function"] == "request_read" for site in report["sites"] for frame in site["frames"]), report
    tracer.finish()
    assert tracer.process.returncode == 0


def is_stopped(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def test_signal_before_anything_is_traced():
    """What reads files is stopped, so files are still unread when the tracer has to end: that is no file without functions."""
    program = lab.start([lab.target("leaky")])
    # The end is urgent after two fifths of this: before a reader that does not answer for 10 s is given up. A busy machine has the rest.
    environment = dict(os.environ, TRACER_END_SECONDS="15")
    found = []

    def is_unread():
        """It has a worker to read files, which is not there yet, or too late to be stopped."""
        tracer = lab.Tracer("-q", "-p", str(program.pid), ready=False, env=environment)
        lab.wait_for(lambda: lab.children_of(tracer.process.pid), "something reads files")
        reader = lab.children_of(tracer.process.pid)[0]
        os.kill(reader, signal.SIGSTOP)
        lab.wait_for(lambda: is_stopped(reader), "it is stopped")
        found[:] = tracer, reader
        if not lab.children_of(reader):
            return True
        os.kill(reader, signal.SIGKILL)
        lab.end(tracer.process)
        return False
    lab.wait_for(is_unread, "what reads files is stopped before it does")
    tracer, reader = found
    assert "ready" not in tracer.stderr()
    tracer.process.send_signal(signal.SIGTERM)
    status = tracer.process.wait(lab.PATIENCE)
    os.kill(reader, signal.SIGKILL)
    message = tracer.stderr()
    assert status == 3 and "a signal has ended the tracer before anything was traced" in message, (status, message)
    assert "nothing to probe" not in message
    lab.end(program)


def test_target_ends():
    process = leaky()
    tracer = lab.Tracer("-j", "-p", process.pid, "3600")
    lab.wait_for(lambda: has_requests(tracer.report_now()), "requests hold something")
    process.kill()
    report = json.loads(tracer.finish())
    assert tracer.process.returncode == 0
    assert report["targets"][0]["exited"] is True and report["totals"]["inuse_objects"] > 0, report
    # Names are right after the process has gone.
    assert any(frame["function"] == "request_read" and frame["line"] for site in report["sites"]
               for frame in site["frames"]), report


def test_closed_pipe():
    process = leaky()
    reader, writer = os.pipe()
    tracer = lab.Tracer("-p", process.pid, "0.1", stdout=writer)
    os.close(writer)
    os.read(reader, 100)
    os.close(reader)
    lab.wait_for(lambda: tracer.process.poll() is not None, "the tracer ends")
    messages = [line for line in tracer.stderr().splitlines() if "ready" not in line and "price" not in line]
    assert tracer.process.returncode == 0 and not messages, (tracer.process.returncode, messages)


def test_pipe_that_nobody_reads():
    process = leaky()
    reader, writer = os.pipe()
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "0.02", stdout=writer)
    lab.wait_for(lambda: not select.select([], [writer], [], 0)[1], "the pipe is full")
    tracer.process.send_signal(signal.SIGTERM)
    lab.wait_for(lambda: tracer.process.poll() is not None, "the tracer ends")
    assert tracer.process.returncode == 3 and "takes nothing" in tracer.stderr(), tracer.stderr()
    os.close(reader)
    os.close(writer)


def test_fifo_that_nobody_reads():
    with tempfile.TemporaryDirectory(prefix="tracer-fifo-") as folder:
        os.mkfifo(folder + "/fifo")
        status, _, errors = lab.run("-q", "-o", folder + "/fifo", "-p", leaky().pid, "-d", "100ms")
        assert status == 2 and "FIFO" in errors, (status, errors)


def test_output_file():
    process = leaky()
    with tempfile.TemporaryDirectory(prefix="tracer-output-") as folder:
        status, output, _ = lab.run("-q", "-p", process.pid, "-d", "200ms", "-o", folder + "/r-%p.txt")
        assert status == 0 and output == "", output
        path = "%s/r-%d.txt" % (folder, process.pid)
        with open(path, encoding="utf-8") as file:
            assert "traced for" in file.read()
        assert os.stat(path).st_mode & 0o077 == 0


def without_file_sizes():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_limit_of_file_sizes():
    """Where no file may grow, a report is refused as on a full disk; a program that is started has the signal's default."""
    program = leaky()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        for command in (["-d", "100ms"], ["memory", *lab.PATIENT], ["leaks", "--deadline", "1h"], ["plan"]):
            with open(path, "wb") as stdout:
                process = lab.start([lab.TRACER, *command, "-p", program.pid], stdout=stdout, preexec_fn=without_file_sizes)
                status, errors = (process.wait(lab.PATIENCE), process.stderr.read().decode())
            assert status == 3 and "File too large" in errors, (command, status, errors)
        status, _, errors = lab.run("-d", "100ms", "-o", path, "-p", program.pid, preexec_fn=without_file_sizes)
        assert status == 3 and "cannot write to '%s': File too large" % path in errors, (status, errors)
        script = "exec cat /proc/self/status >%s" % path
        lab.run("--", "sh", "-c", script)
        with open(path, encoding="ascii", errors="replace") as file:
            ignored = int(re.search(r"SigIgn:\t([0-9a-f]+)", file.read()).group(1), 16)
        assert not ignored >> (signal.SIGXFSZ - 1) & 1, hex(ignored)
    lab.end(program)


def owner(path):
    return os.stat(path).st_uid, os.stat(path).st_gid


def test_owner_of_a_new_file():
    """Under sudo, what is made belongs to the user that has run it: what was there before stays whose it was, and no wrong ID does harm."""
    process, ours = leaky(), (0, 0)
    with tempfile.TemporaryDirectory(prefix="tracer-output-") as folder:
        path = os.path.join(folder, "x.html")
        for user, group, wanted in (("1234", "5678", (1234, 5678)), ("0", "0", ours), ("4294967295", "1", ours), ("1234", "", ours),
                                    ("-1", "1", ours), ("1234 ", "1", ours), ("0x10", "1", ours), ("4294968530", "1", ours)):
            sudo = dict(os.environ, SUDO_UID=user, SUDO_GID=group)
            status, _, errors = lab.run("-q", "-p", process.pid, "-d", "10ms", "-o", path, env=sudo)
            assert status == 0 and owner(path) == wanted, (user, group, owner(path), errors)
            os.unlink(path)
        sudo = dict(os.environ, SUDO_UID="1234", SUDO_GID="5678")
        with open(path, "w", encoding="ascii"):
            pass
        assert lab.run("memory", "-q", *lab.PATIENT, "-p", process.pid, "-o", path, env=sudo)[0] == 0 and owner(path) == ours
        saved = os.path.join(folder, "saved")
        for _ in range(2):
            status, _, errors = lab.run("leaks", "-q", *lab.PATIENT, "-p", process.pid, "--save", saved, env=sudo)
            assert status in (0, 1) and owner(saved) == (1234, 5678), (status, errors, owner(saved))


def test_format_by_ending():
    """The name of the file of -o chooses how it is written; what an option says wins."""
    process = leaky()
    with tempfile.TemporaryDirectory(prefix="tracer-output-") as folder:
        for name, options, begin in (("%p.html", (), b"<!DOCTYPE html>"), ("a.pb.gz", (), b"\x1f\x8b"), ("a.svg", (), b"<svg"),
                                     ("a.json", (), b'{"schema":1'), ("a.json", ("--schema", 2), b'{"schema":2'),
                                     ("a.speedscope.json", (), b'{"$schema":"https://www.speedscope.app'), ("a.folded", (), b"leaky;"),
                                     ("a.html", ("--format", "json"), b'{"schema":1'), ("a.json", ("-f",), b"leaky;")):
            path = os.path.join(folder, name)
            status, _, errors = lab.run("-q", "-p", process.pid, "-d", "300ms", "-o", path, *options)
            assert status == 0, errors
            with open(path.replace("%p", str(process.pid)), "rb") as file:
                assert file.read(100).startswith(begin), (name, options)


def test_what_is_not_a_regular_file():
    """A FIFO, a device or a folder in place of a file is named as that: to root, nothing says why its permission is denied."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        for path in (fifo, "/dev/null", folder):
            for command in (["leaks", "-d", "1h", "--suppressions", path], ["leaks", "--since", path], ["memory", "--since", path],
                            ["serve", "--listen", "0", "--token-file", path]):
                status, _, errors = lab.run(*command, "-p", str(os.getpid()))
                assert status == 2 and "it is not a regular file" in errors, (command, status, errors)


def test_folded():
    status, output, _ = run_until(lambda _, output: ";request_read;calloc " in output, "-q", "-f", "-n", "0", "-p", leaky().pid)
    lines = output.splitlines()
    assert status == 0 and lines, output
    for line in lines:
        stack, value = line.rsplit(" ", 1)
        assert int(value) >= 0 and stack.split(";")[0] == "leaky", line
    assert any(";request_read;calloc " in line for line in lines), output


def test_filters():
    command = [lab.target("known"), "calls"]
    _, report = lab.command_report(command, "-z", "100", "-Z", "1k")
    assert report["sites"]
    lab.check_sums(report)
    truth, full = lab.command_report(command)
    assert report["totals"]["alloc_objects"] < full["totals"]["alloc_objects"]
    # site_malloc asks for 1..100, for 101..200 and for 201..300 bytes: of these, 201 are at least 100.
    assert lab.sums(report, {"site_malloc"})["site_malloc"][1] == 201, lab.sums(report, truth)


def test_filters_of_mappings():
    # What is left out on purpose is no loss.
    for option, size in (("-z", "1g"), ("-Z", "1")):
        _, report = lab.command_report([lab.target("known"), "mappings"], option, size)
        lab.check_sums(report)
        lab.check_losses(report)
        assert not any(site["source"] == "mmap" for site in report["sites"]), report["sites"]


def test_frees_of_blocks_left_out():
    # The program frees 500 blocks that are too small to be recorded; the sentence holds for them, too.
    _, report = lab.command_report([lab.target("known"), "early"], "-z", "1g")
    lab.check_losses(report)
    assert report["loss"]["free_untracked"] >= 500, report["loss"]
    status, output, errors = lab.run("-q", "-z", "1g", "--", lab.target("known"), "early")
    assert status == 0 and "filtered out" in " ".join(output.split()), (output, errors)


def test_min_age():
    status, output, _ = run_until(lambda _, output: json.loads(output)["totals"]["inuse_objects"], "-q", "-j", "-n", "0", "-p",
                                  leaky().pid, "--min-age", "1s", milliseconds=1500)
    report = json.loads(output)
    lab.check_sums(report)
    assert status == 0 and report["totals"]["inuse_objects"] > 0
    for site in report["sites"]:
        assert not site["inuse_objects"] or site["oldest_s"] >= 1.0, site


def test_sorting():
    command = [lab.target("known"), "calls"]
    for key, field in (("inuse", "inuse_bytes"), ("inuse-objects", "inuse_objects"), ("alloc", "alloc_bytes"),
                       ("alloc-objects", "alloc_objects"), ("age", "oldest_s"), ("churn", "free_bytes")):
        _, report = lab.command_report(command, "-s", key)
        figures = [site[field] or 0 for site in report["sites"]]
        assert len(figures) > 5 and figures == sorted(figures, reverse=True), (key, figures)


def test_fail_over():
    status, _, errors = run_until(lambda status, _: status, "-p", leaky().pid, "--fail-over", "1")
    assert status == 1, (status, errors)


def test_statuses():
    process = leaky()
    expected = (
        (0, ("-p", process.pid, "-d", "100ms"), ""),
        (0, ("-p", process.pid, "-d", "300ms", "--fail-over", "1g"), ""),
        (2, (), "nothing to trace"),
        (2, ("-p", "abc"), "abc"),
        (4, ("-p", "4194000"), "4194000"),
        (5, ("--no-follow-fork", "--", lab.target("static")), "nothing to probe"),
    )
    for status, arguments, message in expected:
        found, _, errors = lab.run(*arguments)
        assert found == status, "%s: status %s instead of %s: %s" % (arguments, found, status, errors)
        assert message.lower() in errors.lower(), "%s: %s" % (arguments, errors)


def test_few_open_files():
    process = leaky()
    found = subprocess.run(["prlimit", "--nofile=40:40", lab.TRACER, "-p", str(process.pid), "-d", "100ms"], capture_output=True,
                           text=True, check=False, timeout=lab.PATIENCE)
    assert found.returncode == 3 and "ulimit -Hn" in found.stderr, (found.returncode, found.stderr)


def test_kernel_thread():
    try:
        with open("/proc/2/comm", encoding="ascii") as file:
            assert file.read() == "kthreadd\n"
    except (OSError, AssertionError) as error:
        raise lab.Skip("no kernel thread can be seen from this pid namespace") from error
    status, _, errors = lab.run("-p", "2")
    assert status == 4 and "kernel thread" in errors, errors
    for command in "memory", "leaks":
        status, _, errors = lab.run(command, "-p", "2")
        assert status == 4, (command, status, errors)


def test_zombie():
    """What has ended and was not waited for is called so, with the parent that has to: this one."""
    process = lab.start(["true"])

    def is_zombie():
        with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
            return file.read().split()[2] == "Z"
    lab.wait_for(is_zombie, "it has ended")
    for command in (["-d", "100ms"], ["memory"], ["leaks"]):
        status, _, errors = lab.run(*command, "-p", process.pid)
        assert status == 4 and "is a zombie: its parent, process %d, has not waited" % os.getpid() in errors, (command, errors)
    process.wait()


def test_first_thread_has_ended():
    """A process that runs on in its other threads is no zombie, and has memory: the resident size of a thread says so."""
    number = {"x86_64": 60, "aarch64": 93}[os.uname().machine]  # of exit(), which ends a thread
    process = lab.start([sys.executable, "-c", """if True:
        import ctypes, threading, time
        threading.Thread(target=time.sleep, args=(3600,)).start()
        ctypes.CDLL(None).syscall(%d, 0)""" % number])

    def has_ended():
        with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    lab.wait_for(has_ended, "its first thread has ended")
    threads = os.listdir("/proc/%d/task" % process.pid)
    assert len(threads) == 2, threads
    other = max(threads, key=int)
    with open("/proc/%d/task/%s/statm" % (process.pid, other), encoding="ascii") as file:
        assert int(file.read().split()[1]) > 0
    status, _, errors = lab.run("memory", "-p", process.pid)
    assert status == 4 and "has only its other threads left" in errors, errors
    process.kill()
    process.wait()


def test_debuginfod_without_servers():
    """That no server is asked is said. The environment is that of the test, without the variable."""
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    without = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    for environment, is_said in ((without, True), ({**without, "DEBUGINFOD_URLS": "http://127.0.0.1:9"}, False)):
        found = subprocess.run([lab.TRACER, "-p", str(process.pid), "--debuginfod", "-d", "100ms"], env=environment,
                               capture_output=True, text=True, check=False, timeout=lab.PATIENCE)
        assert found.returncode == 0 and ("DEBUGINFOD_URLS is not set" in found.stderr) == is_said, found.stderr
    lab.end(process)


def test_nothing_to_probe():
    process = lab.start([lab.target("static")])
    status, _, errors = lab.run("-p", process.pid)
    assert status == 5 and "static" in errors, errors
    assert process.poll() is None


def test_no_permission():
    process = leaky()
    # The program as nobody, without a capability; a copy, because the tree may be closed to others.
    with tempfile.TemporaryDirectory(prefix="tracer-nobody-") as folder:
        os.chmod(folder, 0o755)
        subprocess.run(["cp", lab.TRACER, folder + "/tracer"], check=True)
        found = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", folder + "/tracer",
                                "-p", str(process.pid)], capture_output=True, text=True, check=False,
                               timeout=lab.PATIENCE)
    assert found.returncode == 3 and "CAP_" in found.stderr, found


def test_itself():
    script = 'exec "$0" -p $$'
    found = subprocess.run(["sh", "-c", script, lab.TRACER], capture_output=True, text=True, check=False,
                           timeout=lab.PATIENCE)
    assert found.returncode == 2 and "cannot trace itself" in found.stderr, found


def test_path_is_searched():
    status, output, errors = lab.run("-q", "--", "true")
    assert status == 0 and "true" in output.splitlines()[0], (output, errors)


def test_plan():
    process = leaky()
    status, output, errors = lab.run("plan", "-p", process.pid)
    assert status == 0, errors
    for name in ("malloc", "free", "realloc", "posix_memalign", "mmap", "munmap", "mremap"):
        assert any(line.split()[:1] == [name] for line in output.splitlines()), (name, output)
    # Instructions of other architectures are not analysed.
    assert "libc.so" in output and ("emulated" in output or os.uname().machine != "x86_64"), output
    status, again, _ = lab.run("plan", "-u", "root", "--", lab.target("leaky"))
    # A running process is listed first; what a trap costs is measured anew.
    listed, _, output = output.partition("\n\nlibc.so")
    assert re.search(r"\b%d +leaky\b" % process.pid, listed), listed
    plans = [re.sub(r" +[\d,]+ ns", " ns", plan) for plan in (again, "libc.so" + output)]
    assert status == 0 and plans[0] == plans[1], plans


# Takes its name when only who may trace all processes can still look at it: PR_SET_DUMPABLE, PR_SET_NAME.
CLOSED = "import ctypes, sys; c = ctypes.CDLL(None); c.prctl(4, 0, 0, 0, 0); c.prctl(15, sys.argv[1].encode()); sys.stdin.read()"


def test_plan_of_what_may_be_looked_at():
    """A process that the tracer may not look at is left out, where others match, too; alone it is an error."""
    with tempfile.TemporaryDirectory(prefix="tracer-plan-") as folder:
        # No other program has its name.
        name = "plan-%d" % os.getpid()
        less = [lab.need("setpriv"), "--bounding-set=-sys_ptrace,-sys_admin,-perfmon", "--"]
        plan = less + [lab.TRACER, "plan", "--comm", name]
        other = lab.start([sys.executable, "-c", CLOSED, name])
        lab.wait_for(lambda: comm_of(other) == name, "the program has its name")
        done = subprocess.run(plan, capture_output=True, text=True, check=False)
        assert done.returncode and "cannot read the mappings of process %d" % other.pid in done.stderr, done
        process = lab.start(less + [shutil.copy(lab.target("leaky"), os.path.join(folder, name))])
        # It has its name before its libraries.
        lab.wait_for(lambda: comm_of(process) == name and lab.is_waiting(process), "the other one runs")
        done = subprocess.run(plan, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "libc.so" in done.stdout, done
        assert re.search(r"\b%d +%s\b" % (process.pid, name), done.stdout), done.stdout
        assert not re.search(r"\b%d +%s\b" % (other.pid, name), done.stdout), done.stdout
        assert "1 of 2 processes may not be looked at, such as %d:" % other.pid in done.stderr, done.stderr


def comm_of(process):
    with open("/proc/%d/comm" % process.pid, encoding="ascii") as file:
        return file.read().strip()


def run_closed(closed, *command):
    """Run a command with some of its descriptors 0 to 2 closed; returns status, stdout and stderr, "" where closed."""
    redirections = " ".join("%d>&-" % fd for fd in closed)
    process = lab.start(["sh", "-c", 'exec "$@" ' + redirections, "sh", *command])
    output, errors = process.communicate(timeout=lab.PATIENCE)
    return process.returncode, output.decode(), errors.decode()


def test_closed_descriptors():
    """What is closed stays so for the command, and no other file gets its number: nothing is written into one."""
    listing = ["--", "sh", "-c", "ls /proc/$$/fd >> %s; true"]
    with tempfile.TemporaryDirectory(prefix="tracer-closed-") as folder:
        listed, report = os.path.join(folder, "listed"), os.path.join(folder, "report")
        listing[-1] %= listed
        for closed in ((1,), (0, 1), (1, 2), (0, 1, 2)):
            status, _, errors = run_closed(closed, lab.TRACER, *listing)
            assert status == 2, (closed, status, errors)
            assert 2 in closed or "standard output: it is closed" in errors, errors
            assert not os.path.exists(listed)
            for option in ("-V", "-h"):
                status, _, errors = run_closed(closed, lab.TRACER, option)
                assert status and (2 in closed or "cannot write to standard output" in errors), (option, status, errors)
            status, _, errors = run_closed(closed, lab.TRACER, "plan", "-p", str(os.getpid()))
            assert status, (closed, status)
        for closed in ((0,), (2,), (0, 2), (0, 1, 2)):
            status, _, errors = run_closed(closed, lab.TRACER, "-q", "-o", report, *listing)
            assert status == 0, (closed, status, errors)
            run_closed(closed, *listing[1:])
            with open(listed, encoding="ascii") as file:
                found = file.read().split()
            # Both shells have the same open.
            assert found[:len(found) // 2] == found[len(found) // 2:], (closed, found)
            os.unlink(listed)
            with open(report, encoding="utf-8") as file:
                assert "in use" in file.read()


def test_plan_runs_nothing():
    """A loader of the program's own is not run; the system's runs without privileges."""
    lab.need("gcc")
    with tempfile.TemporaryDirectory(prefix="tracer-plan-") as folder:
        os.chmod(folder, 0o755)
        source, mark = os.path.join(folder, "program.c"), os.path.join(folder, "mark")
        loader, program = os.path.join(folder, "ld-linux.so.2"), os.path.join(folder, "program")
        with open(source, "w", encoding="ascii") as file:
            file.write("int main(void) { return 0; }\n")
        with open(loader, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nid -u >> %s\n" % mark)
        os.chmod(loader, 0o755)
        for owner in (0, 65534):
            subprocess.run(["gcc", "-o", program, source, "-Wl,--dynamic-linker=" + loader], check=True)
            os.chown(program, owner, owner)
            for user in ([], ["-u", "root"]):
                status, _, errors = lab.run("plan", *user, "--", program)
                assert not os.path.exists(mark), user
                assert status == 5 and "none of the system's" in errors, (status, errors)
            subprocess.run(["gcc", "-o", program, source], check=True)
            os.chown(program, owner, owner)
            status, output, errors = lab.run("plan", "--", program)
            assert status == 0 and "libc.so" in output, (status, output, errors)
        # Only root may read it.
        os.chown(program, 0, 0)
        os.chmod(program, 0o700)
        status, _, errors = lab.run("plan", "--", program)
        assert status == 5 and "-u USER" in errors, (status, errors)
        status, output, errors = lab.run("plan", "-u", "root", "--", program)
        assert status == 0 and "libc.so" in output, (status, output, errors)


AUDIT = """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
unsigned int la_version(unsigned int version)
{
    char line[32];
    int fd = open("%s", O_WRONLY | O_APPEND), size = snprintf(line, sizeof(line), "%%d\\n", (int)geteuid());
    return write(fd, line, size) == size ? version : 0;
}
"""


def test_trace_lists_without_root():
    """Before it is started, a command's own code runs without privileges: an audit library, a loader of its own."""
    lab.need("gcc")
    with tempfile.TemporaryDirectory(prefix="tracer-list-") as folder:
        os.chmod(folder, 0o755)
        mark, source = os.path.join(folder, "mark"), os.path.join(folder, "audit.c")
        audit, loader = os.path.join(folder, "audit.so"), os.path.join(folder, "ld-linux.so.2")
        program = os.path.join(folder, "known")
        with open(mark, "w", encoding="ascii"):
            os.chmod(mark, 0o666)
        with open(source, "w", encoding="ascii") as file:
            file.write(AUDIT % mark)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", audit, source], check=True)
        build = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-pthread", "-o", program, os.path.join(lab.TOP, "tests/targets/known.c")]
        for owner, lister in ((0, 65534), (1234, 1234)):
            subprocess.run([*build, "-Wl,--audit=" + audit], check=True)
            os.chown(program, owner, owner)
            lab.check_account(*lab.command_report([program, "calls"]))
            with open(mark, "r+", encoding="ascii") as file:
                assert file.read().split() == [str(lister), "0"], owner
                file.truncate(0)
        with open(loader, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nid -u >> %s\n" % mark)
        os.chmod(loader, 0o755)
        subprocess.run([*build, "-Wl,--dynamic-linker=" + loader], check=True)
        lab.run("-d", "100ms", "--", program, "calls")
        assert os.path.getsize(mark) == 0
        # A loader of its own that works: what is not listed is probed when it is opened. So it is where only root may read.
        system = subprocess.run([lab.need("ldd"), lab.target("known")], capture_output=True, text=True, check=True)
        shutil.copy(next(word for word in system.stdout.split() if "/ld-" in word), loader)
        lab.check_account(*lab.command_report([program, "calls"]))
        shutil.copy(lab.target("known"), program)
        os.chmod(folder, 0o700)
        lab.check_account(*lab.command_report([program, "calls"]))


lab.run_tests()
