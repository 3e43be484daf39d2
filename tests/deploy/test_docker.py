#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The image of deploy/Containerfile, run by Docker; and what Docker calls the control groups of its containers."""
import os
import subprocess

import guest_lab
import lab
import runtimes
from runtimes import APP, TRACER

OPTIONS = "/run/systemd/system/docker.service.d/options.conf"


def docker(*words):
    return guest_lab.call("docker", *words)


def run_app(*options):
    """With the daemon as the system has it, and these options of it. Returns the container's id, too."""
    os.makedirs(os.path.dirname(OPTIONS), exist_ok=True)
    with open(OPTIONS, "w", encoding="ascii") as file:
        file.write("[Service]\nExecStart=\nExecStart=%s -H fd:// %s\n" % (lab.need("dockerd"), " ".join(options)))
    guest_lab.call("systemctl", "daemon-reload")
    guest_lab.call("systemctl", "start", "docker.service")
    for name in ("app", "tracer"):
        docker("load", "-q", "-i", os.path.join(guest_lab.IMAGES, name + ".tar"))
    docker("tag", TRACER, "tracer")
    ident = docker("run", "-d", "--name", "app", APP).strip()
    return guest_lab.App(), ident


def clean():
    lab.end_all()
    for ident in docker("ps", "-a", "-q").split():
        subprocess.run(["docker", "rm", "-f", ident], capture_output=True, check=False)
    guest_lab.call("systemctl", "stop", "docker.socket", "docker.service", "containerd.service")
    guest_lab.wait_gone("tracer")
    guest_lab.wait_gone("app")


def test_beside_a_container():
    """As the Containerfile says: without --user, and with an older capability for two that an older Docker does not know."""
    try:
        app, _ = run_app()
        command, options = runtimes.documented()
        at = command.index("--user")
        command = ["docker"] + [word.replace("NAME", "app") for word in command[1:at] + command[at + 2:]]
        capabilities = guest_lab.LEAST
        if int(docker("version", "-f", "{{.Server.Version}}").split(".")[0]) < 23:
            command = [word.replace("PERFMON", "SYS_ADMIN") for word in command]
            command[command.index("BPF") - 1:command.index("BPF") + 1] = []
            capabilities = ("SYS_ADMIN", "SYS_PTRACE")
        runtimes.check(app, tuple(command), tuple(options), capabilities, 0)
    finally:
        clean()


def test_container_id_systemd():
    try:
        runtimes.check_container_id(*run_app("--exec-opt", "native.cgroupdriver=systemd"))
    finally:
        clean()


def test_container_id_cgroupfs():
    try:
        runtimes.check_container_id(*run_app("--exec-opt", "native.cgroupdriver=cgroupfs"))
    finally:
        clean()


lab.run_tests()
