#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that map a file whose FUSE server does not answer: the tracer gives it up, and others' figures are exact."""
import json
import os
import sys

import attacks
import lab
from fuse import mounts

OPERATIONS = ("lookup", "open", "read", "getattr", "flush", "release")


def mapper(*paths):
    return attacks.attacker(lab.target("hostile"), "files", "0", *paths)


def check_report(tracer, process):
    """Reports come; the victim does its work, and the last report, at SIGINT, is right about it."""
    for _ in range(2):
        assert json.loads(tracer.process.stdout.readline())["targets"]
    account = lab.work(process)
    report = json.loads(tracer.stop().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    attacks.check_victim(report, process, account)
    return report


def check_silent(made, order):
    process, attacker = attacks.victim(), mapper(*[mount.file for mount in made])
    for mount in made:
        mount.fall_silent()
    pids = "%d,%d" % order(attacker.pid, process.pid)
    tracer = lab.Tracer("-j", "-n", "0", "-p", pids, "0.5")
    report = check_report(tracer, process)
    assert report["loss"]["files_unopened"] >= len(made), report["loss"]
    for mount in made:
        assert "the file system of %s does not answer" % mount.file in tracer.stderr(), tracer.stderr()
    lab.end(attacker)


def test_file_of_a_silent_server():
    for order in (lambda a, b: (a, b), lambda a, b: (b, a)):
        with mounts(1) as made:
            check_silent(made, order)


def test_files_of_several_silent_servers():
    with mounts(4) as made:
        check_silent(made, lambda a, b: (a, b))


def test_server_that_answers():
    with mounts(1) as made:
        process, attacker = attacks.victim(), mapper(made[0].file)
        tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (attacker.pid, process.pid), "0.5")
        report = check_report(tracer, process)
        assert report["loss"]["files_unopened"] == 0, report["loss"]
        assert "does not answer" not in tracer.stderr() and "cannot be read" not in tracer.stderr(), tracer.stderr()


def test_requests_without_an_answer():
    """One kind of them at a time, at the attach; those of the process that has the file mapped are answered."""
    for operation in OPERATIONS:
        with mounts(1) as made:
            process, attacker = attacks.victim(), mapper(made[0].file)
            made[0].fall_silent(operation, attacker.pid)
            tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (attacker.pid, process.pid), "0.5")
            report = check_report(tracer, process)
            opened = report["loss"]["files_unopened"] == 0
            print("# %s: %s" % (operation, "opened" if opened else "not opened"), flush=True)
            assert opened != ("file system of %s does not answer" % made[0].file in tracer.stderr()), tracer.stderr()
            assert opened or operation in ("open", "read", "getattr"), (operation, tracer.stderr())
            lab.end(attacker)


def test_requests_without_an_answer_for_a_late_library():
    for operation in OPERATIONS:
        with mounts(1) as made:
            process = attacks.victim()
            late = lab.start([lab.target("changes"), "dlopen", made[0].file, "wait"])
            lab.wait_for(lambda late=late: lab.is_reading(late), "the target waits")
            made[0].fall_silent(operation, late.pid)
            tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (late.pid, process.pid), "0.5")
            account = lab.work(late)
            report = check_report(tracer, process)
            sites = [site for site in report["sites"] if site["pid"] == late.pid]
            assert sum(site["alloc_bytes"] for site in sites) >= account["plugin_leak"][0], (operation, sites)


def probed(*options, user=0, silence=None):
    """A program on a server, with an allocator of its own; silent for all others once it is traced."""
    with mounts(1, "known-static", user) as made:
        process = lab.start([made[0].file, "calls", "wait"])
        lab.wait_for(lambda: lab.is_reading(process), "the target waits")
        beside = attacks.victim()
        tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (process.pid, beside.pid), *options, "3600")
        if silence:
            made[0].fall_silent(silence, process.pid)
        account = lab.work(process)
        work = lab.work(beside)
        report = json.loads(tracer.stop().splitlines()[-1])
        assert tracer.process.returncode == 0, tracer.stderr()
        attacks.check_victim(report, beside, work)
        report["sites"] = [site for site in report["sites"] if site["pid"] == process.pid]
        lab.end(process)
        return account, report, tracer.stderr()


def test_program_of_a_server_that_falls_silent():
    """Its figures and its names are those of a file of the disk: no later report needs the server."""
    for operation in (None, "all"):
        account, report, errors = probed(silence=operation)
        assert report["loss"]["files_unopened"] == 0, (report["loss"], errors)
        lab.check_account(account, report | {"totals": dict.fromkeys(report["totals"], 0)})


def test_program_without_a_name():
    """Of a mount that is in no namespace: the kernel's own. It asks no server."""
    fd = os.memfd_create("program", 0)
    with open(lab.target("known-static"), "rb") as file:
        os.write(fd, file.read())
    process = lab.start(["/proc/self/fd/%d" % fd, "calls", "wait"], pass_fds=(fd,))
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600")
    account = lab.work(process)
    lab.check_account(account, json.loads(tracer.stop().splitlines()[-1]))
    os.close(fd)


def test_program_of_a_users_server_is_not_probed():
    """The server could stop the kernel in the probe, with all forks of the machine; it is said and counted."""
    _, report, errors = probed(user=65534)
    assert report["loss"]["files_unopened"] == 1 and not report["sites"], (report["loss"], report["sites"])
    assert "is not probed" in errors and "could stop the kernel" in errors, errors


def test_look_at_files_of_silent_servers():
    """No request is made for a look at memory: what is not in memory is not asked for. The parts are the process, as ever."""
    with mounts(2) as made:
        attacker = mapper(*[mount.file for mount in made])
        for mount in made:
            mount.fall_silent()
        status, output, errors = lab.run("memory", "-j", "-p", attacker.pid)
        assert status == 0 and not errors, (status, errors)
        report = json.loads(output)
        assert not any("no time" in remark for remark in report["remarks"]), report["remarks"]
        assert sum(row["rss_bytes"] for row in report["parts"]) == report["process"]["rss_bytes"], report["parts"]
        lab.end(attacker)


def test_end_within_the_time_as_shipped():
    """SIGTERM while servers do not answer: the last report, or the end without one, which is said."""
    environment = {name: value for name, value in os.environ.items() if name != "TRACER_END_SECONDS"}
    with mounts(3) as made:
        attacker = mapper(*[mount.file for mount in made])
        for mount in made:
            mount.fall_silent("all", attacker.pid)
        for wait in (True, False):
            tracer = lab.Tracer("-j", "-p", attacker.pid, "0.2", ready=False, env=environment)
            lab.wait_for(lambda tracer=tracer: lab.children_of(tracer.process.pid), "the tracer has begun")
            if wait:
                tracer.wait_ready()
            output, status = tracer.stop(lab.signal.SIGTERM), tracer.process.returncode
            late = "not at an end 5 seconds after signal 15" in tracer.stderr()
            print("# %s" % ("without the last report" if late else "with the last report"), flush=True)
            assert (status == 3 if late else status == 0 and json.loads(output.splitlines()[-1])), (status, tracer.stderr())


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
