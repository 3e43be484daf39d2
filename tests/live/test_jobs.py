#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Job control in a terminal: a traced command, under a shell that is interactive, is a job like any other. What stops it is
what the user types, or what would stop it untraced; its parents see no other stop, and its status and signals pass."""
import os
import pty
import re
import signal
import sys
import tempfile

import lab

PROMPT = "ready>"


class Terminal:
    """An interactive shell in a terminal of its own. What it prints is kept."""

    def __init__(self):
        self.pid, self.master = pty.fork()
        if not self.pid:
            environment = {**os.environ, "PS1": PROMPT, "TERM": "dumb", "ENV": "", "HISTFILE": ""}
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment)
        os.set_blocking(self.master, False)
        self.text = ""

    def __enter__(self):
        self.expect(re.escape(PROMPT))
        self.command("stty -echo")
        return self

    def __exit__(self, *_):
        os.close(self.master)
        lab.wait_for(lambda: os.waitpid(self.pid, os.WNOHANG)[0], "the shell ends")

    def read(self):
        try:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace").replace("\r", "")
        except (BlockingIOError, OSError):
            pass

    def expect(self, pattern):
        """Wait for a text, and forget all up to its end."""
        def found():
            self.read()
            return re.search(pattern, self.text)
        try:
            lab.wait_for(found, "the terminal shows " + pattern)
        except AssertionError as error:
            raise AssertionError("%s; it shows %r" % (error, self.text)) from error
        match = re.search(pattern, self.text)
        self.text = self.text[match.end():]
        return match

    def type(self, text):
        os.write(self.master, text.encode())

    def command(self, line):
        """A line, and what it prints until the next prompt."""
        self.type(line + "\n")
        return self.expect(r"(?s)(.*?)" + re.escape(PROMPT)).group(1)

    def status(self):
        return int(self.command("echo status=$?").strip().partition("status=")[2])


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def state_and_group(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
        state, _, group = file.read().rpartition(")")[2].split()[:3]
    return state, int(group)


def all_stopped(job):
    """
    Is a job's first process stopped, and each child in its group, or ended? A shell reports the first; a child that waits for a line and had no
    CPU yet still takes a byte of what is typed next. A child that has ended stays, since its parent is stopped.
    """
    states = [state_and_group(pid) for pid in [job] + children(job)]
    return states[0][0] == "T" and all(state in ("T", "Z") for state, group in states if group == job)


def traced(folder, command):
    return "%s -q -o %s -- %s" % (lab.TRACER, os.path.join(folder, "report"), command)


COUNT = "sh -c 'echo begun; while read line; do echo got-$line; done; exit 7'"


def test_stop_and_continue():
    """Ctrl-Z stops the job, fg continues it, again and again; its status is seen, and so is the report."""
    with tempfile.TemporaryDirectory(prefix="tracer-jobs-") as folder, Terminal() as shell:
        shell.type(traced(folder, COUNT) + "\n")
        shell.expect("begun")
        for turn in range(5):
            shell.type("line-%d\n" % turn)
            shell.expect("got-line-%d" % turn)
            shell.type("\x1a")
            shell.expect(r"Stopped.*\n")
            shell.expect(re.escape(PROMPT))
            tracer = children(shell.pid)[0]
            assert state_and_group(tracer) == ("T", tracer)
            lab.wait_for(lambda tracer=tracer: all_stopped(tracer), "the whole job is stopped")
            jobs = shell.command("jobs")
            assert "Stopped" in jobs, (turn, jobs)
            shell.type("fg\n")
        shell.type("last\n")
        shell.expect("got-last")
        shell.type("\x04")
        shell.expect(re.escape(PROMPT))
        assert shell.status() == 7
        assert os.path.getsize(os.path.join(folder, "report"))


def test_interrupt():
    """Ctrl-C reaches the command and the tracer, which reports."""
    with tempfile.TemporaryDirectory(prefix="tracer-jobs-") as folder, Terminal() as shell:
        shell.type(traced(folder, "sh -c 'trap \"echo caught\" INT; echo begun; read line; echo after'") + "\n")
        shell.expect("begun")
        shell.type("\x03")
        # The tracer does not wait for the command, whose handler may be later than the shell.
        shell.expect("(?s)caught.*{0}|{0}.*caught".format(re.escape(PROMPT)))
        assert os.path.getsize(os.path.join(folder, "report"))


def test_reading_in_the_background():
    """A job in the background that reads from the terminal is stopped for it, and continues in the foreground."""
    with tempfile.TemporaryDirectory(prefix="tracer-jobs-") as folder, Terminal() as shell:
        shell.type(traced(folder, "sh -c 'echo begun; read line; echo got-$line'") + " &\n")
        shell.expect("begun")

        def stopped():
            shell.type("jobs\n")
            return "Stopped" in shell.expect(r"(?s)(.*?)" + re.escape(PROMPT)).group(1)
        lab.wait_for(stopped, "the job is stopped")
        shell.type("fg\n")
        shell.type("word\n")
        shell.expect("got-word")
        shell.expect(re.escape(PROMPT))
        assert shell.status() == 0


PARENT = r"""
import os, signal, sys
def child(action):
    pid = os.fork()
    if not pid:
        action()
        os._exit(99)
    seen = []
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        seen.append("stop" if os.WIFSTOPPED(status) else
                    "exit%d" % os.WEXITSTATUS(status) if os.WIFEXITED(status) else "signal%d" % os.WTERMSIG(status))
        if seen[-1] == "stop":
            os.kill(pid, signal.SIGCONT)
        else:
            return ",".join(seen)
for number in range(8):
    print(child(lambda: os.execv("/bin/sh", ["sh", "-c", "exec " + sys.argv[1] + " calls >/dev/null"])),
          child(lambda: os.execv("/bin/sh", ["sh", "-c", "exit 41"])),
          child(lambda: os.execv("/bin/sh", ["sh", "-c", "kill -TERM $$"])),
          child(lambda: os.execv("/bin/sh", ["sh", "-c", "kill -STOP $$; exit 3"])))
"""


def test_parents_see_no_stop():
    """waitpid(WUNTRACED) of a parent that is traced, and whose children's programs are held."""
    program = lab.target("known-static")
    command = [sys.executable, "-c", PARENT, program if os.path.exists(program) else lab.target("known")]
    with tempfile.TemporaryDirectory(prefix="tracer-jobs-") as folder:
        status, output, errors = lab.run("-q", "-o", os.path.join(folder, "report"), "--", *command)
    assert status == 0, errors
    assert output.splitlines() == ["exit0 exit41 signal%d stop,exit3" % signal.SIGTERM] * 8, output


def test_statuses_and_signals():
    """What the tracer says of the command's end; a command that is killed, and one that ignores what its shell ignores."""
    for script, own, said in (("exit 5", 5, "exited with status 5"),
                              ("kill -KILL $$", 128 + 9, "was ended by signal 9"),
                              ("kill -HUP $$", 128 + 1, "was ended by signal 1")):
        status, _, errors = lab.run("--", "sh", "-c", script)
        assert status == own and said in errors, (script, status, errors)
    with Terminal() as shell:
        shell.command("trap '' HUP")
        shell.type("%s -q -o /dev/null -- grep SigIgn /proc/self/status\n" % lab.TRACER)
        ignored = int(shell.expect(r"SigIgn:\s*([0-9a-f]{16})").group(1), 16)
        assert ignored & 1 << (signal.SIGHUP - 1) and not ignored & 1 << (signal.SIGTSTP - 1), hex(ignored)


if __name__ == "__main__":
    lab.run_tests()
