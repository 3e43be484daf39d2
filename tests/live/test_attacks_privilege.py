#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tracer may do is neither its command's nor another user's, and it talks to nobody unasked."""
import ctypes
import os
import platform
import shutil
import socket
import stat
import subprocess
import sys
import tempfile

import attacks
import lab

BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
# BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID; BPF_PROG_GET_NEXT_ID, BPF_MAP_GET_NEXT_ID
BY_ID, NEXT = (13, 14), (11, 12)


def test_report_is_for_its_owner():
    with tempfile.TemporaryDirectory(prefix="tracer-output-") as folder:
        script = 'umask 0 && exec "$0" -q -o "$1" -- true'
        subprocess.run(["sh", "-c", script, lab.TRACER, folder + "/report"], check=True, stdin=subprocess.DEVNULL)
        assert stat.S_IMODE(os.stat(folder + "/report").st_mode) == 0o600


SURROUNDINGS = "ls /proc/self/fd; umask; ulimit -a; grep -E '^(Sig[PBIC]|Shd|Seccomp|NoNewPrivs|Cap)' /proc/self/status"


def test_command_is_as_without_the_tracer():
    """Files, umask, limits, signals, what it may do."""
    with tempfile.TemporaryDirectory(prefix="tracer-output-") as folder:
        command = ["bash", "-c", "umask 027; exec \"$@\"", "bash"]
        words = ["bash", "-c", SURROUNDINGS]
        plain = subprocess.run(command + words, capture_output=True, check=True, stdin=subprocess.DEVNULL)
        traced = subprocess.run(command + [lab.TRACER, "-q", "-o", folder + "/report", "--", *words], capture_output=True,
                                check=True, stdin=subprocess.DEVNULL)
    assert b"0027" in plain.stdout and traced.stdout == plain.stdout, (plain.stdout, traced.stdout)


def test_capabilities_of_the_file_are_not_for_the_command():
    """A tracer with capabilities in its file, which a user without any runs."""
    with tempfile.TemporaryDirectory(prefix="tracer-file-") as folder:
        os.chmod(folder, 0o777)
        tracer = folder + "/tracer"
        shutil.copy(lab.TRACER, tracer)
        if subprocess.run([lab.need("setcap"), "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search+ep", tracer],
                          capture_output=True, check=False).returncode:
            raise lab.Skip("this file system has no capabilities")
        done = subprocess.run([lab.need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", tracer, "-q", "-o",
                               folder + "/report", "--", "cat", "/proc/self/status"], capture_output=True, text=True,
                              check=False, timeout=lab.PATIENCE, stdin=subprocess.DEVNULL, cwd=folder)
    if done.returncode and "CAP_SYS_ADMIN" in done.stderr:
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    assert done.returncode == 0, done.stderr
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert "%s:\t0000000000000000\n" % name in done.stdout, done.stdout


def test_nobody_is_asked_for_debug_files():
    """Not even the server that the environment names, unless that is requested."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        urls = "http://127.0.0.1:%d" % server.getsockname()[1]
        process = attacks.victim()
        tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600", env=dict(os.environ, DEBUGINFOD_URLS=urls))
        lab.work(process)
        assert '"sites"' in tracer.stop()
        try:
            server.accept()
        except BlockingIOError:
            return
    raise AssertionError("somebody has connected")


def refusals():
    """Run as another user: the errors of looking at all programs and maps, 0 for one that is let in."""
    function = ctypes.CDLL(None, use_errno=True).syscall
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    found = set()
    for command in BY_ID + NEXT:
        for number in range(0, 3):
            attributes = (ctypes.c_uint32 * 32)(number)
            code = function(BPF, command, attributes, 128)
            found.add(ctypes.get_errno() if code < 0 else 0)
    print(sorted(found))


def test_nobody_else_sees_maps_and_programs():
    process = attacks.victim()
    tracer = lab.Tracer("-j", "-p", process.pid, "3600")
    programs = sorted(lab.programs_of(tracer.process.pid))
    assert programs
    script = "import sys; sys.path.insert(0, sys.argv[1]); import test_attacks_privilege; test_attacks_privilege.refusals()"
    done = subprocess.run([sys.executable, "-c", script, os.path.dirname(os.path.abspath(__file__))], capture_output=True,
                          text=True, check=True)
    assert done.stdout == "[1]\n", done
    denied = subprocess.run([lab.need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "ls",
                             "/proc/%d/fdinfo/" % tracer.process.pid], capture_output=True, check=False)
    assert denied.returncode, denied.stdout
    tracer.stop()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
