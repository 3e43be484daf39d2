# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests within a guest share: the traced program of a container or a service, and what can be seen of a tracer
from outside of whatever it runs in.

The program is tests/targets/known.c by the name of "app". It waits for a line in the pipe go of its folder, writes its own
account of what it has allocated to a file beside it, and waits until it is ended.
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
import lab  # pylint: disable=wrong-import-position

lab.PATIENCE = 600  # an emulator is slow, and what a container needs is much code
lab.TRACER = os.path.join(lab.TOP, "build/tracer-static")
IMAGES = os.environ.get("DEPLOY_IMAGES", "/tree/images")
NUMBERS = {"DAC_READ_SEARCH": 2, "SYS_PTRACE": 19, "SYS_ADMIN": 21, "PERFMON": 38, "BPF": 39, "CHECKPOINT_RESTORE": 40}
LEAST = ("BPF", "PERFMON", "SYS_PTRACE")
REPLACED = LEAST + ("DAC_READ_SEARCH", "CHECKPOINT_RESTORE")
# What a container of the app's image executes; it is the image's own command, too.
APP = ["/dash", "-c", "/mkfifo /tmp/go && exec /app calls wait <>/tmp/go >/tmp/account"]
AGE = 61  # seconds; what is deployed looks at blocks that are a minute old


def deployed(name):
    with open(os.path.join(lab.TOP, "deploy", name), encoding="utf-8") as file:
        return file.read()


def call(*command, **options):
    """Run a command that must succeed; returns what it prints."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=lab.PATIENCE, **options)
    assert done.returncode == 0, "%s: %d\n%s%s" % (" ".join(map(str, command)), done.returncode, done.stdout, done.stderr)
    return done.stdout


def pids_of(comm):
    """Processes of this name, that are not children of another one of this name."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            if name == comm and rest.split()[0] != "Z":
                parents[int(pid)] = int(rest.split()[1])
    return sorted(pid for pid, parent in parents.items() if parent not in parents)


def wait_gone(comm):
    lab.wait_for(lambda: not pids_of(comm), "no process %s is left" % comm)


