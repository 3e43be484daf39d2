# SPDX-License-Identifier: GPL-2.0-or-later
"""What live tests share: start targets and the tracer, compare a report with a target's own account, clean up.

A test is a function whose name begins with "test_"; run_tests() runs those of the calling program and prints a line
for each: "ok NAME", "not ok NAME" (after the reason) or "skip NAME REASON".
"""
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACER = os.path.join(TOP, "build/tracer")
TARGETS = os.path.join(TOP, "build/targets")
SCALE = float(os.environ.get("TEST_SCALE", "1"))  # how much of what loads the machine; emulators take less
# Seconds until something that should happen has failed to. It costs nothing where all is well; where each process has a tenth of a
# core, what takes a few seconds takes a minute.
PATIENCE = 180
PATIENT = ("--deadline", "1h")  # of `tracer memory`, whose look is nice to others: beside those it takes as long as it takes
# On a busy machine the last report may take long; test_limits.py asks for its end.
os.environ.setdefault("TRACER_END_SECONDS", str(PATIENCE))

# Loss counters that say something about the target and not about the tracer. Stacks through code that was mapped an
# instant before are cut short on a busy machine; test_stacks.py asks for whole ones where nothing is mapped. What the
# kernel records of all processes of a busy machine may not fit into its buffer; test_children.py asks what becomes of that.
EXPECTED_LOSSES = {"free_untracked", "calls_thrown", "stack_unmapped", "children_missed", "records_dropped",
                   "children_late", "memory_shared"}

# Whoever starts the tests in the background may have had these ignored, which programs inherit.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

_started = []


class Skip(Exception):
    """The test cannot run here, for the reason given."""


def need(program):
    path = shutil.which(program)
    if not path:
        raise Skip("%s is not installed" % program)
    return path


def target(name):
    return os.path.join(TARGETS, name)


def built(*names):
    """Those of the targets that could be built here; the others are printed."""
    found = [name for name in names if os.path.exists(target(name))]
    if not found:
        raise Skip("none of %s could be built here" % ", ".join(names))
    for name in names:
        if name not in found:
            print("# without %s, which could not be built here" % name, flush=True)
    return found


def start(command, **options):
    """Start a process, which end_all() ends."""
    options.setdefault("stdin", subprocess.PIPE)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    process = subprocess.Popen([str(word) for word in command], **options)
    _started.append(process)
    return process


def end(process, number=signal.SIGKILL):
    if process.poll() is None:
        process.send_signal(number)
    return process.communicate(timeout=PATIENCE)


def end_all():
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
        try:
            process.communicate(timeout=PATIENCE)
        except (ValueError, subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)


# What starts a program to which the kernel reports no other processes.
WITHOUT_RECORDS = (target("sandboxed"), "perf_event_open")


def written(file):
    """What others have written to an open file. They share its position and may go on: this reads by one of its own."""
    with open("/proc/self/fd/%d" % file.fileno(), encoding="utf-8", errors="replace") as same:
        return same.read()


class Tracer:
    """A running tracer that has said that it is ready. `under` is what starts it."""

    def __init__(self, *arguments, ready=True, under=(), **options):
        self.messages = tempfile.TemporaryFile("a+")
        self.process = start([*under, TRACER, *arguments], stderr=self.messages, **options)
        if ready:
            self.wait_ready()

    def stderr(self):
        return written(self.messages)

    def wait_ready(self):
        wait_for(lambda: "tracer: ready" in self.stderr() or self.process.poll() is not None,
                 "the tracer is ready")
        assert "tracer: ready" in self.stderr(), self.stderr()

    def stop(self, number=signal.SIGINT):
        """Ask for the last report; returns all that was printed."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.finish()

    def report_now(self):
        """The report that it writes now, for one that writes JSON and nothing else meanwhile."""
        self.process.send_signal(signal.SIGUSR1)
        return json.loads(self.process.stdout.readline())

    def text_now(self):
        """The same of one that writes text."""
        self.process.send_signal(signal.SIGUSR1)
        lines = [""]
        while not lines[-1].startswith("Leak approximation summary"):
            lines.append(self.process.stdout.readline().decode("utf-8", "replace"))
            assert lines[-1], self.stderr()
        return "".join(lines)

    def wait_for_calls(self):
        """Wait until a call was recorded."""
        wait_for(lambda: self.report_now()["totals"]["alloc_objects"], "a call is recorded")

    def finish(self):
        output, _ = self.process.communicate(timeout=PATIENCE)
        return (output or b"").decode("utf-8", "replace")


class Looks:
    """Looks of `tracer memory` between which a target changes: the next one does not begin before the report of the last one is read, since
    no report fits into the pipe that it goes to."""

    def __init__(self, *arguments):
        end, out = os.pipe()
        self.room = fcntl.fcntl(out, 1031, 1)  # F_SETPIPE_SZ, which Python has since 3.10: the least there is
        self.process = start([TRACER, "memory", "-q", "-j", *PATIENT, *arguments], stdout=out)
        os.close(out)
        self.stream, self.first = os.fdopen(end, "rb", 0), b""

    def wait(self):
        """Until a look is over."""
        self.first = self.first or self.stream.read(1)
        assert self.first, self.process.stderr.read()

    def read(self):
        """The report of the last look, or of the next one; then it is the next one's turn."""
        self.wait()
        line, self.first = self.first + self.stream.readline(), b""
        assert len(line) > self.room, "the report is so short that the next look did not wait for it"
        return json.loads(line)


