#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion by the shells themselves: bash and zsh in a terminal in which a user types, fish by its own command for it.

The truth is the help text of each command, which is made by other code from the same tables, and /proc.
"""
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile

import lab

PROMPT = "ready>"
NAME = "odd\x1b[7mname"  # of a process: what it would do to a terminal
SHOWN = "odd?[7mname"


def script(shell):
    return subprocess.run([lab.TRACER, "--completion", shell], capture_output=True, text=True, check=True).stdout


def help_of(command):
    return subprocess.run([lab.TRACER, command, "-h"], capture_output=True, text=True, check=True).stdout


def items(text, title, pattern):
    return re.findall(pattern, text.partition("\n%s:\n" % title)[2].partition("\n\n")[0], re.M)


def commands():
    found = items(help_of("trace"), "Commands", r"^  ([a-z]+) ")
    assert len(found) >= 9, found
    return found


def options(command):
    """Each by its long name, and those that take no argument, or may do without."""
    found = items(help_of(command), "Options", r"^  (?:-\w,|   ) --([a-z-]+)")
    assert "help" in found and len(found) > 5, found
    return {"--" + name for name in found}


def odd_process(folder):
    """One whose pid is the beginning of no other's, so that it is the only one that is offered for it."""
    path = os.path.join(folder, NAME)
    shutil.copy(lab.need("sleep"), path)
    while True:
        process = lab.start([path, "1000"])
        if [name for name in os.listdir("/proc") if name.startswith(str(process.pid))] == [str(process.pid)]:
            return process


