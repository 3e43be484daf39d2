#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer serve`: every page, figures equal to the target's own account, Prometheus itself, who may ask, hostile clients.

The truth of figures is tests/targets/known.c, which counts what it asks for by itself; that of formats are promtool and prometheus.
"""
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import lab

TOKEN = "0123456789abcdef-of-a-test"
WORK_SECONDS = 15  # far more than the work of the target takes, also on a busy machine
CONNECTIONS_MAX, CONNECTIONS_SPARE, WAITING_MAX = 64, 16, 4  # of user/serve/http.c
FREE = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy the environment names


class Server:
    """A tracer that serves, and where."""

    def __init__(self, *arguments, listen="127.0.0.1:0", **options):
        self.tracer = lab.Tracer("serve", "--listen", listen, *arguments, **options)
        self.url = re.search(r"listening at (\S+)", self.tracer.stderr()).group(1)

    @property
    def pid(self):
        return self.tracer.process.pid

    def get(self, path, headers=None, method="GET"):
        """Status, headers and body of a page."""
        request = urllib.request.Request(urllib.parse.urljoin(self.url, path), headers=headers or {}, method=method)
        try:
            with FREE.open(request, timeout=lab.PATIENCE) as answer:
                return answer.status, answer.headers, answer.read().decode("utf-8")
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read().decode("utf-8")

    def page(self, path, **options):
        status, _, body = self.get(path, **options)
        assert status == 200, (path, status, body)
        return body

    def connect(self):
        parts = urllib.parse.urlsplit(self.url)
        return socket.create_connection((parts.hostname, parts.port), lab.PATIENCE)

    def end(self, number=signal.SIGTERM):
        output = self.tracer.stop(number)
        assert self.tracer.process.returncode == 0 and not output, (output, self.tracer.stderr())


def known():
    """A target that waits, and the code that it has without probes."""
    process = lab.start([lab.target("known"), "calls", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    return process, lab.code_of(process.pid)


def inuse(account):
    return sum(figures[0] - figures[2] for figures in account.values())


def metrics(text):
    """{(name, labels): value}; labels as they are written."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            name, _, labels = name.partition("{")
            found[name, labels.rstrip("}")] = float(value)
    return found


def total(found, name, label=""):
    return sum(value for (metric, labels), value in found.items() if metric == name and label in labels)


def report_after(server, account):
    """The report once it has all that the target has done: pages are kept for a moment."""
    truth = {name: figures for name, figures in account.items() if any(figures)}
    lab.wait_for(lambda: lab.sums(json.loads(server.page("/report.json")), set(truth)) == truth, "the report has the account")
    return json.loads(server.page("/report.json"))


def test_pages():
    """All of them, with the same figures: those that the target has counted itself."""
    process, code = known()
    server = Server("-n", "0", "-p", process.pid)
    account = lab.work(process)
    report = report_after(server, account)
    lab.check_account(account, report)
    # With what the C library itself has allocated for the target's output.
    held = report["totals"]["inuse_bytes"]
    assert held >= inuse(account) > 0, (held, inuse(account))
    lab.wait_for(lambda: total(metrics(server.page("/metrics")), "tracer_process_inuse_bytes") == held, "the metrics have the account")
    found = metrics(server.page("/metrics"))
    for name in ("inuse", "allocated", "freed"):
        key = {"inuse": "inuse", "allocated": "alloc", "freed": "free"}[name]
        for unit in ("bytes", "objects"):
            end = "" if name == "inuse" else "_total"
            truth = report["totals"]["%s_%s" % (key, unit)]
            assert total(found, "tracer_process_%s_%s%s" % (name, unit, end), 'pid="%d"' % process.pid) == truth, (name, unit)
            assert total(found, "tracer_site_%s_%s%s" % (name, unit, end)) == truth, (name, unit)
    for site, figures in account.items():
        assert total(found, "tracer_site_inuse_bytes", 'function="%s"' % site) == figures[0] - figures[2], site
    assert abs(total(found, "tracer_process_resident_bytes") - resident(process.pid)) < 1 << 20
    assert {'loss="%s"' % name for name in report["loss"]} == {labels for name, labels in found if name == "tracer_losses_total"}
    lab.wait_for(lambda: sum(int(line.rpartition(" ")[2]) for line in server.page("/folded").splitlines()) == held,
                 "folded stacks have the account")
    assert "known (%d) traced for" % process.pid in server.page("/report") and "known.c:" in server.page("/report")
    assert "site_malloc" in server.page("/metrics")
    assert server.page("/healthz") == "ok\n"
    assert "</html>" in server.page("/")
    status, _, sentence = server.get("/nowhere")
    assert status == 404 and "/pages has a list" in sentence, sentence
    listed = set(re.findall(r'href="([^"]+)"', server.page("/pages")))
    assert {"/", "/metrics", "/report.json", "/debug/pprof/heap", "/pages", "/healthz"} <= listed, listed
    server.end()
    lab.wait_for_code(process.pid, code)


def test_headers():
    process, _ = known()
    server = Server("-p", process.pid)
    types = {"/metrics": "text/plain; version=0.0.4; charset=utf-8", "/report.json": "application/json",
             "/report": "text/plain; charset=utf-8", "/": "text/html; charset=utf-8"}
    for path, kind in types.items():
        status, headers, _ = server.get(path)
        assert status == 200 and headers["Content-Type"] == kind, (path, headers["Content-Type"])
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, headers, body = server.get("/metrics", method="HEAD")
    assert status == 200 and not body and int(headers["Content-Length"]) > 1000
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        status, headers, _ = server.get("/metrics", method=method)
        assert status == 405 and headers["Allow"] == "GET, HEAD", (method, status)
    assert server.get("/nothing")[0] == 404
    assert server.get("/../../etc/passwd")[0] == 404
    # A name of another site that leads here.
    assert server.get("/metrics", headers={"Host": "evil.example"})[0] == 403
    assert server.get("/metrics", headers={"Host": "localhost:1"})[0] == 200
    server.end()


def check_promtool(text):
    checked = subprocess.run([lab.need("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and not checked.stderr and not checked.stdout, checked.stdout + checked.stderr


def test_promtool():
    """Exact, in windows, and without frees."""
    for options in ((), ("--budget", "5%"), ("--light",)):
        process, code = known()
        server = Server(*options, "-p", process.pid)
        lab.work(process)
        text = server.page("/metrics")
        check_promtool(text)
        found = metrics(text)
        assert ("tracer_budget_ratio", "") in found if "--budget" in options else ("tracer_budget_ratio", "") not in found
        assert total(found, "tracer_processes") == 1
        # Estimates are no counters.
        assert ("tracer_process_allocated_bytes_total" in {name for name, _ in found}) == ("--budget" not in options)
        server.end()
        lab.wait_for_code(process.pid, code)


def test_prometheus():
    """Debian's server scrapes it, and has the figures that the target has counted."""
    program = lab.need("prometheus")
    process, _ = known()
    server = Server("-n", "0", "-p", process.pid)
    held = report_after(server, lab.work(process))["totals"]["inuse_bytes"]
    port = lab.free_port()
    with tempfile.TemporaryDirectory(prefix="tracer-prometheus-") as folder:
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
            file.write("global: {scrape_interval: 2s, scrape_timeout: 2s}\nscrape_configs:\n- job_name: tracer\n  static_configs:\n"
                       "  - targets: ['%s']\n" % urllib.parse.urlsplit(server.url).netloc)
        prometheus = lab.start([program, "--config.file=" + file.name, "--storage.tsdb.path=" + os.path.join(folder, "data"),
                                "--web.listen-address=127.0.0.1:%d" % port], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def ask_for(path):
            with FREE.open("http://127.0.0.1:%d/api/v1/%s" % (port, path), timeout=lab.PATIENCE) as answer:
                return json.load(answer)["data"]

        def ask(query):
            try:
                return [float(row["value"][1]) for row in ask_for("query?query=" + urllib.parse.quote(query))["result"]]
            except OSError:
                return []

        def has_scraped():
            """Nothing but waiting for a busy machine is in its way."""
            for row in ask_for("targets")["activeTargets"]:
                assert not row["lastError"] or "deadline exceeded" in row["lastError"], row
            return ask("sum_over_time(up{job=\"tracer\"}[5m]) >= 5") != []

        lab.wait_for(lambda: ask("tracer_process_inuse_bytes{pid=\"%d\"}" % process.pid) == [held], "Prometheus has the account")
        lab.wait_for(lambda: ask("sum(tracer_site_inuse_bytes)") == [held], "its sites add up to it")
        lab.wait_for(has_scraped, "it has scraped five times")
        lab.end(prometheus, signal.SIGTERM)
    server.end()


def pprof_sums(source, folder, *options):
    """By `go tool pprof`: the sums of alloc_objects, alloc_space, inuse_objects and inuse_space."""
    said = subprocess.run([lab.need("go"), "tool", "pprof", "-raw", *options, source], capture_output=True, text=True, check=False,
                          env=dict(os.environ, HOME=folder, NO_PROXY="127.0.0.1", PPROF_TMPDIR=folder))
    assert said.returncode == 0, said.stderr
    assert "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes" in said.stdout, said.stdout[:500]
    rows = re.findall(r"^ +(-?\d+) +(-?\d+) +(-?\d+) +(-?\d+):", said.stdout, re.M)
    return [sum(int(row[i]) for row in rows) for i in range(4)]


def test_pprof():
    """What Go's tool reads from the server is what JSON has; and with seconds, what the target has allocated meanwhile."""
    process, _ = known()
    server = Server("-n", "0", "-p", process.pid)
    with tempfile.TemporaryDirectory(prefix="tracer-serve-") as folder:
        waiting = server.connect()
        waiting.sendall(b"GET /debug/pprof/allocs?seconds=%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % WORK_SECONDS)
        # What was asked before this is handled before, too: it waits from before the work.
        assert server.page("/healthz") == "ok\n"
        account = lab.work(process)
        head, _, body = answer_of(waiting).partition(b"\r\n\r\n")
        waiting.close()
        assert head.startswith(b"HTTP/1.1 200 "), head
        path = os.path.join(folder, "allocs.pb.gz")
        with open(path, "wb") as file:
            file.write(body)
        held = report_after(server, account)["totals"]
        truth = [held["alloc_objects"], held["alloc_bytes"], held["inuse_objects"], held["inuse_bytes"]]
        assert pprof_sums(path, folder) == truth, truth
        assert pprof_sums(server.url + "debug/pprof/heap", folder) == truth, truth
        assert pprof_sums(server.url + "debug/pprof/heap", folder, "-base", path) == [0, 0, 0, 0]
        # Nothing happens any more: in a second nothing is allocated, and nothing grows.
        assert pprof_sums(server.url + "debug/pprof/allocs?seconds=1", folder)[:2] == [0, 0]
        assert pprof_sums(server.url + "debug/pprof/heap?seconds=1", folder) == [0, 0, 0, 0]
    server.end()


def test_token():
    process, _ = known()
    with tempfile.TemporaryDirectory(prefix="tracer-serve-") as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write(TOKEN + "\n")
        # Without a token nobody else is let in.
        status, _, errors = lab.run("serve", "--listen", "0.0.0.0:0", "-p", process.pid)
        assert status == 2 and "--token-file" in errors, errors
        server = Server("--token-file", path, "-p", process.pid, listen="0.0.0.0:0")
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        for headers in ({}, {"Authorization": "Bearer " + TOKEN[:-1]}, {"Authorization": "Bearer " + TOKEN + "x"},
                        {"Authorization": "Basic " + TOKEN}, {"Authorization": "Bearer "}):
            status, answered, body = server.get("/metrics", headers=headers)
            assert status == 401 and answered["WWW-Authenticate"] == "Bearer" and "tracer_" not in body, (headers, status)
        right = {"Authorization": "Bearer " + TOKEN}
        assert server.get("/metrics", headers=right)[0] == 200
        assert server.get("/metrics", headers={**right, "Host": "node.example"})[0] == 200
        assert server.get("/healthz")[0] == 200
        assert TOKEN not in server.tracer.stderr()
        server.end()
        with open(path, "w", encoding="ascii") as file:
            file.write("short\n")
        for mode in (0o620, 0o602, 0o666):
            os.chmod(path, mode)
            status, _, errors = lab.run("serve", "--listen", "127.0.0.1:0", "--token-file", path, "-p", process.pid)
            assert status == 2 and "others can write" in errors and "%04o" % mode in errors, (mode, errors)
        os.chmod(path, 0o644)
        status, _, errors = lab.run("serve", "--listen", "127.0.0.1:0", "--token-file", path, "-p", process.pid)
        assert status == 2 and "token" in errors, errors


class UnixConnection(http.client.HTTPConnection):
    """HTTP by a socket in the file system."""

    def __init__(self, path):
        super().__init__("localhost", timeout=lab.PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def test_unix_socket():
    process, _ = known()
    folder = tempfile.mkdtemp(prefix="tracer-serve-")
    path = os.path.join(folder, "socket")
    try:
        # The second one takes the place of what the first one has left.
        for _ in range(2):
            server = Server("-p", process.pid, listen="unix:" + path)
            assert server.url == "unix:" + path, server.url
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
            status, _, errors = lab.run("serve", "--listen", "unix:" + path, "-p", process.pid)
            assert status == 2 and "in use" in errors, errors
            connection = UnixConnection(path)
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            assert answer.status == 200 and b"tracer_processes 1\n" in answer.read()
            connection.close()
            server.end()
    finally:
        shutil.rmtree(folder)


def test_refused():
    """Bad addresses, and a port that is taken, are errors before anything is probed."""
    process, code = known()
    for address in ("", "nowhere", "example.org:80", "127.0.0.1", "127.0.0.1:99999", "unix:relative"):
        status, _, errors = lab.run("serve", "--listen", address, "-p", process.pid)
        assert status == 2 and "listen" in errors, (address, errors)
    status, _, errors = lab.run("serve", "-p", process.pid)
    assert status == 2 and "--listen" in errors, errors
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, _, errors = lab.run("serve", "--listen", "127.0.0.1:%d" % taken.getsockname()[1], "-p", process.pid)
        assert status == 2 and "in use" in errors, errors
    lab.wait_for_code(process.pid, code)


def test_confined():
    """While it serves it has no root, no way to it, and a filter of system calls."""
    process, _ = known()
    server = Server("-p", process.pid)
    server.page("/metrics")
    with open("/proc/%d/status" % server.pid, encoding="utf-8") as file:
        fields = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
    assert fields["Seccomp"].strip() == "2" and fields["NoNewPrivs"].strip() == "1", fields
    assert "0" not in fields["Uid"].split(), fields["Uid"]
    server.page("/report.json")
    server.end()


def test_least_capabilities():
    """As deploy/systemd/tracer-serve.service runs it: another user than root, five capabilities, and in windows."""
    if lab.run("--backend", "multi", "-d", "1ms", "--", "true")[0]:
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    capabilities = "-all,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore"
    process, code = known()
    with tempfile.TemporaryDirectory(prefix="tracer-serve-") as folder:
        os.chmod(folder, 0o755)
        built, lab.TRACER = lab.TRACER, shutil.copy(lab.TRACER, folder)
        try:
            server = Server("--budget", "1%", "-p", process.pid, under=(
                lab.need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
                "--inh-caps=" + capabilities, "--ambient-caps=" + capabilities, "--bounding-set=" + capabilities))
        finally:
            lab.TRACER = built
        assert total(metrics(server.page("/metrics")), "tracer_budget_ratio") == 0.01
        assert json.loads(server.page("/report.json"))["targets"][0]["pid"] == process.pid
        server.end()
    lab.wait_for_code(process.pid, code)


def answer_of(connection):
    """All that a server sends until it closes."""
    text = b""
    try:
        while piece := connection.recv(65536):
            text += piece
    except ConnectionResetError:
        pass
    return text


def test_slow_clients():
    """Those that send a byte now and then are shut out, and others are answered meanwhile."""
    process, _ = known()
    server = Server("-p", process.pid)
    slow = [server.connect() for _ in range(CONNECTIONS_MAX - 8)]
    for connection in slow:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
        connection.setblocking(False)
    left = set(slow)

    def are_out():
        assert server.page("/healthz") == "ok\n"
        for connection in list(left):
            try:
                connection.send(b"x", socket.MSG_NOSIGNAL)
                if not connection.recv(65536):
                    left.discard(connection)
            except BlockingIOError:
                pass
            except OSError:
                left.discard(connection)
        time.sleep(0.2)
        return not left

    lab.wait_for(are_out, "slow clients are shut out")
    server.page("/metrics")
    server.end()


# A user's process that opens connections and sends nothing, or requests without the token. It has no limit that root has not.
STRANGER = """
import os, socket, sys
port, count, said = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
"x".encode("idna")  # its module is read while that is allowed
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
held = []
for _ in range(count):
    held.append(socket.create_connection(("127.0.0.1", port)))
    try:
        held[-1].sendall(said)
    except OSError:
        pass
print("held", flush=True)
sys.stdin.read()
"""


def test_connections_of_strangers():
    """Those who send nothing, or have no token, keep nobody out: they are still connected when a request with the token is answered."""
    process, _ = known()
    with tempfile.TemporaryDirectory(prefix="tracer-serve-") as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(TOKEN + "\n")
        server = Server("--token-file", path, "-p", process.pid)
        port = urllib.parse.urlsplit(server.url).port
        right = {"Authorization": "Bearer " + TOKEN}
        for said in ("", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: "):
            stranger = lab.start([sys.executable, "-c", STRANGER, port, CONNECTIONS_MAX + 4, said], text=True)
            assert stranger.stdout.readline() == "held\n", stranger.stderr.read()

            def is_answered():
                """After 10 seconds the strangers are out, whoever comes: on a busy machine, others come in their place."""
                status, _, body = server.get("/metrics", headers=right)
                assert status == 200 and server.get("/healthz")[0] == 200
                if total(metrics(body), "tracer_http_connections") >= CONNECTIONS_MAX:
                    return True
                lab.end(stranger_of[0])
                stranger_of[0] = lab.start([sys.executable, "-c", STRANGER, port, CONNECTIONS_MAX + 4, said], text=True)
                stranger_of[0].stdout.readline()
                return False

            stranger_of = [stranger]
            lab.wait_for(is_answered, "a request is answered while strangers are connected", patience=60)
            lab.end(stranger_of[0])
        server.end()


def test_waits_that_end_early():
    """Who goes while his seconds pass keeps no other one from waiting: there are four places."""
    process, _ = known()
    server = Server("-p", process.pid)
    wait = b"GET /debug/pprof/allocs?seconds=%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
    clients = [server.connect() for _ in range(WAITING_MAX)]
    for client in clients:
        client.sendall(wait % 300)

    def status():
        connection = server.connect()
        connection.sendall(wait % 1)
        return answer_of(connection).split()[1]

    lab.wait_for(lambda: status() == b"503", "all places are taken")
    before = descriptors(server.pid)
    for client in clients:
        client.close()
    lab.wait_for(lambda: status() == b"200", "the places are free again")
    lab.wait_for(lambda: descriptors(server.pid) <= before - WAITING_MAX, "connections are closed")
    server.end()


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def test_many_clients():
    """Thousands of connections: a few are held, and when they end all is as before."""
    process, _ = known()
    server = Server("-p", process.pid)
    server.page("/metrics")
    before = descriptors(server.pid)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    parts = urllib.parse.urlsplit(server.url)
    try:
        clients = []
        for _ in range(2000):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex((parts.hostname, parts.port))
            clients.append(client)
        most = max(descriptors(server.pid) for _ in range(50))
        assert most <= before + CONNECTIONS_MAX + CONNECTIONS_SPARE + 2, (before, most)
        for client in clients:
            client.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert server.page("/healthz") == "ok\n"
    lab.wait_for(lambda: descriptors(server.pid) <= before + 1, "connections are closed")
    server.end()


def test_large_requests():
    """A header of 1 MB, a path of 1 MB, a body without an end, and bytes that are no HTTP."""
    process, _ = known()
    server = Server("-p", process.pid)
    million = b"x" * 1000000
    for request in (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + million + b"\r\n\r\n",
                    b"GET /" + million + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 100000 + b"\r\n",
                    b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n" + million,
                    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + million,
                    b"\x00\xff" * 500000, b"\r\n" * 500000):
        connection = server.connect()
        try:
            connection.sendall(request)
        except (ConnectionResetError, BrokenPipeError):
            pass
        text = answer_of(connection)
        connection.close()
        assert not text or re.match(rb"HTTP/1\.[01] [45]", text), (request[:40], text[:200])
        assert server.page("/healthz") == "ok\n"
    server.end()


def resident(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def anonymous(pid):
    """What a process has for itself: what is resident of files is the kernel's to decide."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        return int(re.search(r"^RssAnon:\s+(\d+) kB", file.read(), re.M).group(1)) << 10


def test_memory_is_flat():
    """Some hundred reports, each made anew since the last one is old by then, and a thousand that are not."""
    process, _ = known()
    server = Server("-n", "0", "-p", process.pid)
    lab.work(process)
    paths, sizes = ("/metrics", "/report.json", "/report", "/folded"), []
    for _ in range(60):
        for path in paths:
            for _ in range(5):
                server.page(path)
        sizes.append(anonymous(server.pid))
        time.sleep(1)
    assert max(sizes[-10:]) <= max(sizes[10:20]) + (2 << 20), sizes
    server.end()


def test_kill():
    """SIGKILL leaves no probe, and the target lives."""
    process, code = known()
    server = Server("-p", process.pid)
    assert lab.code_of(process.pid) != code, "no probe can be seen in the code"
    server.page("/metrics")
    server.tracer.process.kill()
    server.tracer.process.wait(lab.PATIENCE)
    lab.wait_for_code(process.pid, code)
    assert process.poll() is None


def test_target_ends():
    """So does the tracer, as without a server."""
    process, _ = known()
    server = Server("-p", process.pid)
    process.kill()
    lab.wait_for(lambda: server.tracer.process.poll() is not None, "the tracer ends")
    assert server.tracer.process.returncode == 0, server.tracer.stderr()


lab.run_tests()
