#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real runs: what they report is what a live report had, when the program is gone, and however the tracer ended."""
import contextlib
import json
import math
import os
import resource
import pty
import re
import select
import shutil
import signal
import sqlite3
import tempfile
import termios

import lab

# What a moment's report has of a site whatever the moment is; ages go on.
FIGURES = ("pid", "source", "allocator", "function", "alloc_bytes", "alloc_objects", "free_bytes", "free_objects", "ended", "frames")


def intervals(path):
    """How many intervals a recording has."""
    try:
        # Closed at once: what has the file open keeps what is beside it.
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % path, uri=True)) as database:
            return database.execute("SELECT count(*) FROM interval").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def record_now(tracer, path):
    """One more interval."""
    before = intervals(path)
    tracer.process.send_signal(signal.SIGUSR1)
    lab.wait_for(lambda: intervals(path) > before or tracer.process.poll() is not None, "an interval is recorded")
    assert intervals(path) > before, tracer.stderr()


def recorded(path, *options):
    status, output, errors = lab.run("report", path, "-j", "-n", "0", *options)
    assert status == 0 and not errors, errors
    return json.loads(output)


def figures(report):
    return sorted(json.dumps({key: site[key] for key in FIGURES}) for site in report["sites"])


def test_report_is_the_live_one():
    """Two tracers have been there before the first call, and report when all calls are done."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        process = lab.start([lab.target("known"), "calls", "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        live = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
        recorder = lab.Tracer("record", "-o", path, "-p", process.pid, "3600")
        account = lab.work(process)
        record_now(recorder, path)
        wanted = live.report_now()
        report = recorded(path)
        lab.check_account(account, report)
        assert figures(report) == figures(wanted) and len(report["sites"]) > 5
        assert report["totals"] == wanted["totals"]
        assert report["targets"][0]["exe"] == wanted["targets"][0]["exe"]
        recorder.stop()
        live.stop()
        assert "2 intervals are recorded" in recorder.stderr(), recorder.stderr()
        assert figures(recorded(path)) == figures(wanted)
        assert os.stat(path).st_mode & 0o777 == 0o600


def test_program_is_gone():
    """The program and its debug information are removed before its recording is read."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path, program = os.path.join(folder, "x.db"), os.path.join(folder, "program")
        shutil.copy(lab.target("known"), program)
        status, _, errors = lab.run("record", "-q", "-o", path, "3600", "--", program, "calls")
        assert status == 0, errors
        os.unlink(program)
        report = recorded(path)
        assert report["targets"][0]["exited"] and report["targets"][0]["comm"] == "program", report["targets"]
        frames = [frame for site in report["sites"] for frame in site["frames"] if frame["module"] == program]
        assert any(frame["file"] and frame["file"].endswith("known.c") and frame["line"] for frame in frames), frames
        assert all(frame["build_id"] for frame in frames), frames
        status, text, _ = lab.run("report", path, "-n", "2")
        assert status == 0 and "known.c:" in text, text
        status, folded, _ = lab.run("report", path, "-f")
        assert status == 0 and folded.startswith("program;"), folded
        base = recorded(path, "--from", "0", "--to", "1s")
        assert base["totals"] == report["totals"]
        assert all(site["growth_bytes"] == 0 for site in base["sites"]), "there is one interval only"


def test_killed_recorder():
    """What it has recorded stays."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        process = lab.start([lab.target("known"), "calls", "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        recorder = lab.Tracer("record", "-q", "-o", path, "-p", process.pid, "3600")
        record_now(recorder, path)
        account = lab.work(process)
        record_now(recorder, path)
        lab.end(recorder.process)
        lab.check_account(account, recorded(path))
        assert recorded(path, "--at", "0")["totals"]["alloc_objects"] == 0
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        lab.check_account(account, recorded(path))


def test_limit_of_file_sizes():
    """It is an error as a full disk is, not the signal that ends others; what was recorded before stays."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        process = lab.start([lab.target("leaky")])
        recorder = lab.Tracer("record", "-o", path, "-p", process.pid, "100ms",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400 << 10, 400 << 10)))
        lab.wait_for(lambda: recorder.process.poll() is not None, "the file is as large as it may be")
        assert recorder.process.returncode == 3, (recorder.process.returncode, recorder.stderr())
        assert "File too large" in recorder.stderr(), recorder.stderr()
        assert recorded(path)["totals"]["alloc_objects"] > 0
        lab.end(process)


