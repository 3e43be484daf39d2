#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page and the flame graph: their figures are the target's own and the JSON's, and in a browser everything can be used by mouse
and by keyboard, without an error, and without a request to anybody."""
import contextlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

import browser
import lab

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "render"))
import check_svg  # pylint: disable=wrong-import-position
import schema2  # pylint: disable=wrong-import-position

MANY = 50000
HOSTILE = "<img src=x onerror=window.pwned=1></script><script>window.pwned=2</script>"


def folder():
    return tempfile.TemporaryDirectory(prefix="tracer-html-")


def moments_of(path):
    """The moments of a recording, in milliseconds since its start."""
    try:
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % path, uri=True)) as database:
            return [at for at, in database.execute("SELECT (time_ns - start_ns) / 1000000 FROM interval ORDER BY id")]
    except sqlite3.OperationalError:  # there are no tables yet
        return []


def recorded(path):
    """Record until there are some moments, however long that takes; returns them."""
    process = lab.start([lab.target("leaky")], stdout=subprocess.DEVNULL)
    lab.wait_for(lambda: lab.is_waiting(process), "it rests between two requests")
    tracer = lab.Tracer("record", "-q", "-o", path, "-p", process.pid, "100ms")
    lab.wait_for(lambda: len(moments_of(path)) > 20, "moments are recorded")
    tracer.stop()
    assert tracer.process.returncode == 0, tracer.stderr()
    lab.end(process)
    return moments_of(path)


def page_of_leaky(path):
    process = lab.start([lab.target("leaky")], stdout=subprocess.DEVNULL)
    status, _, errors = lab.run("-q", "-p", process.pid, "-d", "6s", "--format", "html", "-o", path)
    assert status == 0, errors
    lab.end(process)
    return browser.embedded(path)


def test_figures_of_target():
    """By the target's own account."""
    with folder() as top:
        page = os.path.join(top, "page.html")
        process = lab.start([lab.target("known"), "calls", "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        tracer = lab.Tracer("-q", "--format", "html", "-o", page, "-s", "alloc", "-p", process.pid)
        account = lab.work(process)
        tracer.stop()
        process.stdin.close()
        lab.check_account(account, schema2.expand(browser.embedded(page)))


def test_figures_of_recording():
    """A recording gives the same each time: the JSON in the page is that of JSON, and the last moment of its chart is the report's."""
    with folder() as top:
        recording, page, graph = (os.path.join(top, name) for name in ("x.db", "page.html", "graph.svg"))
        moments = recorded(recording)
        for name, path in (("html", page), ("svg", graph)):
            status, _, errors = lab.run("report", recording, "--format", name, "-o", path)
            assert status == 0, errors
        status, text, _ = lab.run("report", recording, "-j", "--schema", "2", "-n", "0")
        report, more = browser.embedded(page), browser.embedded(page, "more")
        assert status == 0 and report == json.loads(text)
        inuse = report["totals"]["inuse_bytes"]
        history = more["history"]
        assert len(history["times_s"]) > 10 and history["bytes"][-1] == inuse, history
        last = {site: changes[-1][1] for site, changes in history["sites"]}
        assert last == {index: site["inuse_bytes"] for index, site in enumerate(report["sites"])}, last
        # An earlier moment ends the chart, too.
        status, text, _ = lab.run("report", recording, "--at", "%dms" % moments[len(moments) // 2], "--format", "html", "-o", "-")
        earlier = json.loads(re.search(r'id="more">(.*?)</script>', text, re.S).group(1))["history"]
        assert 0 < len(earlier["times_s"]) < len(history["times_s"])
        assert earlier["bytes"] == history["bytes"][:len(earlier["bytes"])]
        with open(graph, encoding="utf-8") as file:
            lowest = check_svg.check(file.read())
        assert sum(count for _, _, count in lowest) == inuse, (lowest, inuse)


def check_quiet(page, path):
    """Nothing was complained of, and nobody was asked for anything."""
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith(("chrome:", "data:"))] == ["file://" + path]
    assert page.run("return performance.getEntriesByType('resource').length") == 0


def find(page, name):
    """Search for a frame by keyboard; its label."""
    page.keys("/")
    page.run("document.activeElement.value = ''")
    page.keys(name, "Enter")
    return page.run("return document.activeElement.getAttribute('aria-label')")


def check_mouse(page):
    assert find(page, "request_read").startswith("request_read: ")
    place = page.middle(".item")
    page.run("document.activeElement.blur()")
    page.move(*place)
    lab.wait_for(lambda: "zoomed to request_read" in page.text(".status"), "a click zooms")
    assert "of the frame request_read" in page.text("#main"), page.text("#main")
    page.click("#whole")
    assert "zoomed" not in page.text(".status")
    page.click("#inverted")
    page.run("document.querySelector('.item').focus()")
    page.keys("Up")
    assert re.match(r"(calloc|malloc): ", page.run("return document.activeElement.getAttribute('aria-label')"))
    page.click("#inverted")


def check_keyboard(page):
    """Search, zoom, leave; then through the page by Tab to the table, and down in it."""
    assert find(page, "session_remember").startswith("session_remember: ")
    page.keys("Enter")
    assert "zoomed to session_remember" in page.text(".status")
    page.keys("Escape")
    assert "zoomed" not in page.text(".status")
    page.keys("Up", "Up")
    level = page.run("return document.activeElement.getAttribute('aria-level')")
    page.keys("Down")
    assert int(page.run("return document.activeElement.getAttribute('aria-level')")) == int(level) - 1
    style = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid", "the focus cannot be seen: " + style
    page.keys("/", "Escape")
    seen = []
    while page.run("return document.activeElement.className") != "body":
        page.keys("Tab")
        seen.append(page.run("return document.activeElement.outerHTML.slice(0, 80)"))
        assert len(seen) < 40, seen
    before = page.text("#site h2")
    page.keys("Down")
    lab.wait_for(lambda: page.text("#site h2") != before, "another site is shown")
    assert page.run("return document.querySelectorAll('[role=row][aria-selected=true]').length") == 1


def check_table(page, report):
    """Sorted by blocks, both ways, as the JSON has them."""
    wanted = sorted(("{:,}".format(site["inuse_objects"]) for site in report["sites"]), key=lambda text: int(text.replace(",", "")))
    heads = "[...document.querySelectorAll('[role=columnheader]')].find((head) => head.textContent === 'Blocks')"
    for order in ("descending", "ascending"):
        page.run("%s.querySelector('button').click()" % heads)
        assert page.run("return %s.getAttribute('aria-sort')" % heads) == order
        column = page.run("return [...document.querySelectorAll('.grid .body .row')].map((row) => row.children[1].textContent)")
        assert column == (wanted if order == "ascending" else wanted[::-1]), (column, wanted)


def check_theme(page):
    """By the system, and by the switch."""
    colour = "return getComputedStyle(document.body).backgroundColor"
    page.media(dark=False)
    light = page.run(colour)
    page.click("#theme")
    dark = page.run(colour)
    assert dark != light
    page.click("#theme")
    assert page.run(colour) == light
    page.run("delete document.documentElement.dataset.theme")
    page.media(dark=True)
    lab.wait_for(lambda: page.run(colour) == dark, "the system's theme is taken")
    page.media(dark=False)


def test_use():
    with folder() as top:
        path = os.path.join(top, "page.html")
        report = page_of_leaky(path)
        with browser.Browser() as page:
            page.requests()
            page.open(path)
            assert page.run("return document.querySelectorAll('.chart svg').length") >= 2
            for role in ("tree", "treeitem", "grid", "row", "columnheader", "status"):
                assert page.run("return document.querySelectorAll('[role=%s]').length" % role), role
            check_mouse(page)
            check_keyboard(page)
            check_table(page, report)
            check_theme(page)
            check_quiet(page, path)


def test_budget():
    """Estimates have their marks and limits, and what no site is charged with is an entry of its own: by the figures of the JSON in the page."""
    with folder() as top:
        path = os.path.join(top, "page.html")
        drip = lab.start([lab.target("drip"), "leak"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        tracer = lab.Tracer("-v", "--budget=30", "--format", "html", "-o", path, "-p", drip.pid)
        # On a busy machine, the program may do nothing in a window.
        lab.wait_for(lambda: len(re.findall(r"window \d+: .*; [1-9]\d* blocks, ", tracer.stderr())) >= 4, "windows have recorded blocks",
                     4 * lab.PATIENCE)
        lab.end(drip)
        tracer.finish()
        budget = browser.embedded(path)["budget"]
        with browser.Browser() as page:
            page.open(path)
            text = page.text("#main")
            assert "of this, cannot be attributed to a site" in text and "of this, alive but written to" in text, text
            assert "%.2f %% of CPU time, of 30 %%" % budget["spent_percent"] in text, text
            assert "~" in page.run("return document.querySelector('.fact').textContent"), (text, tracer.stderr())
            for cell in ("In use", "Blocks", "Per second"):
                assert cell in text, text
            assert page.complaints() == []


def test_other_pages():
    """Of a recording, of a difference, of memory."""
    with folder() as top:
        recording, process = os.path.join(top, "x.db"), lab.start([lab.target("leaky")], stdout=subprocess.DEVNULL)
        moments = recorded(recording)
        first, second = (recording + "@%dms" % moments[len(moments) * part // 3] for part in (1, 2))
        commands = {"report": ["report", recording], "diff": ["diff", first, second],
                    "memory": ["memory", *lab.PATIENT, "-p", process.pid]}
        with browser.Browser() as page:
            for name, command in commands.items():
                path = os.path.join(top, name + ".html")
                status, _, errors = lab.run(*command, "--format", "html", "-o", path)
                assert status == 0, errors
                page.requests()
                page.open(path)
                check_quiet(page, path)
                if name == "diff":
                    check_places(page, command)
            assert "Anatomy" in page.text("#main") and "leaky" in page.text("#title")


def check_places(page, command):
    """Rows of a difference are at the lines that its text has, and not at the innermost ones."""
    _, text, _ = lab.run(*command, "-n", "0")
    places = set(re.findall(r"^ *\d+ .* \S*/(leaky\.c:\d+) ", text, re.M))
    assert places, text
    cells = page.run("return [...document.querySelectorAll('.grid .body .row')].map((row) => row.children[4].textContent)")
    assert {cell.split()[-1] for cell in cells} == places, (cells, text)


def many(report):
    """A report of so many sites, in stacks of 20 frames out of 5,000 functions, with hostile names among them. The same each time."""
    pick = random.Random(7)
    strings, modules, frames, stacks, positions = ["native", "heap", "glibc", "malloc"], [], [], [], {}

    def text(name):
        strings.append(name)
        return len(strings) - 1

    for module in range(40):
        modules.append([text("/usr/lib/libpart%d.so" % module), None])
    for function in range(5000):
        name = "%snamespace_%d::Class_%d<int>::method_%d" % (HOSTILE if function % 50 == 0 else "", function % 7, function % 97, function)
        frames.append([0, text(name), function % 40, 16 * function, text("/src/part%d.cc" % (function % 300)), 1 + function % 900, 0])

    def stack(path):
        at = None
        for frame in path:
            key = at, frame
            if key not in positions:
                stacks.append([at, frame])
                positions[key] = len(stacks) - 1
            at = positions[key]
        return at

    sites = []
    few = {key: value for key, value in report["sites"][0].items() if key not in ("lifespan", "verdict")}
    for rank in range(MANY):
        depth = [pick.randrange(3 + 4 * level if level < 9 else 5000) for level in range(20)]
        size = int(1e9 / (rank + 1)) + 16
        # Most sites of so many have few blocks: every twentieth has the curve of a busy one.
        shape = report["sites"][0] if rank % 20 == 0 else few
        sites.append({**shape, "rank": rank + 1, "id": "%016x" % rank, "call": 0, "inuse_bytes": size, "inuse_objects": rank + 1,
                      "alloc_bytes": size, "alloc_objects": rank + 1, "free_bytes": 0, "free_objects": 0, "stack": stack(depth)})
    return {**report, "sites": sites, "strings": strings, "modules": modules, "calls": [[1, 2, 3]], "frames": frames, "stacks": stacks}


ZOOM = """
const done = arguments[arguments.length - 1], begin = performance.now();
const canvas = document.querySelector('canvas'), box = canvas.getBoundingClientRect();
canvas.dispatchEvent(new MouseEvent('click', {clientX: box.x + box.width * arguments[0], clientY: box.bottom - arguments[1], bubbles: true}));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
"""


def test_many_sites():
    """50,000 of them. Times are figures; what is asserted is that only what can be seen is there, and that names are no HTML."""
    with folder() as top:
        path = os.path.join(top, "page.html")
        report = page_of_leaky(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        data = json.dumps(many(report), separators=(",", ":"))
        for letter in "<>&":
            data = data.replace(letter, "\\u%04x" % ord(letter))
        before, rest = text.split('id="report">', 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + 'id="report">' + data + rest[rest.index("</script>"):])
        with browser.Browser() as page:
            page.requests()
            begin = time.monotonic()
            page.open(path)
            opened = time.monotonic() - begin
            drawn = page.run("return document.documentElement.dataset.drawn")
            assert "50,000 sites" in page.text("#main")
            assert 0 < page.run("return document.querySelectorAll('.grid .body .row').length") < 60
            assert page.run("return document.querySelectorAll('*').length") < 1500
            zooms = [page.ask("POST", "/execute/async", {"script": ZOOM, "args": [share, 50]}) for share in (0.2, 0.5)]
            page.keys("Escape")
            begin = time.monotonic()
            find(page, "method_4950")
            found = time.monotonic() - begin
            assert "found: " in page.text(".status")
            assert page.run("return window.pwned === undefined && document.images.length === 0 && !window.alerted")
            check_quiet(page, path)
            print("# %d sites, %.1f MB: drawn %s ms after the script began, %.1f s after the page was asked for; zooms take %s ms; "
                  "a search by keyboard %.1f s" % (MANY, os.path.getsize(path) / 1e6, drawn, opened,
                                                   " and ".join("%.0f" % zoom for zoom in zooms), found))


def test_lost():
    """A page of lost blocks calls them so, and is about nothing else."""
    process = lab.start([lab.target("leak_cases")])
    process.stdout.readline()
    lab.wait_for(lambda: lab.is_waiting(process), "it waits")
    with folder() as top, browser.Browser() as page:
        path = os.path.join(top, "page.html")
        status, _, errors = lab.run("leaks", *lab.PATIENT, "-q", "-p", process.pid, "--format", "html", "-o", path)
        assert status == 1, errors
        page.requests()
        page.open(path)
        assert page.text("h1").startswith("Lost blocks of leak_cases"), page.text("h1")
        assert page.text(".facts").lower().startswith("lost"), page.text(".facts")
        assert "in use" not in page.text("#main").lower(), page.text("#main")
        check_quiet(page, path)


def test_refused():
    """A file holds one page, and what has no such format says what has."""
    for words, reason in ((["-p", "1", "--format", "html", "2"], "a file holds one report"),
                          (["memory", "-p", "1", "--format", "html", "2"], "a file holds one report"),
                          (["memory", "-p", "1", "--format", "svg"], "text, json and html"),
                          (["diff", "a", "b", "--format", "svg"], "no differences")):
        status, _, errors = lab.run(*words)
        assert status == 2 and reason in errors, (words, status, errors)


lab.run_tests()
