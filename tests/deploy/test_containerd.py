#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What containerd calls the control groups of its containers, by its own client."""
import os
import secrets
import subprocess

import guest_lab
import lab
import runtimes
from runtimes import APP


def ctr(*words):
    return guest_lab.call("ctr", *words)


def check(*options):
    """containerd takes any name for an id; clients such as nerdctl give it 64 hexadecimal digits."""
    lab.need("containerd")
    ident = secrets.token_hex(32)
    try:
        guest_lab.call("systemctl", "start", "containerd.service")
        ctr("image", "import", os.path.join(guest_lab.IMAGES, "app.tar"))
        ctr("run", "-d", *[option.replace("ID", ident) for option in options], APP, ident)
        runtimes.check_container_id(guest_lab.App(), ident)
    finally:
        subprocess.run(["ctr", "task", "kill", "-s", "KILL", ident], capture_output=True, check=False)
        guest_lab.wait_gone("app")
        subprocess.run(["ctr", "container", "rm", ident], capture_output=True, check=False)
        guest_lab.call("systemctl", "stop", "containerd.service")


def test_container_id_cgroupfs():
    check()


def test_container_id_systemd():
    check("--runc-systemd-cgroup", "--cgroup", "system.slice:cri-containerd:ID")


lab.run_tests()
