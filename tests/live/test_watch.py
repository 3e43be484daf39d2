#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer watch` on a live program of known truth (tests/targets/verdicts.c): its words, its figures of the process, how it ends."""
import json
import os
import re
import signal
import tempfile
import time

import lab

CACHE = 500


def begin():
    process = lab.start([lab.target("verdicts"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    return process


def words_of(report):
    return {lab.function_of(site): site["verdict"]["word"] for site in report["sites"]}


def report_of(tracer):
    """The report that it writes now, or, if it is sure and has ended, its last one: that is there once."""
    tracer.process.send_signal(signal.SIGUSR1)
    line = tracer.process.stdout.readline()
    if line:
        tracer.last = line
    return json.loads(tracer.last)


def last_of(tracer):
    """Its last report, read or not."""
    return json.loads((tracer.stop().splitlines() or [tracer.last])[-1])


def is_known(report):
    words = words_of(report)
    return words.get("site_leak") == "leak" and words.get("site_cache") == "cache"


def test_all_calls():
    """With a budget that allows it all calls are traced, so the words are those of exact figures; and they stay."""
    process = begin()
    tracer = lab.Tracer("watch", "-j", "-n", "0", "--budget", "50%", "--fail-on-leak", "-p", process.pid)
    lab.release(process)
    end = time.monotonic() + lab.PATIENCE
    report = report_of(tracer)
    while not is_known(report):
        assert time.monotonic() < end, words_of(report)
        assert words_of(report).get("site_cache") != "leak", report
        time.sleep(0.3)
        report = report_of(tracer)
    assert report["command"] == "watch" and report["watch"]["calls"] == "all", report
    last = last_of(tracer)
    assert is_known(last) and tracer.process.returncode == 1, (words_of(last), tracer.process.returncode)
    # Leaks first.
    assert lab.function_of(last["sites"][0]) == "site_leak", words_of(last)
    cache = next(site for site in last["sites"] if lab.function_of(site) == "site_cache")
    # One is replaced at this moment, maybe.
    assert CACHE - 1 <= cache["inuse_objects"] <= CACHE and type(cache["verdict"]["sure"]) is bool, cache
    watch = last["watch"]
    assert not watch["sure"] or last["duration_s"] >= 30, watch
    check_memory(watch["memory"], last)


def check_memory(memory, report):
    """The process's own malloc has at least what was traced, and is a part of what is resident."""
    assert memory and memory["moments"], report
    for moment in memory["moments"]:
        assert 0 < moment["malloc_live_bytes"] <= moment["rss_bytes"], moment
        # A trap between the two looks is all that they can differ by, beside blocks that are older.
        assert moment["malloc_live_bytes"] + 65536 >= moment["tracked_bytes"], moment
    times = [moment["at_s"] for moment in memory["moments"]]
    assert times == sorted(times), times


def test_several():
    """Several processes, however they are selected: the calls of each are traced, and each has its leak."""
    with lab.Group("tracer-watch") as group:
        # Both work until the pipe is closed that is this one's standard input.
        parent = lab.start(["/bin/sh", "-c", "exec 3<&0; \"$0\" <&3 & \"$0\" <&3 & wait", lab.target("verdicts")])
        lab.wait_for(lambda: len(lab.children_of(parent.pid)) == 2, "both have started")
        children = lab.children_of(parent.pid)
        lab.wait_for(lambda: all(is_named(child, "verdicts") for child in children), "both are themselves")
        for child in children:
            group.enter(child)
        # What stands still costs nothing, so all calls are traced.
        for child in children:
            os.kill(child, signal.SIGSTOP)
        ways = (["-p", ",".join(map(str, children))], ["--tree", parent.pid], ["--cgroup", "/" + group.name])
        tracers = [lab.Tracer("watch", "-j", "-n", "0", "--budget", "50%", *way) for way in ways]
        for child in children:
            os.kill(child, signal.SIGCONT)
        for tracer in tracers:
            lab.wait_for(lambda tracer=tracer: leaking(report_of(tracer)) == set(children), "each leaks")
        for tracer in tracers:
            last = last_of(tracer)
            assert last["watch"]["calls"] == "all" and leaking(last) == set(children), last["watch"]


def is_named(pid, name):
    with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
        return file.read().strip() == name


def leaking(report):
    """The processes that have a leak, and no other site that is called one."""
    found = [site for site in report["sites"] if site["verdict"]["word"] == "leak"]
    assert all(lab.function_of(site) == "site_leak" for site in found), found
    return {site["pid"] for site in found}


def test_command():
    """A command is watched from its first instruction, all calls, until it ends: it has counted them itself."""
    with tempfile.NamedTemporaryFile("r", prefix="tracer-watch-") as file:
        status, output, errors = lab.run("watch", "-q", "-j", "-n", "0", "-o", file.name, "--", lab.target("known"), "calls")
        assert status == 0, errors
        report = lab.last_object(file.read())
    assert report["watch"]["calls"] == "all" and not report["watch"]["sure"], report["watch"]
    lab.check_account(lab.last_object(output), report)


def test_command_words():
    """The same words as of a process that runs, and an exit status by them; -d ends the watch, and the command goes on."""
    tracer = lab.Tracer("watch", "-j", "-n", "0", "--fail-on-leak", "-d", "1h", "--", lab.target("verdicts"))
    lab.wait_for(lambda: is_known(report_of(tracer)), "leak and cache are known")
    tracer.process.stdin.close()
    tracer.process.stdin = None
    last = json.loads((tracer.finish().splitlines() or [tracer.last])[-1])
    assert is_known(last) and tracer.process.returncode == 1, (words_of(last), tracer.stderr())
    cache = next(site for site in last["sites"] if lab.function_of(site) == "site_cache")
    # Of a watch that was sure before, the command was not over: one was replaced at that moment, maybe.
    assert CACHE - last["watch"]["sure"] <= cache["inuse_objects"] <= CACHE, cache


def test_windows():
    """Where all calls cost more than the budget they are traced in windows, which nothing but JSON's figures show so soon; -d ends it."""
    process = begin()
    tracer = lab.Tracer("watch", "-j", "--budget", "0.01%", "-d", "1s", "-p", process.pid, ready=False)
    lab.release(process)
    report = json.loads(tracer.finish().splitlines()[-1])
    assert report["watch"]["calls"] == "windows" and "budget" in report, report
    assert not report["watch"]["sure"] and report["verdict"]["word"] != "leak", report
    # What was traced is an estimate in each moment of the memory, if there is one.
    for moment in report["watch"]["memory"]["moments"] if report["watch"]["memory"] else ():
        tracked = moment["tracked_bytes"]
        assert tracked["low"] <= tracked["mid"] == tracked["value"], moment
        assert tracked["high"] is None or tracked["mid"] <= tracked["high"], moment
    assert tracer.process.returncode == 0, tracer.stderr()


def test_text_of_windows():
    """What was traced has its place beside what the process has, as an estimate, which is marked."""
    process = begin()
    lab.release(process)
    tracer = lab.Tracer("watch", "--budget", "0.01%", "-p", process.pid)
    end, lines = time.monotonic() + lab.PATIENCE, []
    while not any(line.startswith("at  ") for line in lines):
        assert time.monotonic() < end, lines
        time.sleep(0.5)
        tracer.process.send_signal(signal.SIGUSR1)
        lines = [tracer.process.stdout.readline().decode()]
        while not lines[-1].startswith("not sure yet"):
            lines.append(tracer.process.stdout.readline().decode())
            assert lines[-1], tracer.stderr()
    rows = lines[next(i for i, line in enumerate(lines) if line.startswith("at  ")) + 1:-1]
    assert len(rows) >= 2 and all(re.search(r" ~\d[\d.]* (B|[KM]iB)$", row.rstrip()) for row in rows), lines


def test_text():
    process = begin()
    tracer = lab.Tracer("watch", "--budget", "50%", "-p", process.pid)
    lab.release(process)
    time.sleep(0.5)
    text = tracer.stop(signal.SIGTERM)
    lines = text.splitlines()
    assert lines[0].startswith("verdicts (%d) watched for " % process.pid) and ", all calls: " in lines[0], text
    assert any(line.startswith("not yet known") for line in lines), text
    assert lines[-1].startswith("not sure yet"), text
    assert max(map(len, lines)) <= 80, text
    assert tracer.process.returncode == 0, text


def test_refused():
    for arguments, reason in ((["-s", "inuse-objects"], "orders by what matters"), (["--light"], "there are no verdicts"),
                              (["-f"], ""), (["--format", "pprof"], "text and json"), (["--fail-over", "1m"], "--fail-on-leak")):
        status, _, errors = lab.run("watch", "-p", "1", *arguments)
        assert status == 2 and reason in errors, (arguments, status, errors)


lab.run_tests()
