#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer watch` does not take memory that is free in malloc for a leak. Truth: what tests/targets/fragments.c keeps and frees, and what of it grows."""
import concurrent.futures
import json
import time

import lab

PAGES, PAGE, BLOCK = 1024, 4096, 512
MIB = 1 << 20
GROWS = {"leak", "growing", "filling"}


def begin(mode, *options):
    """All that is in malloc is traced."""
    process = lab.start([lab.target("fragments"), mode, "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("watch", "-n", "0", "--budget", "50%", *options, "-p", process.pid)
    lab.release(process)
    return tracer


def words_of(report):
    return {lab.function_of(site): site["verdict"]["word"] for site in report["sites"]}


def report_of(tracer):
    """The report that it writes now; None if it has ended, since it was sure."""
    if tracer.process.poll() is None:
        tracer.process.send_signal(lab.signal.SIGUSR1)
    line = tracer.process.stdout.readline()
    return json.loads(line) if line else None


def wait_for_words(mode, memory, words):
    """
    Reports of a watch until memory and sites have these words; returns the last one. On a busy machine, memory is looked at too seldom, and a
    watch may be sure before what grows is known to: then it begins anew.
    """
    end = time.monotonic() + lab.PATIENCE
    tracer = begin(mode, "-j")
    report = report_of(tracer)
    while not report or (report["watch"]["memory"] or {}).get("word") != memory or not words(words_of(report)):
        assert time.monotonic() < end, report and (report["watch"], words_of(report))
        if report:
            time.sleep(0.5)
        else:
            tracer = begin(mode, "-j")
        report = report_of(tracer)
    tracer.stop()
    return report


def check_course(report):
    """Of each moment all figures, and they fit together: nothing was allocated before."""
    moments = report["watch"]["memory"]["moments"]
    # A heap is walked after RSS is read and before the next moment, and it may grow at once in between.
    for moment, later in zip(moments, moments[1:] + moments[-1:]):
        resident = max(moment["rss_bytes"], later["rss_bytes"])
        assert moment["malloc_live_bytes"] + moment["malloc_free_bytes"] <= resident + MIB, (moment, later)
    # Blocks are rounded up, by half at most of those that the program has; the figures are of two instants, so it must have begun before.
    for moment in moments[len(moments) // 2:]:
        assert abs(moment["malloc_live_bytes"] - moment["tracked_bytes"]) < moment["tracked_bytes"] / 2 + MIB / 8, moment
    return moments


def check_stays():
    report = wait_for_words("stays", "fragmented", lambda words: words.get("site_page") not in GROWS | {None, "unknown"})
    last = check_course(report)[-1]
    kept, freed = PAGES * BLOCK, PAGES * (PAGE - BLOCK)
    assert kept * 0.9 <= last["malloc_live_bytes"] < kept * 1.1 and freed * 0.95 < last["malloc_free_bytes"] < freed * 1.1, last
    assert last["rss_bytes"] >= kept + freed, last
    assert "leak" not in words_of(report).values() and report["verdict"]["word"] not in GROWS, report["verdict"]


def check_grows(mode):
    leaks = mode == "both"
    report = wait_for_words(mode, "fragmenting", lambda words: words.get("site_entry") not in {None, "unknown"} and
                            (words.get("site_leak") == "leak" or not leaks))
    moments, memory, words = check_course(report), report["watch"]["memory"], words_of(report)
    assert memory["malloc_free_growth_bytes_per_s"]["low"] > 0 and memory["rss_growth_bytes_per_s"]["low"] > 0, memory
    gained = {key: moments[-1][key] - moments[len(moments) // 2][key] for key in ("malloc_free_bytes", "malloc_live_bytes")}
    assert gained["malloc_live_bytes"] < gained["malloc_free_bytes"] / 4, gained
    assert words["site_entry"] not in GROWS and words["site_apart"] not in GROWS, words
    if leaks:
        assert report["verdict"]["word"] == "leak" and [name for name in words if words[name] == "leak"] == ["site_leak"], words
    else:
        assert "leak" not in words_of(report).values() and report["verdict"]["word"] not in GROWS, report["verdict"]


def check_text():
    tracer = begin("grows")
    end, lines = time.monotonic() + lab.PATIENCE, []
    while not any(line.startswith("fragmentation: ") and " free in malloc, growing by " in line for line in lines):
        assert time.monotonic() < end, lines
        time.sleep(0.5)
        if tracer.process.poll() is None:
            tracer.process.send_signal(lab.signal.SIGUSR1)
        lines = [tracer.process.stdout.readline().decode()]
        while lines[-1] and not lines[-1].startswith(("sure", "not sure yet")):
            lines.append(tracer.process.stdout.readline().decode())
        if not lines[-1]:
            tracer = begin("grows")
    assert not any(line.startswith(("LEAK", "GROWING", "FILLING")) for line in lines), lines
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("at  ")):]
    assert table[0].split() == ["at", "RSS", "malloc's", "in", "use", "free", "traced", "in", "use"], table
    assert not any(line.endswith("...\n") or len(line) > 81 for line in lines), lines


def test_fragmentation():
    """Side by side, since each takes a while until it is known."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        checks = [pool.submit(check_stays), pool.submit(check_grows, "grows"), pool.submit(check_grows, "both"),
                  pool.submit(check_text)]
        for check in checks:
            check.result()


lab.run_tests()