def run(*arguments, **options):
    """Run the tracer to its end; returns status, stdout, stderr."""
    options.setdefault("stdin", subprocess.DEVNULL)
    process = start([TRACER] + [str(argument) for argument in arguments], **options)
    output, errors = process.communicate(timeout=PATIENCE * 5)
    return process.returncode, output.decode("utf-8", "replace"), (errors or b"").decode("utf-8", "replace")


def wait_for(condition, what, patience=PATIENCE):
    until = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < until, "waited in vain until " + what
        time.sleep(0.01)


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def has_ended(pid):
    """Is a process gone, but for its parent's look at it? One that ends is without its memory and its files before."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return True


def has_backend(name):
    """Can the kernel attach in this way?"""
    status, _, errors = run("-q", "--backend", name, "--", "true")
    return not status or "not supported by this kernel" not in errors


def memcheck(*arguments, patience=PATIENCE * 5):
    """
    What a program prints under memcheck, and what memcheck prints, once the program has reached its end. Breakpoints that somebody else's `tracer -a`
    puts into the C library are code to memcheck, by which the program ends: then it begins anew.
    """
    ended = []

    def is_whole():
        process = start([need("valgrind"), "--leak-check=full", *arguments], text=True)
        ended[:] = [process, *process.communicate("go\n", timeout=patience)]
        return process.returncode != -signal.SIGTRAP
    wait_for(is_whole, "memcheck runs the program to its end", patience)
    return ended[1:]


def need_backend(name):
    if not has_backend(name):
        raise Skip("this kernel has no %s probes" % name)


def is_reading(process):
    """Does it wait for its standard input? As the number of the system call and its first argument show."""
    with open("/proc/%d/syscall" % process.pid, encoding="ascii") as file:
        return file.read().startswith(("0 0x0 ", "63 0x0 "))


def command_report(command, *options):
    """The account of a target that was started by the tracer, and the report on it."""
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        status, output, errors = run("-q", "-j", "-n", "0", "-o", file.name, *options, "--", *command)
        assert status == 0, errors
        return last_object(output), json.loads(file.read())


def attached_report(command, *options, environment=None):
    """The same for a target that was running before; it waits before it begins and before it ends."""
    process = start(list(command) + ["wait"], env=environment)
    wait_for(lambda: is_waiting(process), "the target waits")
    tracer = Tracer("-q", "-j", "-n", "0", "-p", process.pid, *options)
    account = work(process)
    report = json.loads(tracer.stop().splitlines()[-1])
    process.stdin.close()
    wait_for(lambda: process.poll() is not None, "the target ends")
    assert process.returncode == 0
    return account, report


def release(process):
    """Let a target that waits for a line go on."""
    process.stdin.write(b"go\n")
    process.stdin.flush()


def work(process):
    """The same; returns the target's account, which it prints when it has done its work."""
    release(process)
    return json.loads(process.stdout.readline())


def is_waiting(process):
    """Does the process sleep? One that has just begun to run still maps its libraries."""
    with open("/proc/%d/stat" % process.pid, encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


def all_wait(pid):
    """Do all threads of a process sleep?"""
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, thread), encoding="ascii", errors="replace") as file:
            if file.read().rpartition(")")[2].split()[0] != "S":
                return False
    return True


