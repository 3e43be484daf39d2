#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer serve --otlp`: figures equal to the target's own account, and receivers that refuse, hang and fail.

The truth of figures is tests/targets/known.c, which counts what it asks for by itself, and /report.json; that of the encoding is protoc, with the
description of the messages: ours, and where it is there the protocol's own (OTLP_PROTO: the top of a copy of opentelemetry-proto, 1.9 or later).
"""
import http.server
import json
import os
import re
import socket
import subprocess
import threading
import urllib.request

import lab

FREE = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PROTO = os.path.join(lab.TOP, "user/render")
OFFICIAL = os.environ.get("OTLP_PROTO", "/usr/include")
SERVICE = "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto"


def share(unbound):
    """Others of this test may have the same port."""
    unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)


class Receiver(http.server.ThreadingHTTPServer):
    """A collector that answers `status`, or hangs with 0, and keeps what it was sent."""

    def __init__(self, port=0, status=200):
        self.status, self.requests, self.released = status, [], threading.Event()
        super().__init__(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def server_bind(self):
        share(self.socket)
        super().server_bind()

    @property
    def port(self):
        return self.server_address[1]

    def close(self):
        self.released.set()
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.status
        self.server.requests.append((status, self.path, self.headers["Content-Type"], body))
        if not status:
            self.server.released.wait(lab.PATIENCE)
            return
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def known():
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    return process


class Server:
    def __init__(self, *arguments):
        self.tracer = lab.Tracer("serve", "--listen", "127.0.0.1:0", "--otlp-interval", "1s", *arguments)
        self.url = re.search(r"listening at (\S+)", self.tracer.stderr()).group(1)

    def page(self, path):
        with FREE.open(self.url + path, timeout=lab.PATIENCE) as answer:
            return answer.read().decode("utf-8")

    def pushes(self, result):
        return int(re.search(r'tracer_otlp_pushes_total\{result="%s"\} (\d+)' % result, self.page("metrics")).group(1))

    def wait_for_pushes(self, result, more=1):
        before = self.pushes(result)
        lab.wait_for(lambda: self.pushes(result) >= before + more, "pushes are " + result)

    def says(self, text):
        return self.tracer.stderr().count(text)

    def end(self):
        output = self.tracer.stop()
        assert self.tracer.process.returncode == 0 and not output, (output, self.tracer.stderr())


def decode(body, folder=PROTO, message="otlp.Request", file="otlp.proto"):
    """The text of protoc as nested lists of (name, value)."""
    text = subprocess.run(["protoc", "--proto_path", folder, "--decode", message, file], input=body,
                          stdout=subprocess.PIPE, check=True).stdout.decode("ascii")
    # A field that is not described has a number instead of a name.
    assert not re.search(r"^\s*\d+[: ]", text, re.MULTILINE), text
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            stack[-1].append((line[:-2], []))
            stack.append(stack[-1][-1][1])
        else:
            name, _, value = line.partition(": ")
            stack[-1].append((name, json.loads(value) if not value.startswith('"') else value[1:-1]))
    return stack[0]


def every(message, name):
    return [value for key, value in message if key == name]


def one(message, name, otherwise=0):
    return (every(message, name) or [otherwise])[0]


def resources(request):
    """[(attributes, {type: [(value, attributes, functions)]})]"""
    dictionary = one(request, "dictionary")
    texts = every(dictionary, "string_table")
    tables = {name: every(dictionary, name + "_table") for name in ("location", "function", "attribute", "stack", "mapping", "link")}
    assert texts[0] == "" and not any(table[0] for table in tables.values()), "the first elements are empty"

    def attributes(indices):
        return {texts[one(tables["attribute"][i], "key_strindex")]: one(tables["attribute"][i], "value")[0][1] for i in indices}

    def functions(stack):
        for location in every(tables["stack"][stack], "location_indices"):
            assert one(tables["location"][location], "mapping_index") < len(tables["mapping"])
            for line in every(tables["location"][location], "lines"):
                yield texts[one(tables["function"][one(line, "function_index")], "name_strindex")]

    found = []
    for resource in every(request, "resource_profiles"):
        profiles = {}
        for profile in every(one(resource, "scope_profiles"), "profiles"):
            kind = texts[one(one(profile, "sample_type"), "type_strindex")]
            profiles[kind] = [(one(sample, "values"), attributes(every(sample, "attribute_indices")),
                               list(functions(one(sample, "stack_index")))) for sample in every(profile, "samples")]
        pairs = every(one(resource, "resource"), "attributes")
        found.append(({one(pair, "key"): one(pair, "value")[0][1] for pair in pairs}, profiles))
    return found


def inuse(report):
    return [(report["totals"]["inuse_" + unit]) for unit in ("bytes", "objects")]


def pushed(receiver):
    """Sums of bytes and blocks of the last request."""
    found = resources(decode(receiver.requests[-1][3]))
    return [sum(value for _, profiles in found for value, _, _ in profiles["inuse_" + unit]) for unit in ("space", "objects")]


def test_figures():
    """Sums and sites are those of the report, which has the target's account."""
    lab.need("protoc")
    process, receiver = known(), Receiver()
    server = Server("-n", "0", "--otlp", "http://localhost:%d/" % receiver.port, "-p", process.pid)
    try:
        account = lab.work(process)
        lab.wait_for(lambda: receiver.requests and pushed(receiver) == inuse(json.loads(server.page("report.json"))) != [0, 0]
                     and pushed(receiver)[0] >= sum(figures[0] - figures[2] for figures in account.values()), "the account is pushed")
        _, path, kind, body = receiver.requests[-1]
        assert (path, kind) == ("/v1development/profiles", "application/x-protobuf"), (path, kind)
        (attributes, profiles), = resources(decode(body))
        assert attributes == {"service.name": "known", "host.name": socket.gethostname(), "process.executable.name": "known",
                              "process.pid": process.pid}, attributes
        for name, figures in account.items():
            for kind, value in (("inuse_space", figures[0] - figures[2]), ("inuse_objects", figures[1] - figures[3])):
                own = sum(sample[0] for sample in profiles[kind] if name in sample[2])
                assert own == value, (name, kind, own, value)
        assert {sample[1]["tracer.allocator"] for sample in profiles["inuse_space"]} == {"glibc"}, profiles
        # The request is there before its answer is.
        lab.wait_for(lambda: server.pushes("accepted"), "the tracer has the answer")
        assert server.says("profiles are pushed to") == 1, server.tracer.stderr()
        server.end()
    finally:
        receiver.close()


