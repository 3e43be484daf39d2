#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The image of deploy/Containerfile and the manifests of deploy/kubernetes, run by Podman."""
import os
import re
import subprocess
import tempfile

import yaml

import guest_lab
import lab
import runtimes
from runtimes import APP, TRACER


def podman(*words):
    return guest_lab.call("podman", *words)


def load():
    if not subprocess.run(["podman", "image", "exists", APP], check=False).returncode:
        return
    for name in ("app", "tracer"):
        podman("load", "-q", "-i", os.path.join(guest_lab.IMAGES, name + ".tar"))
    podman("tag", TRACER, "tracer")


def clean():
    lab.end_all()
    subprocess.run(["podman", "pod", "rm", "-f", "-a"], capture_output=True, check=False)

    def remove():
        # A container whose namespace another one has is the last to go.
        subprocess.run(["podman", "rm", "-f", "-a", "-t", "0"], capture_output=True, check=False)
        return not podman("ps", "-a", "-q").strip()
    lab.wait_for(remove, "no container is left")
    guest_lab.wait_gone("tracer")
    guest_lab.wait_gone("app")


def run_app(*words):
    load()
    podman("run", "-d", "--name", "app", *words, APP)
    return guest_lab.App()


def test_beside_a_container():
    """As the Containerfile says."""
    try:
        app = run_app()
        command, options = runtimes.documented()
        command = tuple(word.replace("NAME", "app") for word in command)
        runtimes.check(app, command, tuple(options), guest_lab.LEAST, 65534)
    finally:
        clean()


def test_with_the_pids_of_the_host():
    try:
        app = run_app()
        command, _ = runtimes.documented()
        command = tuple(word if not word.startswith("--pid=") else "--pid=host" for word in command)
        runtimes.check(app, command[:2] + ("--read-only",) + command[2:], ("-p", str(app.pid)), guest_lab.LEAST, 65534, True)
    finally:
        clean()


def test_a_process_of_the_host():
    """AppArmor's profile for containers lets them look at one another only; what is written to be done about it does."""
    load()
    try:
        app = guest_lab.start_service()
        command, _ = runtimes.documented()
        command = tuple(word if not word.startswith("--pid=") else "--pid=host" for word in command)
        if guest_lab.has_apparmor():
            tracer = runtimes.Foreground(command[:2] + runtimes.UNCONFINED + command[2:] + ("-p", str(app.pid)))
            assert tracer.process.wait(timeout=lab.PATIENCE) == 3 and "AppArmor" in tracer.said(), tracer.said()
            command = command[:2] + ("--security-opt", "apparmor=unconfined") + command[2:]
        runtimes.check(app, command, ("-p", str(app.pid)), guest_lab.LEAST, 65534)
    finally:
        subprocess.run(["systemctl", "stop", "app.service"], capture_output=True, check=False)
        clean()


def test_in_a_pod():
    """With the network and the pids of a pod, read-only, as a user other than root."""
    load()
    try:
        podman("pod", "create", "--name", "pod", "--share", "pid,net,ipc")
        podman("run", "-d", "--pod", "pod", "--name", "app", APP)
        app = guest_lab.App()
        command, _ = runtimes.documented()
        command = [word for word in command if not word.startswith("--pid=")]
        runtimes.check(app, tuple(command[:2] + ["--pod", "pod", "--read-only"] + command[2:]), ("--comm", "app"), guest_lab.LEAST,
              65534, True)
    finally:
        clean()


def check_container_id(manager, *words):
    load()
    try:
        ident = podman("--cgroup-manager", manager, "run", "-d", "--name", "app", *words, APP).strip()
        app = guest_lab.App()
        runtimes.check_container_id(app, ident)
    finally:
        clean()


def test_container_id_systemd():
    check_container_id("systemd")


def test_container_id_cgroupfs():
    check_container_id("cgroupfs")


def test_container_id_runc():
    check_container_id("systemd", "--runtime", "/usr/sbin/runc")


def play(manifest, tracer_name):
    """
    Run a manifest. Where the default profile of seccomp is in the way, its type is to be Unconfined, the manifest says;
    Podman takes that from an annotation only.
    """
    pod = yaml.safe_load(manifest)
    for _ in range(2):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(manifest)
            file.flush()
            podman("play", "kube", file.name)

        def said():
            return subprocess.run(["podman", "logs", tracer_name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False).stdout
        lab.wait_for(lambda: re.search("tracer: ready|seccomp", said()), "the tracer has decided")
        if "tracer: ready" in said():
            return said
        refused = said()
        print("note the default seccomp profile is in the way")
        podman("pod", "rm", "-f", "-a")
        pod["metadata"]["annotations"] = {"container.seccomp.security.alpha.kubernetes.io/tracer": "unconfined"}
        manifest = yaml.safe_dump(pod)
    raise AssertionError("the tracer is refused: " + refused)


def finish(app, said, tracer_name, account):
    podman("stop", "-t", "60", tracer_name)
    report = guest_lab.last_report(said())
    guest_lab.check_old(account, report)
    assert len(report["targets"]) == 1, report["targets"]
    assert podman("inspect", "-f", "{{.State.ExitCode}}", tracer_name).strip() == "0"
    app.check_left_alone()


def test_sidecar():
    """deploy/kubernetes/sidecar.yaml as it is."""
    load()
    try:
        said = play(guest_lab.deployed("kubernetes/sidecar.yaml"), "app-with-tracer-tracer")
        app = guest_lab.App()
        guest_lab.check_confined(guest_lab.LEAST, 0, None)
        finish(app, said, "app-with-tracer-tracer", guest_lab.work(app, old=True))
    finally:
        clean()


def test_daemonset():
    """The pods of deploy/kubernetes/daemonset.yaml: of older versions, Podman does not know the kind itself."""
    load()
    template = yaml.safe_load(guest_lab.deployed("kubernetes/daemonset.yaml"))["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], "name": "tracer"}, "spec": template["spec"]}
    try:
        podman("run", "-d", "--name", "app", APP)
        app = guest_lab.App()
        said = play(yaml.safe_dump(pod), "tracer-tracer")
        if os.readlink("/proc/%d/ns/pid" % guest_lab.tracer_pid()) != os.readlink("/proc/self/ns/pid"):
            raise lab.Skip("this version of Podman gives hostPID to no pod")
        guest_lab.check_confined(guest_lab.REPLACED, 0, None)
        finish(app, said, "tracer-tracer", guest_lab.work(app, old=True))
    finally:
        clean()


lab.run_tests()
