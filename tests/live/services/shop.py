# SPDX-License-Identifier: GPL-2.0-or-later
"""A service with a leak, or what looks like one, at each route. The comment at a line's end names it for test_services.py."""
import gc
import os
import random
import socket
import sys
import threading

import flask
import jinja2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "venv/lib/python3.11/site-packages"))
import quickparse  # pylint: disable=wrong-import-position

PAGE = '<ul>{% for item in items %}<li class="item">{{ item }}</li>{% endfor %}</ul>' * 20
SOURCE = "\n".join("x%d = [%d, 'text', x, name]" % (number, number) for number in range(200))
ORDERS, SEEN, CALLBACKS, NAMES, CODE, PAGES, CONNECTIONS, RECENT, LAST, TABLES = [], {}, [], {}, [], [], [], {}, [None], []
app = flask.Flask(__name__)


class Node:
    __slots__ = ("next",)

    def __init__(self, following):
        self.next = following


@app.route("/ping")
def ping():
    return str(os.getpid())


@app.route("/native")
def native():
    quickparse.keep(20_000)  # native
    return "done"


@app.route("/array")
def array():
    ORDERS.append("x" * 20_000)  # array
    return "done"


@app.route("/hash")
def seen():
    SEEN[("user %d" % len(SEEN)) * 2_000] = True  # hash
    return "done"


@app.route("/closure")
def closure():
    CALLBACKS.append((lambda text: lambda: text)("x" * 20_000))  # closure
    return "done"


@app.route("/symbols")
def symbols():
    for _ in range(100): NAMES[sys.intern("name" * 200 + str(len(NAMES)))] = True  # symbols
    return "done"


@app.route("/code")
def code():
    CODE.append(compile("x = 1\n" + SOURCE, "generated", "exec"))  # code
    return "done"


@app.route("/template")
def template():
    PAGES.append(jinja2.Template(PAGE))  # template
    return "done"


@app.route("/slots")
def slots():
    for _ in range(1_000): LAST[0] = Node(LAST[0])  # slots
    return "done"


@app.route("/lists")
def lists():
    TABLES.append([[number] for number in range(1_000)])  # lists
    return "done"


@app.route("/threads")
def threads():
    threading.Thread(target=threading.Event().wait, daemon=True).start()  # threads
    return "done"


@app.route("/connections")
def connections():
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(os.environ["SHOP_PEER"])
    CONNECTIONS.append(peer.makefile("rb"))  # connections
    CONNECTIONS[-1].readline()
    return "done"


@app.route("/recent")
def recent():
    RECENT[random.random()] = "x" * 20_000; len(RECENT) > 100 and RECENT.pop(next(iter(RECENT)))  # recent
    return "done"


@app.route("/bloat")
def bloat():
    len(["x" * 100_000 for _ in range(100)])  # bloat
    return "done"


@app.route("/churn")
def churn():
    for _ in range(20): "%020000d" % len(PAGE)  # churn
    return "done"


@app.route("/collect")
def collect():
    gc.collect()
    return "done"