def status_of(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8", errors="replace") as file:
        return dict(re.findall(r"^(\w+):\s*(.*)$", file.read(), re.M))


def code_in_file(pid):
    """What lab.code_of() returns where there is no probe."""
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as maps:
        first, last, offset = re.search(r"^(\w+)-(\w+) r-xp (\w+) \S+ \S+ +\S*libc\.so", maps.read(), re.M).groups()
    with open("/proc/%d/map_files/%s-%s" % (pid, first.lstrip("0"), last.lstrip("0")), "rb") as file:
        file.seek(int(offset, 16))
        return file.read(int(last, 16) - int(first, 16))


class App:
    """The one running process of the name."""

    def __init__(self, others=()):
        self.others, self.pid = set(others), 0
        lab.wait_for(self.find, "the target waits")
        self.root = "/proc/%d/root" % self.pid + "/tmp"

    def find(self):
        pids = [pid for pid in pids_of("app") if pid not in self.others]
        with open("/proc/%d/syscall" % pids[0], encoding="ascii") if pids else open(os.devnull, encoding="ascii") as file:
            waits = file.read().startswith("0 0x0 ")
        self.pid = pids[0] if pids else 0
        return len(pids) == 1 and waits

    def is_probed(self):
        """Probes are breakpoints that the file does not have."""
        return lab.code_of(self.pid) != code_in_file(self.pid)

    def go(self):
        """Have it allocate; returns its account."""
        # Not open(), which would offer to make a file; in a folder that all may write to, others' pipes are not for that.
        pipe = os.open(self.root + "/go", os.O_WRONLY)
        os.write(pipe, b"go\n")
        os.close(pipe)

        def said():
            with open(self.root + "/account", encoding="ascii") as file:
                return file.read()
        lab.wait_for(lambda: said().endswith("}\n"), "the target has done its work")
        return json.loads(said())

    def check_left_alone(self):
        wait_gone("tracer")
        assert not self.is_probed(), "the code of the target is not what it was"
        assert os.path.exists("/proc/%d" % self.pid), "the target has ended"


def start_service():
    """The target as app.service, with a user of its own, whose memory root alone may look at."""
    shutil.copy(lab.target("known"), "/usr/local/bin/app")
    if subprocess.run(["/usr/local/bin/app"], capture_output=True, check=False).returncode not in (0, 1, 2):
        raise lab.Skip("the C library here is older than what the target was linked with")
    folder = "/tmp/app"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.mkfifo(folder + "/go")
    for name in ("", "/go"):
        shutil.chown(folder + name, "games")
    call("systemd-run", "-q", "--unit=app", "--uid=games", "sh", "-c",
         "cd %s && exec /usr/local/bin/app calls wait <>go >account" % folder)
    app = App()
    app.root = folder
    return app


def apparmor_of(pid):
    """Its profile, or that there is none."""
    try:
        with open("/proc/%d/attr/current" % pid, encoding="utf-8") as file:
            return file.read().strip("\0\n")
    except OSError:
        return "none"


def has_apparmor():
    try:
        with open("/sys/module/apparmor/parameters/enabled", encoding="ascii") as file:
            return file.read().strip() == "Y"
    except OSError:
        return False


def mask(capabilities):
    return sum(1 << NUMBERS[name] for name in capabilities)


def tracer_pid():
    pids = []

    def find():
        pids[:] = pids_of("tracer")
        return len(pids) == 1
    lab.wait_for(find, "there is one tracer")
    return pids[0]


def check_confined(capabilities, user=None, seccomp=True, read_only=True):
    """
    The tracer has these capabilities and no way to others; once it traces it has given up those it does not need any
    more. `user` is the user's number, or None for any but root. `seccomp`: is there a filter? None where that is no matter.
    """
    pid = tracer_pid()
    status = status_of(pid)
    print("note user %s, effective %s, bounding %s, seccomp %s, AppArmor %s" % (
        status["Uid"].split()[0], status["CapEff"], status["CapBnd"], status["Seccomp"], apparmor_of(pid)))
    given = mask(capabilities)
    for name in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"):
        assert int(status[name], 16) & ~given == 0, "%s is %s, and %x was given" % (name, status[name], given)
    assert int(status["CapEff"], 16), "it should still have what it needs to look at targets"
    assert status["NoNewPrivs"] == "1", status["NoNewPrivs"]
    found = {int(number) for number in status["Uid"].split()}
    assert found == {user} if user is not None else 0 not in found, status["Uid"]
    assert seccomp is None or (status["Seccomp"] == "2") == seccomp, status["Seccomp"]
    with open("/proc/%d/mountinfo" % pid, encoding="utf-8") as file:
        root = [line.split() for line in file if line.split()[4] == "/"][-1]
    assert ("ro" in root[5].split(",")) == read_only, root


def last_report(text):
    lines = [line[line.index("{"):] for line in text.splitlines() if '{"schema"' in line or '{ "schema"' in line]
    assert lines, "no report in:\n" + text
    return json.loads(lines[-1])


def wait_ready(said, running=lambda: True):
    """`said` returns what the tracer has said so far."""
    lab.wait_for(lambda: "tracer: ready" in said() or not running(), "the tracer is ready")
    assert "tracer: ready" in said(), said()


def work(app, old=False):
    """The target does its work while it is traced; `old`: until its blocks are a minute old. Returns its account."""
    lab.wait_for(app.is_probed, "there are probes in the target")
    account = app.go()
    if old:
        time.sleep(AGE)
    return account


def check_old(account, report):
    """With --min-age, of blocks that ended younger nothing is counted; of the others all is, by the target's account."""
    old = {name: [figures[0] - figures[2], figures[1] - figures[3], 0, 0] for name, figures in account.items()}
    lab.check_account(old, report)


def host_tracer(*options):
    """A tracer that is in no container."""
    return lab.Tracer("-j", "-n", "0", *options, "3600")
