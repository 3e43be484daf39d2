# SPDX-License-Identifier: GPL-2.0-or-later
"""A tracer in a container that is run as deploy/Containerfile says, by whatever has the command line of Podman."""
import re
import shlex
import signal
import tempfile

import guest_lab
import lab

APP, TRACER = "registry.example/app:1", "registry.example/tracer:1"
UNCONFINED = ("--security-opt", "seccomp=unconfined")


class Foreground:
    """A tracer that `podman run` shows to whoever called it."""

    def __init__(self, command):
        # pylint: disable=consider-using-with
        self.messages, self.output = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = lab.start(command, stdout=self.output, stderr=self.messages)

    def said(self):
        self.messages.seek(0)
        return self.messages.read()

    def wait_ready(self):
        guest_lab.wait_ready(self.said, lambda: self.process.poll() is None)

    def stop(self):
        """As Ctrl-C does it."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=lab.PATIENCE)
        assert status == 0, "%d: %s" % (status, self.said())
        self.output.seek(0)
        return self.output.read()


def allowed_by_seccomp(*command):
    """
    The command, by which seccomp lets the tracer trace. Profiles from before 2025 have CAP_SYS_ADMIN only; there the
    tracer must say what is in its way, and what is written to be done about it must do.
    """
    tracer = Foreground(command)
    lab.wait_for(lambda: "tracer: ready" in tracer.said() or tracer.process.poll() is not None, "the tracer has decided")
    if tracer.process.poll() is None:
        tracer.stop()
        return command
    assert tracer.process.returncode == 3 and "seccomp" in tracer.said(), (tracer.process.returncode, tracer.said())
    print("note the default seccomp profile is in the way")
    at = command.index("run") + 1
    return command[:at] + UNCONFINED + command[at:]


def check(app, command, options, capabilities, user=None, read_only=False):
    """`options` are the tracer's, after those of the command that is allowed to trace."""
    command = allowed_by_seccomp(*command, *options)
    tracer = Foreground(command + ("-j", "-n", "0"))
    tracer.wait_ready()
    guest_lab.check_confined(capabilities, user, UNCONFINED[1] not in command, read_only)
    account = guest_lab.work(app)
    lab.check_account(account, guest_lab.last_report(tracer.stop()))
    app.check_left_alone()


def documented():
    """What the Containerfile says is to be called, without the tracer's own options."""
    text = guest_lab.deployed("Containerfile")
    lines = re.search(r"^#\s+(podman run .*\\)\n#\s+(.*)$", text, re.M)
    words = shlex.split(lines.group(1).rstrip("\\") + lines.group(2))
    return words[:words.index("tracer") + 1], words[words.index("tracer") + 1:]


def check_container_id(app, ident):
    """A tracer outside finds the container by what its runtime calls its control group."""
    with open("/proc/%d/cgroup" % app.pid, encoding="utf-8") as file:
        print("note " + file.read().strip())
    tracer = guest_lab.host_tracer("--container", ident[:12])
    account = guest_lab.work(app)
    report = guest_lab.last_report(tracer.stop())
    lab.check_account(account, report)
    assert [each["pid"] for each in report["targets"]] == [app.pid], report["targets"]
    app.check_left_alone()
