#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader of `tracer memory` finds first about services with a leak, or what looks like one, at each route. Truth: the
services' sources, and what they count themselves."""
import json
import os
import re
import signal
import sys
import tempfile

import lab
import services

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "render"))
import check_memory  # pylint: disable=wrong-import-position

# Requests, and a sentence about growth: what a route keeps is objects of a class, blocks of malloc, or threads.
RUBY = {"slots": (200, r"200,000 more objects of Node \(ruby\) hold"), "native": (200, r"Live blocks of malloc \(glibc\) have grown"),
        "threads": (70, r"70 more threads are running")}
PYTHON = {"lists": (200, r"200,[12]\d\d more objects of list \(python\) hold"),
          "native": (200, r"Live blocks of malloc \(glibc\) have grown"), "threads": (70, r"70 more threads are running")}


def growth_of(service, routes):
    """The second of two looks, whatever the process had before the first one."""
    for route in routes:
        service.request(route, 3)
    service.request("collect")
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-j", "--objects", "-p", service.pid, "1h"])
    assert json.loads(tracer.stdout.readline())["since_s"] is None
    for route, (times, _) in routes.items():
        service.request(route, times)
    service.request("collect")
    tracer.send_signal(signal.SIGINT)
    report = json.loads(tracer.stdout.readline())
    check_memory.check_report(report)
    assert tracer.wait(timeout=lab.PATIENCE) == 0
    return report


def first_lines(pid, *options):
    """The sentences of a report in text, each a line, in which its lines are joined."""
    status, output, errors = lab.run("memory", *lab.PATIENT, "-p", pid, *options)
    assert status == 0 and not errors, errors
    assert max(map(len, output.splitlines())) <= 80, output
    return output.split("\n\n")[1].replace("\n  ", " ")


def look(start, routes):
    """Sentences about growth come first, and each of the routes has one. Then what one look has: of blocks, and of objects."""
    with tempfile.TemporaryDirectory(prefix="tracer-services-") as folder:
        service = start(folder)
        try:
            report = growth_of(service, routes)
            blocks, objects = first_lines(service.pid), first_lines(service.pid, "--objects")
        finally:
            service.end()
    grown = [row["text"] for row in report["verdict"] if row["cause"] == "growth"]
    assert [row["text"] for row in report["verdict"]][:len(grown)] == grown, report["verdict"]
    for route, (_, pattern) in routes.items():
        assert any(re.search(pattern, text) for text in grown), (route, report["verdict"])
    assert re.search(r"^threads: \d+ threads are running .* 'tracer memory -p %d 10 6' shows that\.$" % service.pid, blocks, re.M), blocks
    assert "'tracer memory -p %d --objects' has their classes" % service.pid in blocks, blocks
    return objects


def test_ruby():
    """A list whose objects hold each other is one step of the way to it."""
    objects = look(services.ruby, RUBY)
    assert re.search(r"^objects: 203,000 objects of Node \(ruby\) hold [\d.]+ MiB of [\d.]+ MiB RSS\. Held by member 0 of Node <- "
                     r"\d+ more objects of Node <- variable @@last of Shop( \(\d+ of 24\))?\.$", objects, re.M), objects


def test_python():
    objects = look(services.python, PYTHON)
    assert re.search(r"^objects: 20\d,\d{3} objects of list \(python\) hold .* Held by \[\d+\] of list of 1000 <- \[\d+\] of list of 203 "
                     r"<- global \['TABLES'\] of module shop\.$", objects, re.M), objects


def ask(process, route, count):
    process.stdin.write(b"%s %d\n" % (route.encode(), count))
    process.stdin.flush()
    return int(process.stdout.readline())


def change(process, route, count):
    """What the route has kept, and the first lines of a second look, before and after its requests."""
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-p", process.pid, "1h"])
    while b"Looked for " not in tracer.stdout.readline():
        pass
    kept = ask(process, route, count)
    tracer.send_signal(signal.SIGINT)
    return kept, tracer.communicate(timeout=lab.PATIENCE)[0].decode().strip().split("\n\n")[1].replace("\n  ", " ")


def mebibytes(pattern, text):
    found = re.search(pattern, text, re.M)
    assert found, (pattern, text)
    return float(found[1]) * (1 << 20)


def test_cplusplus():
    process = lab.start([lab.target("shop")])
    assert process.stdout.readline() == b"ready\n"
    # A cache that is full, and all of which is new: what holds it is named, and it has not grown.
    ask(process, "cache", 10_000)
    kept, text = change(process, "cache", 12_000)
    found = mebibytes(r"\Aheap: .* Most of it, ([\d.]+) MiB, is text, held by \[tree node [^.]* static recent", text)
    assert "growth:" not in text and kept <= found <= 1.1 * kept, (kept, text)
    # What has leaked before anybody looked: its kind, and the place that holds it.
    kept = ask(process, "map", 20_000)
    found = mebibytes(r"\Aheap: .* Most of it, ([\d.]+) MiB, is nodes of a tree, held by static by_number.* A leak, if it grows: ",
                      first_lines(process.pid))
    assert kept <= found <= 1.1 * kept, (kept, found)
    # What is free since a peak. The rest of what malloc has free is not in memory.
    free = ask(process, "burst", 1)
    text = first_lines(process.pid)
    found = mebibytes(r"\Afragmentation: ([\d.]+) MiB of [\d.]+ MiB RSS is free memory inside malloc \(glibc\), in \d+ arenas ", text)
    assert 0.9 * free <= found <= free and "MALLOC_ARENA_MAX=2" in text and "another allocator" in text, (free, text)
    assert mebibytes(r"malloc_trim\(0\) would return ([\d.]+) MiB now", text) > 0.9 * found, text
    kept, text = change(process, "string", 5_000)
    found = mebibytes(r"\Agrowth: Live blocks of malloc \(glibc\) have grown by .*, ([\d.]+) MiB of it text, held by array < static notes", text)
    assert abs(found - kept) < 0.1 * kept, (kept, text)


lab.run_tests()
