# SPDX-License-Identifier: GPL-2.0-or-later
"""The images that containers of a guest are made of: deploy/Containerfile's, built for real, and one of a target.

They are built here, because a guest has neither a network nor the speed, in a store of podman's that is removed. No
registry is asked: the release that the Containerfile begins with is made by debootstrap and takes the name.
"""
import json
import os
import re
import subprocess
import sys

import roots
from roots import image, kernels

sys.path.insert(0, os.path.join(image.TOP, "tests/live"))
import lab  # pylint: disable=wrong-import-position

TRACER, APP = "registry.example/tracer:1", "registry.example/app:1"  # as deploy/kubernetes calls them
# What a container of the target executes; tests/deploy/guest_lab.py talks to it.
COMMAND = ["/dash", "-c", "/mkfifo /tmp/go && exec /app calls wait <>/tmp/go >/tmp/account"]


class Store:
    """Images in a folder of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.command = ["podman", "--root", folder + "/images", "--runroot", folder + "/run", "--storage-driver", "vfs",
                        "--cgroup-manager", "cgroupfs", "--events-backend", "none", "--tmpdir", folder + "/libpod"]
        os.mkdir(folder + "/tmp")

    def call(self, *words, **options):
        done = subprocess.run([*self.command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "TMPDIR": self.folder + "/tmp"}, **options)
        if done.returncode:
            raise RuntimeError("podman %s: %s" % (words[0], done.stdout[-3000:]))
        return done.stdout


def build_tracer(store):
    """As the first line of the Containerfile says. Commands of the build are run in a root only: the rest takes more than
    a machine may have that is itself confined, and makes no difference to the image."""
    path = os.path.join(image.TOP, "deploy/Containerfile")
    with open(path, encoding="utf-8") as file:
        base = re.search(r"^FROM (\S+/debian:(\w+)-slim)", file.read(), re.M)
    store.call("import", roots.base_image(base.group(2)), base.group(1))
    store.call("build", "--pull=never", "--isolation=chroot", "-f", "deploy/Containerfile", "-t", "tracer", ".", cwd=image.TOP)
    store.call("tag", "tracer", TRACER)


def build_app(store):
    """The target with a C library of its own, as a user without privileges."""
    root = os.path.join(store.folder, "app")
    shell, pipe = os.path.join(store.folder, "dash"), image.path_of("mkfifo")
    os.makedirs(root)
    os.symlink(image.path_of("dash"), shell)
    lab.private_root(root, [lab.target("known"), shell, pipe])
    os.rename(root + "/known", root + "/app")
    os.chmod(root + "/tmp", 0o1777)
    subprocess.run(["tar", "-C", root, "--owner=0", "--group=0", "-cf", root + ".tar", "."], check=True)
    store.call("import", "--change", "CMD " + json.dumps(COMMAND), "--change", "USER 1000", root + ".tar", APP)


def build(folder, to):
    """Leave tracer.tar and app.tar in the folder `to`; `folder` is room for work."""
    if not image.path_of("podman"):
        raise kernels.Unavailable("podman is not installed")
    if not image.path_of("dash"):
        raise kernels.Unavailable("dash is not installed")
    store = Store(folder)
    build_app(store)
    build_tracer(store)
    for name, title in (("tracer", TRACER), ("app", APP)):
        store.call("save", "-o", os.path.join(to, name + ".tar"), title)
