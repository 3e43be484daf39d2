#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer top` in a pseudo-terminal, on a real process: what its screen shows, what keys do, and that the terminal is as it was
before, whatever way it ends.

The truth is the script's: it keeps buffers of given sizes, and this file has the same table of them.
"""
import os
import re
import signal
import sys
import tempfile

import lab
from terminal import Terminal

SCRIPT = """import sys
kept = []
def grows(count):
    for _ in range(count):
        kept.append(bytearray(1999999))  # grows
def stays(count):
    return [bytearray(1949999) for _ in range(count)]  # stays
print("ready", flush=True)
sys.stdin.readline()
grows(5)
rows = stays(4)
print("one", flush=True)
sys.stdin.readline()
grows(3)
print("two", flush=True)
sys.stdin.readline()
"""


def line_of(mark):
    return [line.endswith("# " + mark) for line in SCRIPT.splitlines()].index(True) + 1


class Top:
    """A process that runs the script, and a screen on it."""

    def __init__(self, *options, columns=80, rows=24, environment=None):
        self.file = tempfile.NamedTemporaryFile("w", prefix="s-", suffix=".py")
        self.file.write(SCRIPT)
        self.file.flush()
        self.process = lab.start([sys.executable, self.file.name])
        assert self.process.stdout.readline() == b"ready\n"
        self.terminal = Terminal(columns, rows)
        base = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", "LC_ALL", "COLUMNS", "LINES")}
        self.tracer = lab.Tracer("top", "-z", "1900000", "-Z", "2100000", *options, "-p", self.process.pid, "200ms",
                                 stdin=self.terminal.slave, stdout=self.terminal.slave,
                                 env={**base, "TERM": "xterm", "LANG": "C.UTF-8", **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lab.end(self.process)
        if self.tracer.process.poll() is None:
            lab.end(self.tracer.process)
        self.terminal.close()
        self.file.close()

    def release(self):
        lab.release(self.process)
        return self.process.stdout.readline()

    def expect(self, pattern):
        """Wait until a line of the screen fits; returns the match."""
        matches = []

        def found():
            matches[:] = [match for match in (re.search(pattern, line) for line in self.terminal.lines()) if match]
            return matches
        try:
            lab.wait_for(found, "the screen shows " + pattern)
        except AssertionError as error:
            raise AssertionError("%s:\n%s\n%s" % (error, "\n".join(self.terminal.lines()), self.tracer.stderr())) from error
        return matches[0]

    def shows(self, text):
        return any(text in line for line in self.terminal.lines())

    def finish(self):
        """Its status; the terminal must be as it was."""
        def ended():
            self.terminal.read()
            return self.tracer.process.poll() is not None
        lab.wait_for(ended, "the tracer ends")
        assert self.terminal.is_restored(), self.terminal.raw[-400:]
        return self.tracer.process.returncode


def test_figures_and_keys():
    with Top() as top:
        top.expect(r"^python3? ?.*\(%d\), traced for" % top.process.pid)
        top.expect("no allocation was recorded yet")
        assert top.release() == b"one\n"
        # 5 of 2,000,000 bytes, 4 of 1,950,000.
        row = top.expect(r" 9\.5 MiB +5 .*:%d" % line_of("grows")).group()
        assert row, row
        top.expect(r" 7\.4 MiB +4 .*:%d" % line_of("stays"))
        top.expect(r"^In use  \[.*17\.0 MiB of .* RSS\]  9 blocks at 2 sites")
        # What grows since a mark.
        top.terminal.type("m")
        top.expect("nothing has grown since the mark")
        assert top.release() == b"two\n"
        top.expect(r"\+5\.7 MiB .* 15\.3 MiB .*:%d" % line_of("grows"))
        assert not top.shows(":%d" % line_of("stays"))
        top.terminal.type("u")
        top.expect(r" 7\.4 MiB +4 .*:%d" % line_of("stays"))
        # Its stack; the order; a filter; the process.
        top.terminal.type("M\r")
        top.expect(r"> grows .*:%d" % line_of("grows"))
        top.terminal.type("qB/stays")
        top.expect("no row has|Filter: stays_")
        top.terminal.type("\025:%d\r" % line_of("stays"))
        lab.wait_for(lambda: top.shows("[filter: ") and top.shows("7.4 MiB") and not top.shows(" 15.3 MiB"), "one row is left")
        top.terminal.type("\033")
        top.expect(r" 15\.3 MiB ")
        top.terminal.type("p")
        top.expect(r"^ +%d .* 22\.7 MiB .*python" % top.process.pid)
        top.terminal.type("h")
        top.expect("freeze the screen")
        # Other sizes, tiny ones, too.
        top.terminal.type("qs")
        for columns, rows in ((160, 50), (7, 2), (1, 1), (80, 24)):
            top.terminal.resize(columns, rows)
            top.tracer.process.send_signal(signal.SIGWINCH)
            if columns >= 80:
                top.expect(r"WHERE +VIA" if columns == 160 else r"WHERE$")
                top.expect("F10Quit")
        assert top.terminal.screen.colors
        top.terminal.type("q")
        assert top.finish() == 0


def test_signals():
    """However it ends, the terminal is as it was: by signals for the end, by its own crash, and when its user hangs up."""
    for number, status in ((signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGSEGV, -signal.SIGSEGV)):
        with Top() as top:
            top.expect("no allocation")
            top.tracer.process.send_signal(number)
            assert top.finish() == status, number


def test_end_of_target():
    """Then the last report is a text, on the terminal as it was."""
    with Top() as top:
        top.release()
        top.expect(r" 9\.5 MiB +5 ")
        top.terminal.raw = b"\033[?1049h\033[?25l"
        top.release()
        # Without a chance to free anything.
        top.process.kill()
        assert top.finish() == 0
        report = top.terminal.raw[top.terminal.raw.rindex(b"\033[?1049l"):].decode()
        assert "15.3 MiB" in report and "Leak approximation summary" in report, report


def test_command():
    """A command that is started does not write on the screen, and its end is the end."""
    terminal = Terminal()
    tracer = lab.Tracer("top", "--", "sh", "-c", "echo WRITTEN; echo WRITTEN >&2; read line; [ -t 0 ] || exit 7", stdin=terminal.slave,
                        stdout=terminal.slave, env={**os.environ, "TERM": "xterm"})

    def ended():
        terminal.read()
        return tracer.process.poll() is not None
    lab.wait_for(ended, "the tracer ends")
    assert terminal.is_restored() and b"WRITTEN" not in terminal.raw, terminal.raw
    assert tracer.process.returncode == 7 and "7" in tracer.stderr(), tracer.stderr()
    terminal.close()


def test_no_color():
    for options, environment in (((), {"NO_COLOR": "1"}), (("--color=never",), {})):
        with Top(*options, environment=environment) as top:
            top.expect("no allocation")
            assert not top.terminal.screen.colors, top.terminal.screen.colors
            top.terminal.type("q")
            assert top.finish() == 0


def test_ascii():
    with Top(environment={"LANG": "C"}) as top:
        top.release()
        top.expect(r" 9\.5 MiB +5 ")
        assert all(byte < 0x80 for byte in top.terminal.raw), top.terminal.raw
        top.terminal.type("q")
        assert top.finish() == 0


def test_hostile_name():
    """Escapes in a process's name do not reach the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "\033]0;evil\007")
        os.symlink(lab.need("sleep"), path)
        process = lab.start([path, "600"])
        terminal = Terminal()
        tracer = lab.Tracer("top", "-p", process.pid, "200ms", stdin=terminal.slave, stdout=terminal.slave, env={**os.environ, "TERM": "xterm"})
        lab.wait_for(lambda: any("\\x1b]0;evil\\x07" in line for line in terminal.lines()), "its name is shown")
        assert b"]0;evil\007" not in terminal.raw
        terminal.type("p")
        lab.wait_for(lambda: any(line.startswith("    PID") for line in terminal.lines()), "processes are shown")
        terminal.type("q")
        lab.wait_for(lambda: terminal.lines() and tracer.process.poll() is not None, "the tracer ends")
        assert b"]0;evil\007" not in terminal.raw
        terminal.close()


