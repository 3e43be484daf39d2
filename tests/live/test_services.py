#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader finds first: services with a leak at each route, traced with default options. Truth: the services' sources."""
import re
import tempfile

import lab
import services

# Requests; so many that what a route keeps is more than what its service leaves to the next garbage collection.
REQUESTS = {"template": 30, "code": 60, "threads": 60, "bloat": 20}
# What only looks like a leak is in use until the garbage collector runs; the others keep what they have through it.
GARBAGE = {"bloat", "churn"}


def first_row(text):
    """The lines of the row of rank 1, and of all that is shown of it below."""
    return re.split(r"^ +2 +[\d+-]", re.split(r"^ +1 +[\d+-]", text, maxsplit=1, flags=re.M)[-1], flags=re.M)[0]


def report_of(service, route):
    service.request(route, 3)  # what is loaded by the first request is not the route's
    tracer = lab.Tracer("-p", service.pid, "3600")
    service.request(route, REQUESTS.get(route, 200))
    if route not in GARBAGE:
        service.request("collect")
    return tracer.stop()


def look(start, *routes):
    """Each of the routes is the first row."""
    with tempfile.TemporaryDirectory(prefix="tracer-services-") as folder:
        service = start(folder)
        try:
            reports = {route: report_of(service, route) for route in routes}
        finally:
            service.end()
    wrong = [route for route in routes if service.line(route) not in first_row(reports[route])]
    assert not wrong, "\n".join("%s, %s:\n%s" % (route, service.line(route), reports[route]) for route in wrong)
    return reports


def test_ruby():
    look(services.ruby, "native", "fiddle", "array", "hash", "closure", "symbols", "code", "template", "threads", "connections",
         "recent", "bloat", "churn")


def test_python():
    look(services.python, "native", "array", "hash", "closure", "symbols", "code", "template", "threads", "connections",
         "recent")


lab.run_tests()