def state_of(process):
    """Its state as in proc(5), and whether a debugger is attached to it."""
    with open("/proc/%d/status" % process.pid, encoding="utf-8", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
    return fields["State"].split()[0], int(fields["TracerPid"]) != 0


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def answers(port):
    """Does a server take connections there?"""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def last_object(text):
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def function_of(site):
    """The innermost frame that is no inlined function, and no operator new on its way to malloc."""
    for frame in site["frames"]:
        name = frame["function"] or ""
        if not frame["inlined"] and not name.startswith("operator new"):
            # Where a compiler mangles the names of static functions, their arguments are part of them.
            return re.sub(r"\(.*", "", name) if name.startswith("site_") else frame["function"]
    return None


def sums(report, names):
    """Per function of `names`, summed over its stacks: [alloc_bytes, alloc_objects, free_bytes, free_objects]."""
    found = {}
    for site in report["sites"]:
        name = function_of(site)
        if name in names:
            figures = found.setdefault(name, [0, 0, 0, 0])
            for i, key in enumerate(("alloc_bytes", "alloc_objects", "free_bytes", "free_objects")):
                figures[i] += site[key]
    return found


def check_sums(report):
    """What must hold in every report: alloc - free = in use, and nothing is negative."""
    for row in report["sites"] + [report["totals"]]:
        for unit in ("bytes", "objects"):
            assert row["alloc_" + unit] - row["free_" + unit] == row["inuse_" + unit] >= 0, row


def check_losses(report, allowed=()):
    lost = {name: count for name, count in report["loss"].items()
            if count and name not in EXPECTED_LOSSES and name not in allowed}
    assert not lost, "lost: %s" % lost


def check_account(account, report, allowed=()):
    """The account of the target, which counts by itself, is the truth."""
    check_sums(report)
    check_losses(report, allowed)
    truth = {name: figures for name, figures in account.items() if any(figures)}
    assert sums(report, set(truth)) == truth, "counted %s, but it was %s" % (sums(report, set(truth)), truth)


def check_filtered(tracer, process):
    """A target with a seccomp filter lives on until its end; what it does is counted, unless the tracer has refused it."""
    wait_for(lambda: "ready" in tracer.stderr() or tracer.process.poll() is not None, "the tracer has decided")
    account = work(process)
    if tracer.process.poll() is None:
        check_account(account, json.loads(tracer.stop().splitlines()[-1]))
    else:
        assert tracer.process.returncode == 3 and "seccomp filter" in tracer.stderr(), tracer.stderr()
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


def programs_of(pid):
    """The ids of the BPF programs that a process holds."""
    found = set()
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, name), encoding="ascii", errors="replace") as file:
                found.update(int(number) for number in re.findall(r"^prog_id:\s*(\d+)", file.read(), re.M))
        except OSError:
            continue
    return found


def bpftool(*arguments):
    """What bpftool answers."""
    # What Ubuntu has in its place of the first two works for Ubuntu's kernels only.
    for program in ["bpftool", "/usr/sbin/bpftool"] + glob.glob("/usr/lib/linux-tools*/**/bpftool", recursive=True):
        if shutil.which(program) and not subprocess.run([program, "version"], capture_output=True, check=False).returncode:
            said = subprocess.run([program, "-j", *arguments], capture_output=True, check=True)
            return json.loads(said.stdout)
    raise Skip("bpftool is not installed")


def are_gone(programs):
    """Has the kernel removed all of these programs?"""
    listed = bpftool("prog", "list")
    return not programs & {program["id"] for program in listed}


class Group:
    """A cgroup of the test's own, of version 2 if there is any; with `account`, one whose memory the kernel counts."""

    def __init__(self, name, account=False):
        with open("/proc/mounts", encoding="utf-8") as file:
            mounts = [line.split() for line in file if line.split()[1].startswith("/sys/fs/cgroup")]
        chosen = [row[1] for row in mounts if account and row[2] == "cgroup" and "memory" in row[3].split(",")] or \
            [row[1] for row in mounts if row[2] == "cgroup2"]
        if not chosen:
            raise Skip("no cgroup2 below /sys/fs/cgroup")
        self.name, self.path = name, os.path.join(chosen[0], name)
        try:
            os.mkdir(self.path)
        except OSError as error:
            raise Skip("no cgroup can be made here: %s" % error) from error
        if account and not os.path.exists(os.path.join(self.path, "memory.stat")):
            os.rmdir(self.path)
            raise Skip("the kernel does not count the memory of a cgroup here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_all()
        for folder, _, _ in os.walk(self.path, topdown=False):
            wait_for(lambda folder=folder: self.remove(folder), "the cgroup is empty")

    @staticmethod
    def remove(folder):
        try:
            os.rmdir(folder)
        except OSError:
            return False
        return True

    def enter(self, pid, below=""):
        os.makedirs(os.path.join(self.path, below), exist_ok=True)
        with open(os.path.join(self.path, below, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(pid))

    def account(self):
        """Bytes that the kernel counts: usage, anonymous, of files."""
        def number(name):
            with open(os.path.join(self.path, name), encoding="ascii") as file:
                return file.read()
        old = os.path.exists(os.path.join(self.path, "memory.usage_in_bytes"))
        rows = dict(line.split() for line in number("memory.stat").splitlines())
        return [int(word) for word in ((number("memory.usage_in_bytes"), rows["total_rss"], rows["total_cache"]) if old
                                       else (number("memory.current"), rows["anon"], rows["file"]))]


def code_of(pid, library=r"libc\.so"):
    """The executable bytes of a library as they stand in a process: probes show in them."""
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as maps:
        for line in maps:
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) r-xp", line)
            if match and re.search(library, line):
                first, last = int(match.group(1), 16), int(match.group(2), 16)
                with open("/proc/%d/mem" % pid, "rb") as memory:
                    memory.seek(first)
                    return memory.read(last - first)
    raise AssertionError("process %d maps no %s" % (pid, library))


def file_code_of(pid, library=r"libc\.so"):
    """The same bytes as they stand in the library's file."""
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as maps:
        for line in maps:
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) r-xp ([0-9a-f]+)", line)
            if match and re.search(library, line):
                first, last, offset = (int(number, 16) for number in match.groups())
                with open("/proc/%d/map_files/%x-%x" % (pid, first, last), "rb") as file:
                    file.seek(offset)
                    return file.read(last - first)
    raise AssertionError("process %d maps no %s" % (pid, library))