def test_marks():
    """A mark is what the recording has when it is asked for: by the command, and by a signal."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        process = lab.start([lab.target("known"), "calls", "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        recorder = lab.Tracer("record", "-o", path, "-p", process.pid, "3600")
        status, output, errors = lab.run("mark", path, "before it works")
        assert status == 0 and not output and "mark 'before it works' is set" in errors, errors
        account = lab.work(process)
        recorder.process.send_signal(signal.SIGUSR2)
        lab.wait_for(lambda: "mark 'm1' is set" in recorder.stderr(), "the mark is set")
        assert recorded(path, "--at", "before it works")["totals"]["alloc_objects"] == 0
        lab.check_account(account, recorded(path, "--at", "m1"))
        grown = recorded(path, "--from", "before it works", "--to", "m1")
        assert grown["sites"] and all(site["growth_bytes"] == site["inuse_bytes"] for site in grown["sites"])
        recorder.stop()
        status, _, errors = lab.run("mark", path, "late")
        assert status == 4 and "has ended" in errors, (status, errors)
        status, _, errors = lab.run("report", path, "--at", "late")
        assert status == 2 and "no mark 'late'; its marks are 'before it works', 'm1'; a moment is" in errors, (status, errors)
        with sqlite3.connect(path) as database:
            database.executemany("INSERT INTO mark(name, interval) VALUES(?, 1)", [("m%d" % number,) for number in range(2, 14)])
        status, _, errors = lab.run("report", path, "--from", "late")
        assert status == 2 and "'m9' and 4 more; a moment" in errors and "'m10'" not in errors, (status, errors)


def test_beyond_the_end():
    """A moment after the end is no moment of the recording; one step after it is nearest to the last interval. The length is that of its table."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        recorder = lab.Tracer("record", "-o", path, "-p", lab.start(["sleep", "1000"]).pid, "-d", "2s", "1s")
        recorder.finish()
        end = moments(path)[-1]
        for moment in "%dms" % (end * 1000), "%dms" % (end * 1000 + 900):
            assert lab.run("report", path, "--at", moment)[0] == 0, moment
        for arguments in (("report", path, "--at", "1h"), ("report", path, "--from", "1h"), ("report", path, "--base", "1h"),
                          ("report", path, "--at", "2999-01-31T12:00:00"), ("diff", path, "@1h")):
            status, output, errors = lab.run(*arguments)
            found = re.search(r"beyond the end of the recording '.*', which has ([0-9.]+) s", errors)
            assert status == 2 and not output and found and abs(float(found.group(1)) - end) < 0.1, (arguments, status, errors, end)


def moments(path):
    """The time of each interval since tracing began, by the clock of the recording."""
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as database:
        return [ns / 1e9 for ns, in database.execute("SELECT time_ns - start_ns FROM interval ORDER BY id")]


def set_marks(recorder, count):
    for number in range(1, count + 1):
        recorder.process.send_signal(signal.SIGUSR2)
        lab.wait_for(lambda: "mark 'm%d' is set" % number in recorder.stderr() or recorder.process.poll() is not None, "the mark is set")


