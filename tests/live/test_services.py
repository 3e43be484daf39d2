#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader finds first: services with a leak at each route, traced with default options. Truth: the services' sources."""
import os
import re
import tempfile

import lab
import services

# Requests; so many that what a route keeps is more than what its service leaves to the next garbage collection.
REQUESTS = {"template": 30, "code": 60, "threads": 60, "bloat": 20}
# What only looks like a leak is in use until the garbage collector runs; the others keep what they have through it.
GARBAGE = {"bloat", "churn"}


def first_row(text):
    """The row of rank 1."""
    found = re.search(r"^ *1 +\d.*$", text, re.M)
    return found.group() if found else ""


def report_of(service, route):
    service.request(route, 3)  # what is loaded by the first request is not the route's
    tracer = lab.Tracer("-p", service.pid, "3600")
    service.request(route, REQUESTS.get(route, 200))
    if route not in GARBAGE:
        service.request("collect")
    if route == "slots":
        # A look at what memory is for ends when its time has passed, and that of the next report goes on.
        lab.wait_for(lambda: service.slots in tracer.text_now(), "the report has " + service.slots)
    text = tracer.stop()
    assert tracer.process.returncode == 0, (tracer.process.returncode, tracer.stderr())
    return text


def look(start, *routes):
    """Each of the routes is the first row."""
    with tempfile.TemporaryDirectory(prefix="tracer-services-") as folder:
        service = start(folder)
        try:
            reports = {route: report_of(service, route) for route in routes}
        finally:
            service.end()
    # Plain objects: which lines make them cannot be known from the heap's pages, and none is named.
    culprits = {route: service.slots if route == "slots" else service.line(route) for route in routes}
    wrong = [route for route in routes if culprits[route] not in first_row(reports[route])]
    assert not wrong, "\n".join("%s, %s:\n%s" % (route, culprits[route], reports[route]) for route in wrong)


def test_ruby():
    look(services.ruby, "native", "fiddle", "array", "hash", "closure", "symbols", "code", "template", "slots", "threads",
         "connections", "recent", "bloat", "churn")


def test_python():
    look(services.python, "native", "array", "hash", "closure", "symbols", "code", "template", "slots", "threads", "connections",
         "recent")


def test_python_holds_nothing():
    """What is made and dropped at once is in no row: the greatest is what a request has left, and the process shows what it has."""
    with tempfile.TemporaryDirectory(prefix="tracer-services-") as folder:
        service = services.python(folder)
        try:
            reports = [report_of(service, route) for route in ("bloat", "churn")]
        finally:
            service.end()
    for text in reports:
        assert re.search(r"^ *1 +[\d.]+ (K?i)?B  ", text, re.M) and re.search(r"^RSS [\d.]+ MiB, \d+ threads$", text, re.M), text


def rss_of(pid):
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", file.read(), re.M).group(1)) / 1024


def check_bloat(start):
    """What a burst has left is no line's: the report has it as free. The truth is what the kernel has counted for it, all of which was dropped."""
    with tempfile.TemporaryDirectory(prefix="tracer-services-") as folder:
        service = start(folder)
        try:
            service.request("ping", 3)
            before = rss_of(service.pid)
            tracer = lab.Tracer("-p", service.pid, "3600")
            for _ in range(20):
                service.request("bloat")
                service.request("native")  # small blocks that stay, so that malloc cannot give back all that is below them
            service.request("collect", 2)
            left = rss_of(service.pid) - before
            text = tracer.stop()
        finally:
            service.end()
    free = re.search(r"^([\d.]+) MiB of RSS is free in malloc: tracer memory -p %d$" % service.pid, text, re.M)
    assert left > 5 and free and 0.8 * left <= float(free.group(1)) <= before + left, (before, left, text)
    # No line is to blame; the stack of a thread that answers is not the service's.
    assert not re.search(r"^ *\d+ +[\d.]+ MiB.* %s" % service.name, text, re.M), text


def test_ruby_bloat():
    check_bloat(services.ruby)


def test_python_bloat():
    check_bloat(services.python)


# What each route of the service in C++ keeps things in, as the report names it.
CONTAINERS = {"vector": "a std::vector", "string": "a std::string", "map": "a std::map", "hash": "a std::unordered_map",
              "shared": None, "malloc": None}


def test_cplusplus():
    """Threads handle the requests. The first row is the line, in text; the service has the bytes, by its containers' sizes."""
    with open(os.path.join(lab.TOP, "tests/targets/shop.cc"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    for route, container in CONTAINERS.items():
        process = lab.start([lab.target("shop")])
        assert process.stdout.readline() == b"ready\n"
        text, json_ = lab.Tracer("-p", process.pid, "3600"), lab.Tracer("-q", "-j", "--by", "app-line", "-p", process.pid, "3600")
        process.stdin.write(b"churn 20\n%s 300\n" % route.encode())
        process.stdin.flush()
        kept = [int(process.stdout.readline()) for _ in range(2)][1]
        row = json_.report_now()["sites"][0]
        report = text.stop()
        line = [line.endswith("// " + route) for line in lines].index(True) + 1
        assert "shop.cc:%d" % line in first_row(report), (route, report)
        assert not container or "for " + container in report, (route, report)
        # A node has a few words more than what is kept in it.
        assert kept <= row["inuse_bytes"] <= 1.2 * kept, (route, kept, row)


lab.run_tests()
