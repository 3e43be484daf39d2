#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets with a root, a pid namespace and a C library of their own, and the tracer outside, beside or within."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import lab

LEAST = "-all,+bpf,+perfmon,+sys_ptrace"


def namespaces():
    unshare = lab.need("unshare")
    if subprocess.run([unshare, "-m", "-p", "-f", "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no namespaces can be made here")
    return unshare


class Container:
    """The target as the first process of a pid namespace, as a user without privileges, in a root of its own."""

    def __init__(self, folder, overlay=False):
        self.folder, self.image = folder, os.path.join(folder, "image")
        self.root = os.path.join(folder, "merged") if overlay else self.image
        os.mkdir(self.image)
        os.chmod(folder, 0o755)
        lab.private_root(self.image, [lab.target("known")])
        mount = "mount --bind %s %s" % (self.image, self.image)
        if overlay:
            for name in ("over", "merged"):
                os.mkdir(os.path.join(folder, name))
            mount = ("cd %s && mount -t tmpfs over over && mkdir over/upper over/work && mount -t overlay overlay -o "
                     "lowerdir=image,upperdir=over/upper,workdir=over/work merged" % folder)
            probe = subprocess.run([namespaces(), "-m", "sh", "-c", mount], capture_output=True, text=True, check=False)
            if probe.returncode:
                raise lab.Skip("no overlay can be made here: " + probe.stderr.strip())
        script = "%s && mount -t proc proc %s/proc && exec %s %s 1000 0 /known calls wait" % (
            mount, self.root, lab.target("enter"), self.root)
        self.outer = lab.start([namespaces(), "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script])
        lab.wait_for(self.find, "the target runs")
        lab.wait_for(lambda: lab.is_reading(self), "the target waits")

    def find(self):
        assert self.outer.poll() is None, self.outer.communicate()
        with open("/proc/%d/task/%d/children" % (self.outer.pid, self.outer.pid), encoding="ascii") as file:
            children = file.read().split()
        self.pid = int(children[0]) if children else 0
        try:
            return self.pid and os.readlink("/proc/%d/exe" % self.pid).endswith("/known")
        except OSError:
            return False

    def find_library(self):
        with open("/proc/%d/maps" % self.pid, encoding="utf-8") as maps:
            found = re.search(r"/\S*libc\.so\S*", maps.read())
        return found.group(0)

    def go(self):
        return lab.work(self.outer)

    def end(self):
        lab.end(self.outer)


def libraries(report):
    return {frame["module"] for site in report["sites"] for frame in site["frames"] if frame["module"]}


def test_from_outside():
    for overlay in (False, True):
        with tempfile.TemporaryDirectory(prefix="tracer-container-") as folder:
            container = Container(folder, overlay)
            tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", container.pid, "3600")
            account = container.go()
            report = json.loads(tracer.stop())
            # Its C library is another file than ours: probes in ours would have counted nothing.
            lab.check_account(account, report)
            assert report["targets"][0]["pid"] == container.pid
            files = {name for site in report["sites"] for frame in site["frames"] for name in [frame["file"]] if name}
            assert any(name.endswith("known.c") for name in files), files
            container.end()


def test_library_replaced_in_the_container():
    """As an upgrade does it: the target keeps the old file, which has no name any more."""
    with tempfile.TemporaryDirectory(prefix="tracer-container-") as folder:
        container = Container(folder)
        for top, _, names in os.walk(container.image):
            for name in names:
                if name.startswith("libc.so"):
                    path = os.path.join(top, name)
                    shutil.copy(path, path + ".new")
                    os.rename(path + ".new", path)
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", container.pid, "3600")
        account = container.go()
        lab.check_account(account, json.loads(tracer.stop()))
        container.end()


def test_copied_up_library():
    """An overlay gives a file that is written to a new identity, and whoever has mapped it keeps the old one."""
    with tempfile.TemporaryDirectory(prefix="tracer-container-") as folder:
        container = Container(folder, overlay=True)
        os.utime("/proc/%d/root%s" % (container.pid, container.find_library()))
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", container.pid, "3600", ready=False)
        lab.wait_for(lambda: "ready" in tracer.stderr() or tracer.process.poll() is not None, "the tracer has decided")
        account = container.go()
        if tracer.process.poll() is None:
            lab.check_account(account, json.loads(tracer.stop()))
        else:
            # Numbers are right, or there are none; never zero where there was something.
            assert tracer.process.returncode == 5 and "libc.so.6" in tracer.stderr(), tracer.stderr()
        container.end()


def test_command_on_an_overlay():
    """What is mapped there has another identity for the kernel than for /proc, yet stacks are whole from the first call on."""
    with tempfile.TemporaryDirectory(prefix="tracer-overlay-") as folder:
        for name in ("image", "over", "merged"):
            os.mkdir(os.path.join(folder, name))
        shutil.copy(lab.target("known"), os.path.join(folder, "image"))
        mount = ("cd %s && mount -t tmpfs over over && mkdir over/upper over/work && mount -t overlay overlay -o "
                 "lowerdir=image,upperdir=over/upper,workdir=over/work merged" % folder)
        if subprocess.run([namespaces(), "-m", "sh", "-c", mount], capture_output=True, check=False).returncode:
            raise lab.Skip("no overlay can be made here")
        report = os.path.join(folder, "report")
        script = "%s && exec %s -q -j -n 0 -o %s -- merged/known jumps" % (mount, lab.TRACER, report)
        done = subprocess.run([namespaces(), "-m", "sh", "-c", script], capture_output=True, text=True, check=False,
                              timeout=lab.PATIENCE)
        assert done.returncode == 0, done.stderr
        with open(report, encoding="utf-8") as file:
            found = json.load(file)
        lab.check_account(lab.last_object(done.stdout), found, ("returns_unmatched",))
        assert found["loss"]["stack_unmapped"] == 0, found["loss"]


def test_same_pid_in_two_namespaces():
    with tempfile.TemporaryDirectory(prefix="tracer-container-") as first, \
         tempfile.TemporaryDirectory(prefix="tracer-container-") as second:
        containers = [Container(first), Container(second)]
        pids = [container.pid for container in containers]
        # In their namespaces, both are process 1.
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", "%d,%d" % tuple(pids), "3600")
        account = containers[0].go()
        tracer.process.send_signal(signal.SIGUSR1)
        report = json.loads(tracer.process.stdout.readline())
        lab.check_account(account, report)
        assert {site["pid"] for site in report["sites"]} == {pids[0]}
        account = containers[1].go()
        report = json.loads(tracer.stop().splitlines()[-1])
        lab.check_account(account, {**report, "sites": [site for site in report["sites"] if site["pid"] == pids[1]]})
        for container in containers:
            container.end()


def inside(container, command, proc="/proc"):
    """A command within the pid namespace of the container, with a /proc of that namespace."""
    script = "mount -t proc proc %s && exec %s" % (proc, " ".join(command))
    return [lab.need("nsenter"), "-t", str(container.pid), "-p", "--", namespaces(), "-m", "sh", "-c", script]


def sidecar(folder):
    tracer = os.path.join(folder, "tracer")
    shutil.copy(lab.TRACER, tracer)
    os.chmod(tracer, 0o755)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--inh-caps=" + LEAST,
            "--ambient-caps=" + LEAST, "--bounding-set=" + LEAST, tracer]


def report_of(container, folder, command):
    """What a tracer reports that is started, perhaps by others, by this command."""
    messages = open(os.path.join(folder, "messages"), "w+", encoding="utf-8")
    tracer = lab.start(command, stderr=messages)

    def said():
        return lab.written(messages)
    lab.wait_for(lambda: "tracer: ready" in said() or tracer.poll() is not None, "the tracer is ready")
    assert tracer.poll() is None, said()
    account = container.go()
    # nsenter has a child, which is the tracer.
    with open("/proc/%d/task/%d/children" % (tracer.pid, tracer.pid), encoding="ascii") as file:
        os.kill(int((file.read().split() if "nsenter" in command[0] else [tracer.pid])[0]), signal.SIGINT)
    output, _ = tracer.communicate(timeout=lab.PATIENCE)
    messages.close()
    return account, json.loads(output.splitlines()[-1])


def sidecar_report(container, folder, *options):
    return report_of(container, folder, inside(container, sidecar(folder) + ["-v", "-j", "-n", "0", *options, "3600"]))


def test_sidecar():
    """In the target's pid namespace, as nobody, with three capabilities and no way to more."""
    if lab.run("--backend", "multi", "-d", "1ms", "--", "true")[0]:
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    with tempfile.TemporaryDirectory(prefix="tracer-container-") as folder, \
         tempfile.TemporaryDirectory(prefix="tracer-container-") as other:
        container, stranger = Container(folder), Container(other)
        account, report = sidecar_report(container, folder, "-p", "1")
        lab.check_account(account, report)
        # The pid that was given, and that the target has for itself.
        assert [target["pid"] for target in report["targets"]] == [1], report["targets"]
        assert {site["pid"] for site in report["sites"]} == {1}
        container.end()
        stranger.end()


def test_sidecar_by_name():
    if lab.run("--backend", "multi", "-d", "1ms", "--", "true")[0]:
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    with tempfile.TemporaryDirectory(prefix="tracer-container-") as folder, \
         tempfile.TemporaryDirectory(prefix="tracer-container-") as other:
        # One of the same name in another namespace is not seen.
        container, stranger = Container(folder), Container(other)
        account, report = sidecar_report(container, folder, "--comm", "known")
        lab.check_account(account, report)
        assert [target["pid"] for target in report["targets"]] == [1], report["targets"]
        container.end()
        stranger.end()


NUMBERS = {"DAC_READ_SEARCH": 2, "SYS_PTRACE": 19, "PERFMON": 38, "BPF": 39, "CHECKPOINT_RESTORE": 40}


def deployed(name, pattern):
    """The capabilities that a file of deploy/ gives, as a mask."""
    with open(os.path.join(lab.TOP, "deploy", name), encoding="utf-8") as file:
        given = re.search(pattern, file.read(), re.M).group(1)
    return "%x" % sum(1 << NUMBERS[word.replace("CAP_", "")] for word in re.findall(r"[A-Z_]+", given))


def image(folder):
    """A root with the static tracer and nothing else, mounted over itself; the shell commands that do it."""
    static = os.path.join(lab.TOP, "build/tracer-static")
    if not os.path.exists(static):
        raise lab.Skip("build/tracer-static is not built")
    root = os.path.join(folder, "tracer-image")
    for name in ("proc", "sys"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(static, os.path.join(root, "tracer"))
    os.chmod(os.path.join(root, "tracer"), 0o755)
    return root, "mount --bind %s %s && mount --rbind /sys %s/sys" % (root, root, root)


def check_deployed(capabilities, user, shared):
    """The image as it is deployed: beside the target (`shared`), or with all of the machine in sight."""
    if lab.run("--backend", "multi", "-d", "1ms", "--", "true")[0]:
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    with tempfile.TemporaryDirectory(prefix="tracer-container-") as folder:
        container = Container(folder)
        root, mounts = image(folder)
        pid = 1 if shared else container.pid
        command = [lab.target("enter"), root, str(user), capabilities, "/tracer", "-j", "-n", "0", "-p", str(pid), "3600"]
        script = "%s && mount -t proc proc %s/proc && exec %s" % (mounts, root, " ".join(command))
        start = [namespaces(), "-m", "sh", "-c", script]
        if shared:
            start = [lab.need("nsenter"), "-t", str(container.pid), "-p", "--"] + start
        account, report = report_of(container, folder, start)
        lab.check_account(account, report)
        assert [target["pid"] for target in report["targets"]] == [pid], report["targets"]
        container.end()


def test_deployed_as_a_sidecar():
    check_deployed(deployed("kubernetes/sidecar.yaml", r"add: \[(.*)\]"), 0, True)


def test_deployed_on_a_node():
    check_deployed(deployed("kubernetes/daemonset.yaml", r"add: \[(.*)\]"), 0, False)


def test_deployed_as_a_service():
    check_deployed(deployed("systemd/tracer@.service", r"^AmbientCapabilities=(.*)$"), 65534, False)


def test_deployed_as_the_containerfile_says():
    with open(os.path.join(lab.TOP, "deploy/Containerfile"), encoding="utf-8") as file:
        given = " ".join(re.findall(r"--cap-add (\S+)", file.read()))
    check_deployed("%x" % sum(1 << NUMBERS[word] for word in given.split()), 65534, True)


lab.run_tests()