def test_duration():
    """-d is a time: neither marks nor an INTERVAL that does not divide it end a recording sooner. An interval at its end is there once."""
    process = lab.start(["sleep", "1000"])
    for duration, interval, marks in ((6, 2, 3), (3, 2, 0), (2, 1, 0), (1, 5, 1)):
        with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
            path = os.path.join(folder, "x.db")
            recorder = lab.Tracer("record", "-o", path, "-p", process.pid, "-d", "%ds" % duration, "%ds" % interval)
            set_marks(recorder, marks)
            recorder.finish()
            found = moments(path)
            assert recorder.process.returncode == 0 and found[-1] >= duration, (duration, interval, found, recorder.stderr())
            assert len(found) - marks <= -(-duration // interval), (duration, interval, found)


def test_count():
    """COUNT is of INTERVAL's: marks and what signals ask for are extra ones."""
    process = lab.start(["sleep", "1000"])
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        recorder = lab.Tracer("record", "-o", path, "-p", process.pid, "4s", "2")
        set_marks(recorder, 2)
        record_now(recorder, path)
        recorder.finish()
        assert recorder.process.returncode == 0 and len(moments(path)) == 2 + 2 + 1, (moments(path), recorder.stderr())


def test_nothing_beside_it():
    """A recorder that ends leaves one file, which under sudo is that of the user that has run it; one that is killed what SQLite needs."""
    process = lab.start(["sleep", "1000"])
    sudo = dict(os.environ, SUDO_UID="1234", SUDO_GID="5678")
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        for name, number in ("x", signal.SIGINT), ("y", signal.SIGKILL):
            path = os.path.join(folder, name)
            recorder = lab.Tracer("record", "-q", "-o", path, "-p", process.pid, "3600", "--when-rss", "1t", "--exec", "true", env=sudo)
            record_now(recorder, path)
            helpers = lab.children_of(recorder.process.pid)
            assert os.stat(path).st_uid == 0, "while it records, it is its own"
            recorder.process.send_signal(number)
            recorder.process.wait(lab.PATIENCE)
            lab.wait_for(lambda: all(map(lab.has_ended, helpers)), "its helpers have ended")
            wanted = {name} if name == "x" else {name, name + "-wal", name + "-shm"}
            assert {entry for entry in os.listdir(folder) if entry[0] == name} == wanted, os.listdir(folder)
            for entry in os.listdir(folder):
                status = os.stat(os.path.join(folder, entry))
                assert (status.st_uid, status.st_gid) == (1234, 5678), entry
            assert intervals(path)


def test_others_file():
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        assert lab.run("record", "-o", path, "--", "true")[0] == 0
        os.chmod(folder, 0o755)
        for arguments in (("report", path), ("mark", path, "a"), ("diff", path, path)):
            process = lab.start(["setpriv", "--reuid", "65534", "--clear-groups", lab.TRACER, *arguments])
            errors = process.communicate(timeout=lab.PATIENCE)[1].decode()
            assert process.returncode == 2 and errors.endswith("x.db': Permission denied\n"), (arguments, errors)


def add_sites(path, first, end):
    """Copies of a site, which the last interval has."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TEMP TABLE wanted AS WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) SELECT i FROM n"
                         % (first, end))
        site, interval = database.execute("SELECT site, interval FROM figures WHERE NOT gone ORDER BY interval DESC").fetchone()
        for table, new, where in (("site", {"id": "i", "key": "i"}, "site.id = %d" % site),
                                  ("figures", {"site": "i"}, "figures.site = %d AND figures.interval = %d" % (site, interval))):
            names = [row[1] for row in database.execute("PRAGMA table_info(%s)" % table)]
            columns = ", ".join(new.get(name, "%s.%s" % (table, name)) for name in names)
            database.execute("INSERT INTO %s SELECT %s FROM wanted, %s WHERE %s" % (table, columns, table, where))
        database.commit()


def test_too_many_sites():
    """More than any recorder writes is refused, before it takes gigabytes: the limit is the largest --max-stacks."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        assert lab.run("record", "-q", "-o", path, "--", lab.target("known"), "calls")[0] == 0
        add_sites(path, 1 << 30, (1 << 30) + 1000)
        assert lab.run("report", path, "-o", "/dev/null")[0] == 0
        add_sites(path, 1 << 31, (1 << 31) + (1 << 20))
        status, output, errors = lab.run("report", path)
        assert status == 2 and not output and "more sites than a recorder writes" in errors, (status, errors)


class Terminal:
    """A pseudo-terminal that a program is in the foreground of."""
    def __init__(self, *arguments):
        pid, self.fd = pty.fork()
        if not pid:
            os.execv(arguments[0], list(map(str, arguments)))
        self.pid, self.text = pid, ""

    def has(self, text):
        if select.select([self.fd], [], [], 0.05)[0]:
            try:
                self.text += os.read(self.fd, 65536).decode()
            except OSError:
                pass
        return text in self.text

    def type(self, text, answer):
        os.write(self.fd, text.encode())
        lab.wait_for(lambda: self.has(answer), "it answers %r: %r" % (answer, self.text))

    def end(self, pid=None):
        """Its exit status, when it, or a program that it waits for, is interrupted."""
        os.kill(pid or self.pid, signal.SIGINT)
        found = []

        def ended():
            self.has("")
            found[:] = os.waitpid(self.pid, os.WNOHANG)
            return found[0]

        try:
            lab.wait_for(ended, "the recorder ends")
        except BaseException:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise
        finally:
            os.close(self.fd)
        return os.waitstatus_to_exitcode(found[1])


def test_mark_key():
    """On a terminal, Enter sets a mark, a name before it names it, and the terminal's modes stay as they are."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        process = lab.start([lab.target("known"), "calls", "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        terminal = Terminal(lab.TRACER, "record", "-o", path, "-p", process.pid, "3600")
        try:
            modes = termios.tcgetattr(terminal.fd)
            lab.wait_for(lambda: terminal.has("tracer: ready"), "it is ready: %r" % terminal.text)
            assert "Enter sets a mark" in terminal.text, terminal.text
            terminal.type("before it works\n", "mark 'before it works' is set")
            account = lab.work(process)
            terminal.type("\n", "mark 'm1' is set")
            terminal.type("5m\n", "no mark is set")
            terminal.type("\n", "mark 'm2' is set")
            assert termios.tcgetattr(terminal.fd) == modes
            # The end of input ends no recording.
            terminal.type("\x04", "")
            status, _, errors = lab.run("mark", path, "after")
            assert status == 0, errors
        finally:
            status = terminal.end()
        assert status == 0, terminal.text
        assert recorded(path, "--at", "before it works")["totals"]["alloc_objects"] == 0
        lab.check_account(account, recorded(path, "--at", "m1"))
        with sqlite3.connect(path) as database:
            names = [name for name, in database.execute("SELECT name FROM mark ORDER BY id")]
        assert names == ["before it works", "m1", "m2", "after"], names


def test_no_mark_key():
    """In the background of a terminal, and of a program that is started, there is no key; nothing is stopped by the terminal."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        terminal = Terminal(lab.TRACER, "record", "-o", path, "--", "/bin/sh", "-c", "read line; echo got=$line; read line")
        try:
            lab.wait_for(lambda: terminal.has("tracer: ready"), "it is ready: %r" % terminal.text)
            terminal.type("for sh\n", "got=for sh")
            assert "Enter sets a mark" not in terminal.text and "is set" not in terminal.text, terminal.text
        finally:
            terminal.end()
        process, path = lab.start(["/bin/sleep", "1000"]), os.path.join(folder, "y.db")
        terminal = Terminal("/bin/bash", "-c", "set -m; \"$@\" & echo pid=$!=; wait", "bash", lab.TRACER, "record", "-o", path, "-p", process.pid, "3600")
        lab.wait_for(lambda: terminal.has("tracer: ready") and re.search("pid=([0-9]+)=", terminal.text), "it is ready: %r" % terminal.text)
        pid = int(re.search("pid=([0-9]+)=", terminal.text)[1])
        try:
            os.write(terminal.fd, b"not for it\n")
            status, _, errors = lab.run("mark", path, "after")
            assert status == 0, errors
            assert "Enter sets a mark" not in terminal.text and "is set" not in terminal.text, terminal.text
        finally:
            assert terminal.end(pid) == 0, terminal.text


def words(report):
    return {lab.function_of(site): site["verdict"]["word"] for site in report["sites"]}


def test_verdicts():
    """Of a program of known truth (verdicts.c): a leak, a cache that is full, buffers, and blocks that are freed at once."""
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path, old = os.path.join(folder, "x.db"), os.path.join(folder, "old.db")
        process = lab.start([lab.target("verdicts"), "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        recorder = lab.Tracer("record", "-q", "-o", path, "-p", process.pid, "500ms")
        lab.release(process)

        def moment(interval):
            with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as database:
                return "%dms" % database.execute("SELECT (time_ns - start_ns) / 1000000 FROM interval WHERE id = ?", (interval,)).fetchone()[0]

        # A busy machine delays frees, so that a later interval may be less sure: what follows is of the one at which all was known.
        last = []

        def is_known():
            last[:] = [intervals(path)]
            if last[0] < 17:
                return False
            known = words(recorded(path, "--at", moment(last[0])))
            # Nothing but the leak is ever called one.
            assert all(name == "site_leak" or word != "leak" for name, word in known.items()), known
            return known.get("site_leak") == "leak" and known.get("site_cache") == "cache" and known.get("site_temporary") == "temporary" and \
                known.get("site_buffer") in ("warm-up", "steady")

        lab.wait_for(is_known, "verdicts are known")
        recorder.stop()
        lab.end(process)
        at = ("--at", moment(last[0]))
        report = recorded(path, "-s", "leak", *at)
        never = report["sites"][0]["verdict"]["never_freed"]
        assert lab.function_of(report["sites"][0]) == "site_leak" and 0 <= never["low"] <= never["mid"] <= never["high"] < 0.1, report["sites"][0]
        assert report["verdict"]["word"] == "leak", report["verdict"]
        # Verdicts come with the 15th interval of 0.5 s (docs/recordings.md), so 6 s after the third one; all formats say when.
        third = ("--at", moment(3))
        waits = {site["verdict"]["wait_s"] for site in recorded(path, *third)["sites"] if site["verdict"]["word"] == "unknown"}
        assert len(waits) == 1 and min(waits) >= 6, waits
        for form in "text", "html":
            assert "look for about %d.0 s more" % math.ceil(min(waits)) in lab.run("report", path, "--format", form, *third)[1], (form, waits)
        # At the beginning nobody could know.
        assert set(words(recorded(path, "--at", "1s")).values()) <= {"unknown", "none", None}, recorded(path, "--at", "1s")
        status, text, errors = lab.run("report", path, "--fail-on-leak", "-s", "leak", *at)
        assert status == 1 and "LEAK" in text and "never freed" in text and not errors, (status, text, errors)
        status, _, errors = lab.run("report", path, "--fail-on-leak", "--at", "1s")
        assert status == 3 and "not judged" in errors, (status, errors)
        # Since when it leaks, as docs/recordings.md asks; a report of that moment has the same word, and one of the moment before has not.
        with sqlite3.connect(path) as database:
            since = database.execute("SELECT v.interval FROM verdict v WHERE v.word = 'leak' AND v.interval ="
                                     " (SELECT max(interval) FROM verdict WHERE site = v.site AND interval <= ?)", last).fetchall()
            assert len(since) == 1, since
        before, then = (words(recorded(path, "--at", moment(since[0][0] - back)))["site_leak"] for back in (1, 0))
        assert before != "leak" and then == "leak", (before, then)
        shutil.copy(path, old)
        with sqlite3.connect(old) as database:
            for column in ("lives", "ages", "ages_ns", "life_untimed", "life_temporary", "life_units", "life_longest"):
                database.execute("ALTER TABLE figures DROP COLUMN " + column)
        status, output, errors = lab.run("report", old, "-j", "-n", "0")
        assert status == 0 and "there are no verdicts" in errors and "verdict" not in json.loads(output), (status, errors)
        for options in (("--fail-on-leak",), ("-s", "leak")):
            status, output, errors = lab.run("report", old, *options)
            assert status == 2 and not output and "this recording has none" in errors, (status, output, errors)


def test_refusals():
    with tempfile.TemporaryDirectory(prefix="tracer-record-") as folder:
        path = os.path.join(folder, "x.db")
        for arguments, wanted in (
                (("record", "--", "true"), "-o FILE"),
                (("record", "-o", path, "--budget", "1", "--min-age", "1s", "--", "true"), "it excludes --min-age"),
                (("record", "-o", path, "--light", "--", "true"), "a recording keeps when blocks were freed"),
                (("report",), "needs FILE"),
                (("mark", path), "needs NAME"),
                (("mark", path, "5m"), "digit"),
                (("mark", path, "a\nb"), "the name of a mark"),
                (("mark", path, "a"), "No such file"),
                (("report", path), "No such file"),
                (("report", __file__), "cannot read the recording"),
                (("record", "-o", __file__, "--", "true"), "will not overwrite")):
            status, output, errors = lab.run(*arguments)
            assert status == 2 and not output and wanted in errors, (arguments, status, errors)
        assert not os.path.exists(path)
        for option in ("--max-size", "--limit"):
            status, _, errors = lab.run("record", "-o", path, option, "10m", "--", "true")
            assert status == 0 and ("--limit is what limits" in errors) == (option == "--max-size"), (option, errors)
            os.unlink(path)


lab.run_tests()