def test_suspended():
    """Ctrl-Z gives the terminal back to the shell, and `fg` shows the screen again."""
    process = lab.start(["sleep", "600"])
    pid, master = os.forkpty()
    if not pid:
        os.environ.update({"PS1": "prompt>", "TERM": "xterm", "ENV": ""})
        os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
    os.set_blocking(master, False)
    text = b""

    def expect(wanted):
        nonlocal text

        def found():
            nonlocal text
            try:
                text += os.read(master, 65536)
            except (BlockingIOError, OSError):
                pass
            return wanted in text
        lab.wait_for(found, "the terminal shows %r" % wanted)
        text = text[text.index(wanted) + len(wanted):]

    expect(b"prompt>")
    os.write(master, b"%s top -p %d 200ms\n" % (lab.TRACER.encode(), process.pid))
    expect(b"\033[?1049h")
    expect(b"traced for")
    os.write(master, b"\032")
    expect(b"\033[?1049l")
    expect(b"prompt>")
    os.write(master, b"stty -a | tr '\\n' ' '; echo; fg\n")
    expect(b" icanon ")
    expect(b"\033[?1049h")
    expect(b"traced for")
    os.write(master, b"q")
    expect(b"\033[?1049l")
    expect(b"prompt>")
    os.write(master, b"exit\n")
    lab.wait_for(lambda: os.waitpid(pid, os.WNOHANG)[0], "the shell ends")
    os.close(master)


def test_refused():
    process = lab.start(["sleep", "600"])
    terminal = Terminal()
    arguments = "top", "-p", process.pid
    for options, wanted in (({"stdout": None}, "standard output is none"), ({"stdin": None}, "standard input"),
                            ({"TERM": "no-such-terminal"}, "TERM=no-such-terminal"), ({"TERM": "dumb"}, "cursor"),
                            ({"TERM": ""}, "is not set")):
        streams = {"stdin": terminal.slave, "stdout": terminal.slave}
        environment = {**os.environ, "TERM": options.get("TERM", "xterm")}
        streams.update({name: lab.subprocess.PIPE for name in options if name != "TERM"})
        tracer = lab.start([lab.TRACER, *arguments], env=environment, **streams)
        _, errors = tracer.communicate(timeout=lab.PATIENCE)
        assert tracer.returncode == 2 and errors.startswith(b"tracer: 'tracer top' needs a terminal"), (options, errors)
        assert wanted.encode() in errors, (options, errors)
    terminal.read()
    assert not terminal.raw
    terminal.close()


lab.run_tests()
