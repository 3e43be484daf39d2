# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of the corpus, and what they have in common: a line in, an answer out (account.h)."""
import json
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "tests/budget")
BUILD = os.path.join(TOP, "build/budget")
TRACER = os.environ.get("TRACER", os.path.join(TOP, "build/tracer"))
PATIENCE = 180  # seconds, on a machine with no CPU to spare
# More requests a second than any of the programs can serve: it is never idle, so that the clock rate and the caches that it has are the same at all times.
BUSY = 100000
# The system's own interpreters, whose frames and symbols are those of a package.
RUBY, PYTHON = "/usr/bin/ruby", "/usr/bin/python3"

COMMANDS = {
    "c": [BUILD + "/sites"],
    "c++": [BUILD + "/objects"],
    "threads": [BUILD + "/pool"],
    "ruby": [RUBY, HERE + "/leaks.rb"],
    "python": [PYTHON, HERE + "/leaks.py"],
}


class Missing(Exception):
    """A program that is not here."""


def cpu_ns(pid):
    """The CPU time of all threads of a process, user and system, as the kernel has counted it."""
    return time.clock_gettime_ns(~pid << 3 | 2)


class Program:
    """One of COMMANDS. It counts its leaks itself."""

    def __init__(self, name, mode, rate=None):
        command = COMMANDS[name] + [mode] + ([str(rate)] if rate else [])
        if not shutil.which(command[0]):
            raise Missing("%s is not here" % command[0])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid = self.process.pid
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("%s did not get ready" % name)

    def ask(self, line=""):
        """Its answer, with the moment and its CPU time."""
        self.process.stdin.write(line + "\n")
        answer = json.loads(self.process.stdout.readline())
        return {**answer, "time_s": time.monotonic(), "cpu_ns": cpu_ns(self.pid)}

    def close(self):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)


def _libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[-1]
            if "/libc.so" in path:
                return path
    raise Missing("the C library is not a libc.so")


class Redis:
    """
    A server under requests of this process, so many a second: most set one of 5,000 keys anew; of those that leak, each sets a key that nobody
    removes. How many these are is counted here, and what they take the server itself knows (used_memory). Which sites that makes is not known
    from its symbols, which a package does not have: exact tracing shows it.
    `glibc`: with the C library's allocator in place of jemalloc, which Debian's is linked with.
    """
    LEAK_SHARE, KEYS = 40, 5000
    BLOCKS_OF_KEY = 4  # the key's text, its entry, an object, the value's text

    def __init__(self, mode, glibc=True, rate=8000):
        if not shutil.which("redis-server"):
            raise Missing("redis-server is not installed")
        self.leaking, self.rate = mode == "leak", rate
        self.folder = tempfile.TemporaryDirectory(prefix="tracer-budget-")  # pylint: disable=consider-using-with
        path = os.path.join(self.folder.name, "socket")
        environment = {**os.environ, **({"LD_PRELOAD": _libc()} if glibc else {})}
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir",
             self.folder.name, "--daemonize", "no"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        until = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if time.monotonic() > until:
                raise RuntimeError("redis-server did not start")
            time.sleep(0.02)
        self.socket, self.reader = self._connect(path)
        self.questions, self.answers = self._connect(path)
        self.requests = self.leaked = self.stall_ns = 0
        self.ended = False
        for _ in range(10):
            self._requests(1000, preparing=True)
        self.thread = threading.Thread(target=self._load, daemon=True)
        self.thread.start()

    @staticmethod
    def _connect(path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection, connection.makefile("rb")

    def _used_memory(self):
        """Bytes that it has allocated, as it counts them itself."""
        self.questions.sendall(b"INFO memory\r\n")
        text = self.answers.read(int(self.answers.readline()[1:]) + 2)
        return int(next(line for line in text.split() if line.startswith(b"used_memory:")).split(b":")[1])

    def _command(self, preparing):
        self.requests += 1
        # At random: a fixed place in a batch would be seen by each window, or by none.
        if self.leaking and not preparing and random.randrange(self.LEAK_SHARE) == 0:
            self.leaked += 1
            return b"SET", b"leak:%09d" % self.leaked, b"%0400d" % self.requests
        return b"SET", b"cache:%04d" % (self.requests * 7919 % self.KEYS), b"%0200d" % self.requests

    def _requests(self, count, preparing=False):
        text = b""
        for _ in range(count):
            words = self._command(preparing)
            text += b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        begun = time.monotonic_ns()
        self.socket.sendall(text)
        for _ in range(count):
            if self.reader.readline() != b"+OK\r\n":
                raise RuntimeError("redis-server did not set a key")
        self.stall_ns = max(self.stall_ns, time.monotonic_ns() - begun)

    def _load(self):
        due = time.monotonic()
        while not self.ended:
            self._requests(self.rate // 100)
            due = max(due + 0.01, time.monotonic() - 0.1)
            time.sleep(max(due - time.monotonic(), 0))

    def wait_until_replaced(self):
        """Each key that is no leak is set anew: from then on none of these grow."""
        until = self.requests + 2 * self.KEYS
        while self.requests < until:
            time.sleep(0.1)

    def ask(self, line=""):
        self.leaking |= line.startswith("l")
        stall, self.stall_ns = self.stall_ns, 0
        return {"leaks": {}, "leaked": self.leaked, "used": self._used_memory(), "requests": self.requests, "stall_ns": stall, "time_s": time.monotonic(),
                "cpu_ns": cpu_ns(self.pid)}

    def close(self):
        self.ended = True
        self.thread.join(PATIENCE)
        for each in (self.reader, self.socket, self.answers, self.questions):
            each.close()
        self.process.kill()
        self.process.wait(PATIENCE)
        self.folder.cleanup()


def start(name, mode, rate=None):
    """One of COMMANDS, "redis", or "redis-jemalloc", with so many requests a second or its own number."""
    if name.startswith("redis"):
        return Redis(mode, glibc=name == "redis", **({"rate": rate} if rate else {}))
    return Program(name, mode, rate)
