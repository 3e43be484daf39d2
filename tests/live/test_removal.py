#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The last report does not wait until the probes are out, which on a busy machine takes seconds: here their removal is held.

Truth: the target's own account, and the bytes of its code, in which probes show.
"""
import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile

import lab


class Held:
    """What removes probes is held as long as a file is there. The tracer has two seconds to end."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "hold")
        self.environment = dict(os.environ, LD_PRELOAD=lab.target("held.so"), TEST_HOLD=self.file, TRACER_END_SECONDS="2")

    def hold(self):
        with open(self.file, "x", encoding="ascii"):
            pass

    def let_go(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.file)


@contextlib.contextmanager
def held():
    with tempfile.TemporaryDirectory() as folder:
        one = Held(folder)
        try:
            yield one
        finally:
            one.let_go()


def known():
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    return process


def last_report(tracer):
    """What it prints at the end, while what removes its probes is held and keeps the pipe open."""
    lab.wait_for(lambda: select.select([tracer.process.stdout], [], [], 0)[0], "the report is there")
    return json.loads(tracer.process.stdout.readline())


def finish(tracer, process, before, status=0):
    """It ends with the status of what it has written, though probes are still being taken out; afterwards they are out."""
    tracer.process.wait(lab.PATIENCE)
    assert tracer.process.returncode == status, (tracer.process.returncode, tracer.stderr())
    assert "without the last report" not in tracer.stderr(), tracer.stderr()
    assert lab.code_of(process.pid) != before, "the removal is held"


def ended(holder, process, before):
    holder.let_go()
    lab.wait_for_code(process.pid, before)
    lab.end(process)


def test_report():
    """The end of the tracer's time finds the report written: that is an orderly end."""
    with held() as holder:
        process = known()
        before = lab.code_of(process.pid)
        tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600", env=holder.environment)
        account = lab.work(process)
        holder.hold()
        tracer.process.send_signal(signal.SIGINT)
        report = last_report(tracer)
        assert lab.code_of(process.pid) != before, "the removal is held"
        lab.check_account(account, report)
        finish(tracer, process, before)
        ended(holder, process, before)


def test_status():
    """A threshold that was passed is the status, although the tracer did not come to its own end."""
    with held() as holder:
        process = known()
        before = lab.code_of(process.pid)
        tracer = lab.Tracer("-q", "--fail-over", "1", "-p", process.pid, env=holder.environment)
        lab.work(process)
        holder.hold()
        tracer.process.send_signal(signal.SIGTERM)
        finish(tracer, process, before, status=1)
        ended(holder, process, before)


def test_second_signal():
    """Once the report is written, a second signal only cuts the cleaning up short."""
    with held() as holder:
        process = known()
        before = lab.code_of(process.pid)
        environment = dict(holder.environment, TRACER_END_SECONDS="3600")
        tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600", env=environment)
        account = lab.work(process)
        holder.hold()
        tracer.process.send_signal(signal.SIGINT)
        lab.check_account(account, last_report(tracer))

        def has_ended():
            tracer.process.send_signal(signal.SIGINT)
            return tracer.process.poll() is not None
        lab.wait_for(has_ended, "the second signal ends it")
        finish(tracer, process, before)
        ended(holder, process, before)


def test_recording():
    """Its file is complete."""
    with held() as holder, tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.db")
        process = known()
        before = lab.code_of(process.pid)
        tracer = lab.Tracer("record", "-p", process.pid, "-o", path, "1h", env=holder.environment)
        account = lab.work(process)
        holder.hold()
        tracer.process.send_signal(signal.SIGINT)
        finish(tracer, process, before)
        assert "1 interval is recorded" in tracer.stderr(), tracer.stderr()
        status, output, errors = lab.run("report", "-j", "-n", "0", path)
        assert status == 0, errors
        lab.check_account(account, json.loads(output))
        ended(holder, process, before)


def test_lost_blocks():
    with held() as holder:
        process = known()
        before = lab.code_of(process.pid)
        tracer = lab.Tracer("leaks", "-j", "-d", "1h", "-p", process.pid, env=holder.environment)
        lab.work(process)
        holder.hold()
        tracer.process.send_signal(signal.SIGINT)
        lost = last_report(tracer)["lost"]["definite"]["blocks"]
        finish(tracer, process, before, status=1 if lost else 0)
        ended(holder, process, before)


def test_commands_without_a_last_report():
    """Where nothing is left to write, the end is an orderly one from the start."""
    for command in (["serve", "--listen", "0"], ["watch"]):
        with held() as holder:
            process = known()
            before = lab.code_of(process.pid)
            tracer = lab.Tracer(*command, "-p", process.pid, env=holder.environment, stdout=subprocess.DEVNULL)
            lab.work(process)
            holder.hold()
            tracer.process.send_signal(signal.SIGINT)
            finish(tracer, process, before)
            ended(holder, process, before)


if __name__ == "__main__":
    lab.run_tests()