def wait_for_code(pid, before):
    """Until the code is what it was before. Somebody else's `tracer -a` may have probes in it for a while: now, or before."""
    wait_for(lambda: code_of(pid) in (before, file_code_of(pid)), "the code is what it was, without a probe")


def private_root(folder, programs):
    """Fill a folder with copies of programs and of all libraries that they need, so that it can be a root of its own."""
    for name in ("proc", "sys", "tmp", "dev"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    for program in programs:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for path in re.findall(r"(/\S+) \(0x", listed):
            to = folder + path
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(path, to)
        shutil.copy(program, os.path.join(folder, os.path.basename(program)))


def start_in_root(folder, init):
    """Start a shell with these lines as the first process of a pid namespace, in a root that private_root() has filled."""
    with open(os.path.join(folder, "init"), "w", encoding="ascii") as file:
        file.write(init)
    unshare = need("unshare")
    if subprocess.run([unshare, "-m", "-p", "-f", "true"], capture_output=True, check=False).returncode:
        raise Skip("no namespaces can be made here")
    return start([unshare, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc=" + os.path.join(folder, "proc"), "sh", "-c",
                  'mount --rbind /sys "$0/sys" && mount --bind /dev "$0/dev" && exec chroot "$0" /sh /init', folder])


class PrivateRoot:
    """A machine of its own, as far as the tracer sees: a shell with the lines of `init`, which read commands from /commands, is the
    first process of a pid namespace, in a root that has nothing but copies of `programs`."""

    def __init__(self, folder, programs, init):
        self.folder, self.files = folder, []
        private_root(folder, [*programs, need("sh")])
        os.mkfifo(self.path("commands"))
        self.process = start_in_root(folder, init)
        self.commands = self.open("commands")

    def path(self, name):
        return os.path.join(self.folder, name)

    def open(self, name):
        """A pipe's end that waits for nobody."""
        self.files.append(os.fdopen(os.open(self.path(name), os.O_RDWR), "w", encoding="ascii", buffering=1))
        return self.files[-1]

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def send(self, command):
        self.commands.write(command + "\n")

    def close(self):
        for file in self.files:
            file.close()


def check_environment():
    if os.geteuid() != 0:
        raise Skip("root is needed")
    if not os.path.exists(TRACER):
        raise Skip("build/tracer is not built")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        raise Skip("the kernel has no BTF")


def run_tests():
    functions = [(name, function) for name, function in vars(sys.modules["__main__"]).items()
                 if name.startswith("test_") and callable(function)]
    chosen, failed = set(sys.argv[1:]), False
    for name in sorted(chosen - {name for name, _ in functions}):
        failed = True
        print("not ok %s no such test" % name)
    for name, function in functions:
        if chosen and name not in chosen:
            continue
        try:
            check_environment()
            function()
            print("ok %s" % name)
        except Skip as reason:
            print("skip %s %s" % (name, reason))
        except Exception:  # pylint: disable=broad-except
            failed = True
            traceback.print_exc(file=sys.stdout)
            print("not ok %s" % name)
        finally:
            end_all()
        sys.stdout.flush()
    sys.exit(failed)
