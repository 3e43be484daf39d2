#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers to which the tracer is attached under load: they answer as before, and end as they would have ended."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

import lab  # noqa: E402
import material  # noqa: E402

CLIENTS, REQUESTS = 4, 100
PHP = "<?php echo json_encode(array_map(fn($i) => md5((string)($i + (int)$_GET['n'])), range(1, 50)));"
NODE = """
const crypto = require('crypto');
require('http').createServer((request, response) => {
  const n = Number(new URL(request.url, 'http://a').searchParams.get('n'));
  response.end(JSON.stringify(Array.from({length: 50}, (_, i) => crypto.createHash('md5').update(String(i + n)).digest('hex'))));
}).listen(Number(process.argv[1]), '127.0.0.1');
"""
NGINX = """
daemon off; pid %(folder)s/pid; error_log %(folder)s/errors; worker_processes 2;
events { }
http { access_log off; client_body_temp_path %(folder)s/a; proxy_temp_path %(folder)s/b; fastcgi_temp_path %(folder)s/c;
uwsgi_temp_path %(folder)s/d; scgi_temp_path %(folder)s/e; gzip on; gzip_types *;
server { listen 127.0.0.1:%(port)d; location / { root %(folder)s; } } }
"""


def fetch(port, path):
    """The body of an answer, and that it was one."""
    with socket.create_connection(("127.0.0.1", port), lab.PATIENCE) as connection:
        connection.sendall(b"GET %s HTTP/1.0\r\nHost: a\r\n\r\n" % path.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert re.match(rb"HTTP/1\.[01] 200 ", head), answer[:300]
    return body


def converse(port, lines):
    """What is answered to lines in which KEY is replaced by a key that no other connection has."""
    with socket.create_connection(("127.0.0.1", port), lab.PATIENCE) as connection:
        key = b"key%05d" % connection.getsockname()[1]
        stream = connection.makefile("rwb")
        stream.write(b"".join(line.encode() + b"\r\n" for line in lines).replace(b"KEY", key))
        stream.flush()
        return stream.read().replace(key, b"KEY")


def memcached(port, number):
    value = hashlib.md5(str(number).encode()).hexdigest() * (1 + number % 50)
    return converse(port, ["set KEY 0 0 %d" % len(value), value, "get KEY", "delete KEY", "get KEY", "quit"])


def redis(port, number):
    return converse(port, ["rpush KEY.l one two %d" % number, "lrange KEY.l 0 -1", "append KEY.s %d" % number, "strlen KEY.s",
                           "hset KEY.h a 1 b %d" % number, "hgetall KEY.h", "del KEY.l KEY.s KEY.h", "quit"])


def load(port, ask):
    """A hash over all that all clients are answered."""
    answers = [b""] * CLIENTS * REQUESTS
    failures = []

    def client(first):
        try:
            for number in range(first, CLIENTS * REQUESTS, CLIENTS):
                answers[number] = ask(port, number)
        except Exception as failure:  # pylint: disable=broad-except
            failures.append(failure)
    threads = [threading.Thread(target=client, args=(first,)) for first in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    return hashlib.sha256(b"\0".join(answers)).hexdigest()


def descendants(pid):
    found = [pid]
    with contextlib.suppress(OSError):
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
                for child in file.read().split():
                    found += descendants(int(child))
    return found


def check_server(command, port, ask, status=0, must_allocate=True):
    """Load before, under and after a trace; then the server is asked to end, and does with its own status."""
    # What it writes goes where nobody must read.
    server = lab.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lab.wait_for(lambda: lab.answers(port) or server.poll() is not None, "the server answers")
    assert server.poll() is None, "the server ended with %s" % server.returncode
    before, processes = load(port, ask), descendants(server.pid)
    # Attached while requests are on their way, and detached likewise.
    hashes = []
    loader = threading.Thread(target=lambda: hashes.extend(load(port, ask) for _ in range(3)))
    loader.start()
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", ",".join(map(str, processes)), "3600")
    under = load(port, ask)
    report = json.loads(tracer.stop().splitlines()[-1])
    loader.join()
    after = load(port, ask)
    assert hashes == [before] * 3 and under == after == before, (before, hashes, under, after)
    lab.check_sums(report)
    assert report["totals"]["alloc_objects"] or not must_allocate, report["totals"]
    assert descendants(server.pid) == processes, "a process of the server has ended"
    server.send_signal(signal.SIGTERM)
    assert server.wait(lab.PATIENCE) == status, server.returncode


def test_python():
    port = lab.free_port()
    check_server(["/usr/bin/python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", material.folder(), port],
                 port, lambda port, number: fetch(port, "/text" if number % 2 else "/list.json"), status=-signal.SIGTERM)


def test_php():
    lab.need("php")
    port = lab.free_port()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "index.php"), "w", encoding="utf-8") as file:
            file.write(PHP)
        check_server(["php", "-n", "-S", "127.0.0.1:%d" % port, "-t", folder], port,
                     lambda port, number: fetch(port, "/?n=%d" % number), status=-signal.SIGTERM)


def test_node():
    port = lab.free_port()
    check_server([lab.need("node"), "-e", NODE, port], port, lambda port, number: fetch(port, "/?n=%d" % number),
                 status=-signal.SIGTERM)


def test_memcached():
    port = lab.free_port()
    # It has memory of its own for what it keeps.
    check_server([lab.need("memcached"), "-u", "nobody", "-l", "127.0.0.1", "-p", port, "-t", "4"], port, memcached,
                 must_allocate=False)


def test_redis():
    port = lab.free_port()
    with tempfile.TemporaryDirectory() as folder:
        check_server([lab.need("redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder], port,
                     redis)


def test_nginx():
    lab.need("nginx")
    port = lab.free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy(os.path.join(material.folder(), "text"), folder)
        settings = os.path.join(folder, "settings")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(NGINX % {"folder": folder, "port": port})
        check_server(["nginx", "-p", folder, "-e", folder + "/errors", "-c", settings], port,
                     lambda port, number: fetch(port, "/text"))


lab.run_tests()
