#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer watch` on a live program of known truth (tests/targets/verdicts.c): its words, its figures of the process, how it ends."""
import json
import signal
import time

import lab

CACHE = 500


def begin():
    process = lab.start([lab.target("verdicts"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    return process


def words_of(report):
    return {lab.function_of(site): site["verdict"]["word"] for site in report["sites"]}


def is_known(report):
    words = words_of(report)
    return words.get("site_leak") == "leak" and words.get("site_cache") == "cache"


def test_all_calls():
    """With a budget that allows it all calls are traced, so the words are those of exact figures; and they stay."""
    process = begin()
    tracer = lab.Tracer("watch", "-j", "-n", "0", "--budget", "50%", "--fail-on-leak", "-p", process.pid)
    lab.release(process)
    end = time.monotonic() + lab.PATIENCE
    report = tracer.report_now()
    while not is_known(report):
        assert time.monotonic() < end, words_of(report)
        assert words_of(report).get("site_cache") != "leak", report
        time.sleep(0.3)
        report = tracer.report_now()
    assert report["command"] == "watch" and report["watch"]["calls"] == "all", report
    last = json.loads(tracer.stop().splitlines()[-1])
    assert is_known(last) and tracer.process.returncode == 1, (words_of(last), tracer.process.returncode)
    # Leaks first.
    assert lab.function_of(last["sites"][0]) == "site_leak", words_of(last)
    cache = next(site for site in last["sites"] if lab.function_of(site) == "site_cache")
    assert cache["inuse_objects"] == CACHE and type(cache["verdict"]["sure"]) is bool, cache
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


def test_windows():
    """Where all calls cost more than the budget they are traced in windows, which nothing but JSON's figures show so soon; -d ends it."""
    process = begin()
    tracer = lab.Tracer("watch", "-j", "--budget", "0.01%", "-d", "1s", "-p", process.pid, ready=False)
    lab.release(process)
    report = json.loads(tracer.finish().splitlines()[-1])
    assert report["watch"]["calls"] == "windows" and "budget" in report, report
    assert not report["watch"]["sure"] and report["verdict"]["word"] != "leak", report
    assert tracer.process.returncode == 0, tracer.stderr()


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