def need_official():
    """Skip a test where the protocol's own description is not, or is of a release with other numbers."""
    lab.need("protoc")
    try:
        with open(os.path.join(OFFICIAL, SERVICE), encoding="utf-8"), \
             open(os.path.join(OFFICIAL, "opentelemetry/proto/profiles/v1development/profiles.proto"), encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError as error:
        raise lab.Skip("the protocol's own description is not in %s (OTLP_PROTO)" % OFFICIAL) from error
    if not re.search(r"repeated int64 values = 4;", text):
        raise lab.Skip("the protocol's own description in %s is older than release 1.9" % OFFICIAL)


def test_official():
    """By the protocol's own description, every field is known, and the figures are those of the report."""
    need_official()
    process, receiver = known(), Receiver()
    server = Server("-n", "0", "--otlp", "http://localhost:%d/" % receiver.port, "-p", process.pid)
    try:
        lab.work(process)
        lab.wait_for(lambda: receiver.requests and pushed(receiver) == inuse(json.loads(server.page("report.json"))) != [0, 0],
                     "what the report has is pushed")
        body = receiver.requests[-1][3]
        found = resources(decode(body, OFFICIAL, SERVICE.rpartition("/")[0].replace("/", ".") + ".ExportProfilesServiceRequest", SERVICE))
        assert found == resources(decode(body)) and len(found[0][1]["inuse_space"]) > 2, found
        sums = [sum(sample[0] for sample in found[0][1]["inuse_" + unit]) for unit in ("space", "objects")]
        assert sums == inuse(json.loads(server.page("report.json"))), sums
        server.end()
    finally:
        receiver.close()


def test_failures():
    """Each is reported once, counted, and holds nothing up."""
    process, receiver, keeper = known(), Receiver(status=500), socket.socket()
    port = receiver.port
    # While nobody listens there, nobody else gets the port.
    share(keeper)
    keeper.bind(("127.0.0.1", port))
    server = Server("--otlp", "http://127.0.0.1:%d" % port, "-p", process.pid)
    try:
        server.wait_for_pushes("failed", 2)
        receiver.close()
        lab.wait_for(lambda: server.says("nobody listens there"), "a refusal is reported")
        server.wait_for_pushes("failed", 2)
        receiver = Receiver(port, status=0)
        lab.wait_for(lambda: receiver.requests, "a receiver hangs")
        server.wait_for_pushes("skipped")
        assert server.page("healthz") == "ok\n"
        receiver.status = 200
        receiver.released.set()
        server.wait_for_pushes("accepted")
        for text in ("answers 500", "nobody listens there", "profiles are pushed to"):
            assert server.says(text) == 1, (text, server.tracer.stderr())
        server.end()
    finally:
        receiver.close()
        keeper.close()


def test_refused():
    process = known()
    for url, words in (("https://127.0.0.1:4318", "collector or agent on this host"), ("127.0.0.1:4318", "no URL to push to")):
        status, _, errors = lab.run("serve", "--listen", "127.0.0.1:0", "--otlp", url, "-p", process.pid)
        assert status == 2 and words in errors, errors
    status, _, errors = lab.run("serve", "--listen", "127.0.0.1:0", "--otlp", "http://no-such-host.invalid", "-p", process.pid)
    assert status == 2 and "its address is not found" in errors, errors


def test_privileges():
    """The process that pushes has no capability, is nobody, and ends with the tracer."""
    process, receiver = known(), Receiver()
    server = Server("--otlp", "http://127.0.0.1:%d" % receiver.port, "-p", process.pid)
    try:
        pids = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(server.tracer.process.pid)], stdout=subprocess.PIPE,
                              check=True).stdout.decode().split("\n")
        pid, = [int(line.split()[0]) for line in pids if "tracer-push" in line]
        with open("/proc/%d/status" % pid, encoding="ascii") as file:
            status = dict(re.findall(r"^(\w+):\t(.*)$", file.read(), re.MULTILINE))
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0, status
        assert "0" not in status["Uid"].split() and status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", status
        server.end()
        lab.wait_for(lambda: not os.path.exists("/proc/%d" % pid), "it ends with the tracer")
    finally:
        receiver.close()


lab.run_tests()