def bash(words, prelude=""):
    """What bash would be given for the last one of some words, each as bash divides a line."""
    code = '. <(%s --completion bash); %s COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo "compopt $*"; }; ' \
           '_tracer; ((${#COMPREPLY[@]})) && printf "%%s\\n" "${COMPREPLY[@]}"; :' % (lab.TRACER, prelude)
    done = subprocess.run(["bash", "-c", code, "bash", *words], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


def fish(line):
    """What fish offers for a line, without descriptions."""
    done = subprocess.run([lab.need("fish"), "--no-config", "-c", "%s --completion fish | source; complete -C $argv[1]"
                           % lab.TRACER, line], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return [offer.partition("\t")[0] for offer in done.stdout.splitlines()]


class Terminal:
    """A shell in which a user types."""

    def __init__(self, *command, setup):
        self.pid, self.master = pty.fork()
        if not self.pid:
            os.execvpe(command[0], command, {**os.environ, "PS1": PROMPT, "TERM": "dumb", "HISTFILE": "", "INPUTRC": "/dev/null",
                                             "LC_ALL": "C.UTF-8"})
        os.set_blocking(self.master, False)
        self.text = ""
        self.expect(re.escape(PROMPT))
        self.type(setup + "; echo set-''up\n")
        self.expect("set-up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.master)
        os.waitpid(self.pid, 0)

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern):
        """Wait for a text; returns all up to it, and forgets that."""
        def found():
            try:
                self.text += os.read(self.master, 65536).decode("utf-8", "replace").replace("\r", "")
                self.text = re.sub("[^\b]\b", "", self.text)
            except (BlockingIOError, OSError):
                pass
            return re.search(pattern, self.text)
        try:
            lab.wait_for(found, "the terminal shows " + pattern)
        except AssertionError as error:
            raise AssertionError("%s; it shows %r" % (error, self.text)) from error
        end = re.search(pattern, self.text).end()
        before, self.text = self.text[:end], self.text[end:]
        return before


def test_scripts():
    """Each is read without a complaint by the shell that it is for."""
    with tempfile.TemporaryDirectory(prefix="tracer-completion-") as folder:
        for shell in ("bash", "fish", "zsh"):
            path = os.path.join(folder, shell)
            with open(path, "w", encoding="utf-8") as file:
                file.write(script(shell))
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
                assert done.returncode == 0 and not done.stderr, done.stderr
        if shutil.which("shellcheck"):
            done = subprocess.run(["shellcheck", "-s", "bash", os.path.join(folder, "bash")], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout


def test_options():
    """Of each command those of its help text, and no other; so are the commands."""
    known = commands()
    assert bash(["tracer", ""]) == known
    assert bash(["tracer", "-v", "-n", "5", "l"]) == ["leaks"]
    has_fish = shutil.which("fish")
    assert not has_fish or sorted(fish("tracer ")) == sorted(known)
    for command in known:
        assert set(bash(["tracer", command, "--"])) == options(command), command
        if has_fish:
            assert {offer for offer in fish("tracer %s --" % command) if offer.startswith("--")} == options(command), command


def test_arguments():
    formats = items(help_of("trace"), "Formats", r"^  ([a-z_0-9]+) ")
    assert len(formats) >= 7 and bash(["tracer", "--format", ""]) == formats
    assert bash(["tracer", "--sort", "=", "inuse-"]) == ["inuse-objects"]
    assert bash(["tracer", "-s", "chu"]) == ["churn"]
    assert bash(["tracer", "-u", "roo"]) == ["root"]
    # Nothing can be offered for a number; files are left to bash.
    assert not bash(["tracer", "-n", ""])
    for words in (["tracer", "-o", ""], ["tracer", "report", ""], ["tracer", "diff", "a", ""], ["tracer", "report", "--base", ""]):
        assert bash(words) == ["compopt -o default"], words
    assert bash(["tracer", "--debug-dir", "/"]) == ["compopt -o dirnames"]
    # The argument of one option, and an option of another command, by the same name.
    assert bash(["tracer", "memory", "-p", "1", "--wait", ""]) == []
    assert "bash" in bash(["tracer", "--wait", "ba"])
    # A name of a command that is an argument.
    assert set(bash(["tracer", "--comm", "leaks", "--"])) == options("trace")
    # What follows "--" is the other program's.
    assert "tracer" not in bash(["tracer", "--", "--", "--"]) and "cat" in bash(["tracer", "-n", "5", "--", "cat"])
    assert bash(["tracer", "diff", "--", "a"]) == ["compopt -o default"]
    if not shutil.which("fish"):
        return
    assert sorted(fish("tracer --format ")) == sorted(formats)
    assert fish("tracer leaks --deadl") == ["--deadline"] and fish("tracer -s chu") == ["churn"]
    assert not fish("tracer leaks ") and not fish("tracer memory -p 1 --wait ")
    assert "/etc/passwd" in fish("tracer report /etc/pass") and "/etc/passwd" in fish("tracer -o /etc/pass")
    assert fish("tracer -u roo") == ["root"] and "cat" in fish("tracer -n 5 -- cat")
    assert "bash" in fish("tracer --wait ba")


def test_pids():
    """Each process, with its name where there is a list, whatever it is called; kernel threads cannot be traced."""
    with tempfile.TemporaryDirectory(prefix="tracer-completion-") as folder:
        process = odd_process(folder)
        pid = str(process.pid)
        assert bash(["tracer", "-p", pid]) == [pid]
        assert bash(["tracer", "leaks", "--pid", "=", "1," + pid]) == ["1," + pid]
        assert pid in bash(["tracer", "-p", ""])
        listed = bash(["tracer", "-p", ""], prelude="COMP_TYPE=63;")
        assert "%s (%s)" % (pid, SHOWN) in listed, listed
        assert any(line.startswith("1 (") for line in listed) and not any(line.startswith("2 (") for line in listed), listed
        if shutil.which("fish"):
            assert pid in fish("tracer -p ") and "1," + pid in fish("tracer -p 1,")
            assert "2" not in fish("tracer -p ")
        with Terminal("bash", "--norc", "-i", setup="bind 'set bell-style none'; bind 'set completion-query-items -1'; bind 'set page-completions off'; "
                      ". <(%s --completion bash)" % lab.TRACER) as user:
            # The first TAB inserts what all begin with, if there is such; then the second one does nothing, and the third one lists.
            user.type("tracer leaks -p \t\t\t")
            shown = user.expect(r"\b%s \(odd.*name\)" % pid)
            assert "\x1b[7m" not in shown and SHOWN in shown, shown
            user.type("\x15tracer --tr\t%s\t#end" % pid)
            user.expect(r"tracer --tree %s #end" % pid)
        lab.end(process, signal.SIGTERM)


def test_zsh():
    lab.need("zsh")
    with tempfile.TemporaryDirectory(prefix="tracer-completion-") as folder:
        with open(os.path.join(folder, "_tracer"), "w", encoding="utf-8") as file:
            file.write(script("zsh"))
        process = odd_process(folder)
        setup = "fpath=(%s $fpath); autoload -U compinit; compinit -u -D; LISTMAX=100000; zle_bracketed_paste=(); setopt no_beep" % folder
        with Terminal("zsh", "-f", "-i", setup=setup) as user:
            for typed, offered in (("lea\t#", "leaks #"), ("leaks --dead\t", "leaks --deadline="), ("--sort=inuse-\t#", "--sort=inuse-objects #"),
                                   ("-s chu\t#", "-s churn #"), ("report /etc/passw\t", "report /etc/passwd"), ("-o /etc/passw\t", "-o /etc/passwd"),
                                   ("-n 5 serve --lis\t", "serve --listen="), ("--debug-d\t", "--debug-dir="), ("-u roo\t", "-u root"),
                                   ("-- catm\t\x15", "catm"), ("-p %d\t" % process.pid, "-p %d," % process.pid)):
                user.type("\x15tracer " + typed)
                user.expect(re.escape(offered))
            # The first TAB inserts what all begin with, if there is such; then the second one lists.
            user.type("\x15tracer -p \t\t")
            shown = user.expect(r"\b%d +-- odd.*name" % process.pid)
            assert "\x1b[7m" not in shown and SHOWN in shown, shown
            for command in commands():
                user.type("\x15tracer %s --\t" % command)
                shown = user.expect(r"(?s)--version.*>tracer %s --" % command)
                assert set(re.findall(r"^(--[a-z-]+)", shown, re.M)) == options(command), (command, shown)
        lab.end(process, signal.SIGTERM)


lab.run_tests()
