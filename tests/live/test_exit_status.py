#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit status of what starts a command. Truth: the status that the same command has without the tracer, by a shell; and the manual's EXIT STATUS."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

COMMANDS = ("trace", "leaks", "watch", "record")
LOSES = [lab.target("ending"), "exit"]  # a program that has lost blocks, and exits with status 7
LOSES_NONE = [lab.target("ending"), "none"]


def status_of(command, *arguments, program, **kinds):
    """Of one of the commands, and what it has said."""
    options = {"leaks": ["leaks", *lab.PATIENT], "watch": ["watch"], "trace": []}
    with tempfile.TemporaryDirectory(prefix="tracer-status-") as folder:
        options["record"] = ["record", "-o", os.path.join(folder, "x.db")]
        status, output, errors = lab.run(*options[command], *arguments, "--", *program, **kinds)
    return status, output + errors


def check(command, program, wanted, *arguments, words="", **kinds):
    status, said = status_of(command, *arguments, program=program, **kinds)
    assert status == wanted and words in said, (command, program, arguments, status, said)


def shell_status(script):
    """As a shell has it: 128 + n of a signal."""
    status = subprocess.run(["sh", "-c", script], capture_output=True, check=False).returncode
    return status if status >= 0 else 128 - status


def test_own():
    for script in ("exit 0", "exit 42", "exit 255", "kill -KILL $$", "kill -SEGV $$"):
        for command in ("trace", "watch", "record"):
            check(command, ["sh", "-c", script], shell_status(script))
    check("leaks", [lab.need("ls"), "/"], 0)
    check("leaks", LOSES_NONE, 7)
    check("leaks", [lab.target("ending"), "kill"], shell_status("kill -KILL $$"))


def test_not_started():
    """As `sh -c` and env(1) have it; that is known before anything is attached."""
    with tempfile.TemporaryDirectory(prefix="tracer-status-") as folder:
        script, plain = os.path.join(folder, "script"), os.path.join(folder, "plain")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/nonexistent/interpreter\n")
        with open(plain, "w", encoding="ascii") as file:
            file.write("text\n")
        os.chmod(script, 0o755)
        for path, wanted in (("/nonexistent/program", 127), ("no-such-command", 127), (script, 127), (plain, 126), (folder, 126)):
            truth = subprocess.run(["env", path], capture_output=True, check=False).returncode
            assert truth == wanted, (path, truth)
            for command in COMMANDS:
                check(command, [path], wanted, words="cannot run " + path)


def test_found():
    check("leaks", LOSES, 1)
    check("leaks", LOSES, 77, "--error-exitcode", "77")
    check("leaks", LOSES, 7, "--error-exitcode", "0")
    check("leaks", LOSES_NONE, 7)
    check("trace", LOSES, 1, "--fail-over", "1k")
    check("trace", LOSES, 9, "--fail-over", "1k", "--error-exitcode", "9")
    check("trace", LOSES, 7, "--fail-over", "1k", "--error-exitcode", "0")
    check("trace", LOSES, 7, "--fail-over", "1g")


def test_not_judged():
    """A run that is too short for a verdict is no success, unless the command itself has failed, or nothing has been allocated."""
    for command in ("trace", "watch"):
        check(command, [lab.target("known"), "calls"], 3, "--fail-on-leak", words="it takes 4 s of tracing or more")
        check(command, [lab.target("known"), "calls"], 0, "--fail-on-leak", "--error-exitcode", "0", words="not judged")
        check(command, LOSES_NONE, 7, "--fail-on-leak", words="not judged")
        check(command, [lab.target("known"), "calls"], 0)


def test_tracer_fails():
    """While the command runs, or after it: 125; before it is started, the table of before."""
    for command in ("trace", "leaks", "watch"):
        check(command, LOSES_NONE, 125, "-o", "/dev/full", words="/dev/full")
        check(command, LOSES_NONE, 2, "-o", "/nonexistent/report", words="/nonexistent/report")
        check(command, LOSES_NONE, 2, "--nonsense", words="--nonsense")
    check("trace", [lab.target("static")], 5, "--no-follow-fork", words="nothing to probe")
    check("trace", [lab.target("bare"), lab.target("bare"), "/nonexistent"], 125, words="nothing to probe")
    setpriv = lab.need("setpriv")
    with tempfile.TemporaryDirectory(prefix="tracer-status-") as folder:
        os.chmod(folder, 0o755)
        subprocess.run(["cp", lab.TRACER, folder + "/tracer"], check=True)
        for options in ([], ["leaks"], ["watch"]):
            found = subprocess.run([setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", folder + "/tracer", *options, "--", "true"],
                                   capture_output=True, text=True, check=False, timeout=lab.PATIENCE)
            assert found.returncode == 3 and "CAP_" in found.stderr, (options, found)


def test_goes_on():
    """A command that runs when the tracer ends has no status yet."""
    for options in (("-d", "100ms"), ("10ms", "2")):
        tracer = lab.Tracer(*options, "--", "sh", "-c", "read line; exit 7")
        tracer.process.stdin.flush()
        assert tracer.process.wait(lab.PATIENCE) == 0, tracer.stderr()
        tracer.process.stdin.close()


lab.run_tests()
