# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmark compares: each tool as a context that has attached to a process and leaves it on exit; and the
programs under test, which do work on request and say what it cost."""
import contextlib
import json
import os
import select
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "tests/bench")
BUILD = os.path.join(TOP, "build/bench")
TRACER = os.environ.get("TRACER", os.path.join(TOP, "build/tracer"))
PATIENCE = 60


class Missing(Exception):
    """A tool or a program that is not here."""


def need(program):
    path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not path:
        raise Missing("%s is not installed" % program)
    return path


def wait_for_text(process, text, what):
    """Read a process's standard error until it has said `text`."""
    said, until = b"", time.monotonic() + PATIENCE
    while text not in said:
        left = until - time.monotonic()
        if left <= 0 or not select.select([process.stderr], [], [], left)[0]:
            raise RuntimeError("%s did not get ready: %s" % (what, said.decode("utf-8", "replace")))
        part = os.read(process.stderr.fileno(), 65536)
        if not part:
            raise RuntimeError("%s ended: %s" % (what, said.decode("utf-8", "replace")))
        said += part


def cpu_ns(pid):
    """The CPU time of all threads of a process."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def reap(process, number=signal.SIGKILL):
    if process.poll() is None:
        process.send_signal(number)
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


class Program:
    """A program under test. A request is a line "MILLISECONDS ..."; the answer is what the work cost."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, **(environment or {})})
        self.pid = self.process.pid

    def begin(self, *words):
        self.process.stdin.write((" ".join(str(word) for word in words) + "\n").encode())
        self.process.stdin.flush()

    def end(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, *words):
        self.begin(*words)
        return self.end()

    def cost(self, *words, clock="cpu_ns"):
        """Nanoseconds that one round took."""
        answer = self.ask(*words)
        return answer[clock] / max(answer["rounds"], 1)

    def close(self):
        reap(self.process)


@contextlib.contextmanager
def untraced(_pid):
    yield


@contextlib.contextmanager
def _attached(command, what, ready, number=None, **options):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        wait_for_text(process, ready, what)
        yield process
    finally:
        if number is None:
            process.stdin.close()
            process.wait(timeout=PATIENCE)
        reap(process, number or signal.SIGKILL)


def stackid(pid):
    return _attached([os.path.join(BUILD, "floor"), str(pid), "stackid"], "floor", b"ready", stdout=subprocess.DEVNULL)


def floor(pid):
    return _attached([os.path.join(BUILD, "floor"), str(pid), "site"], "floor", b"ready", stdout=subprocess.DEVNULL)


def entries(pid):
    return _attached([os.path.join(BUILD, "floor"), str(pid), "entry"], "floor", b"ready", stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def tracer(pid, *options):
    """As a user would run it, in silence."""
    with tempfile.TemporaryFile() as output:
        with _attached([TRACER, "-q", "-j", "-p", str(pid), "1h", *options], "tracer", b"tracer: ready",
                       number=signal.SIGINT, stdout=output) as process:
            yield process


def kernel_tracer(_pid, *options):
    """It traces the kernel's memory, whoever asks for that."""
    return _attached([TRACER, "--kernel", "-q", "-j", "1h", *options], "tracer", b"tracer: ready", number=signal.SIGINT,
                     stdout=subprocess.DEVNULL)


def kernel_tracer_of_another(_pid):
    """The same, of memory that is for another process, which does nothing."""
    return kernel_tracer(_pid, "-p", "1")


@contextlib.contextmanager
def reporting_tracer(pid):
    """A tracer that was started just now; a function that returns a report of it."""
    with _attached([TRACER, "-q", "-j", "-n", "1", "-p", str(pid), "1h"], "tracer", b"tracer: ready", number=signal.SIGINT,
                   stdout=subprocess.PIPE) as process:
        def ask():
            process.send_signal(signal.SIGUSR1)
            return json.loads(process.stdout.readline())
        yield ask


def calls_seen(report):
    """Calls of allocator functions that the probes saw."""
    return report["totals"]["alloc_objects"] + report["totals"]["free_objects"] + report["loss"]["free_untracked"]


def tracer_by_frame_pointers(pid):
    return tracer(pid, "--call-graph", "fp")


def tracer_at_entries(pid):
    return tracer(pid, "--probe-at-entry")


def tracer_without_return_probes(pid):
    return tracer(pid, "--no-return-probes")


def tracer_light(pid):
    return tracer(pid, "--light")


def tracer_light_by_returns(pid):
    """As kernels before 6.13 have it: no probes inside of malloc."""
    return tracer(pid, "--light", "--backend", "multi")


def library_of(pid, name):
    """The mapped file with this name, as the tools expect it."""
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[-1]
            if name in os.path.basename(path):
                return path
    raise Missing("process %d maps no %s" % (pid, name))


@contextlib.contextmanager
def bpftrace(pid):
    """A script that does the tracer's job: bytes in use by stack. Its maps hold as many blocks as the tracer's."""
    need("bpftrace")
    with open(os.path.join(HERE, "inuse.bt"), encoding="utf-8") as file:
        script = file.read().replace("LIBC", library_of(pid, "libc.so"))
    environment = {**os.environ, "BPFTRACE_MAP_KEYS_MAX": "1048576"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(["bpftrace", "-q", "-p", str(pid), "-e", script], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.DEVNULL, env=environment)
        try:
            until = time.monotonic() + PATIENCE
            while b"ready" not in os.pread(output.fileno(), 100, 0):
                if process.poll() is not None or time.monotonic() > until:
                    raise Missing("bpftrace did not attach")
                time.sleep(0.01)
            yield process
        finally:
            reap(process, signal.SIGKILL)


def private_libc(folder):
    """A copy of the C library for programs that get this environment. Probes belong to files: while another program of
    the machine that maps the same file is traced, each of its probes is looked at in ours, too."""
    shutil.copy(library_of(os.getpid(), "libc.so"), os.path.join(folder, "libc.so.6"))
    return {"LD_LIBRARY_PATH": folder}


def heaptrack_environment():
    """The variables with which heaptrack's own script starts a program; what it records goes nowhere."""
    need("heaptrack")
    for folder in ("/usr/lib", "/usr/local/lib", "/usr/lib64"):
        for path, _, names in os.walk(folder):
            if "libheaptrack_preload.so" in names:
                return {"LD_PRELOAD": os.path.join(path, "libheaptrack_preload.so"),
                        "DUMP_HEAPTRACK_OUTPUT": "/dev/null"}
    raise Missing("libheaptrack_preload.so is not here")


def median(values):
    return statistics.median(values)
