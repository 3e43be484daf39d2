# SPDX-License-Identifier: GPL-2.0-or-later
"""The root of a guest whose first process is systemd: a release of Debian with runtimes of containers, on a disk.

It is made once, by debootstrap from the mirror that this machine's apt uses, and kept beside the kernels. What is tested
comes on a second disk.
"""
import contextlib
import fcntl
import glob
import hashlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kernels"))
import image  # pylint: disable=wrong-import-position
import kernels  # pylint: disable=wrong-import-position
import machine  # pylint: disable=wrong-import-position,unused-import

FOLDER = os.path.join(kernels.CACHE, "guests")
PACKAGES = ("systemd", "systemd-sysv", "dbus", "kmod", "procps", "iproute2", "iptables", "nftables", "mount", "python3",
            "python3-yaml", "ca-certificates", "podman", "conmon", "catatonit", "crun", "runc", "netavark", "aardvark-dns",
            "containernetworking-plugins", "docker.io", "containerd", "apparmor", "etcd-server")
MORE = {"bookworm": (), "trixie": ("docker-cli",)}
KERNEL = "6.12"  # the first of those that ask for no more than what is deployed gives
SIZE = "8G"  # a sparse file; what containers write in a guest is not kept
# The tests are what is started, and when they have ended the machine stops.
SERVICE = """[Unit]
Requires=basic.target
After=basic.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
Environment=HOME=/root TERM=dumb LANG=C.UTF-8 TEST_SCALE=0.01
ExecStartPre=/bin/sh -c 'modprobe virtio_blk; until mount -o ro /dev/vda /tree; do sleep .2; done'
ExecStart=/tree/begin
ExecStopPost=/bin/systemctl poweroff --force
StandardOutput=file:/dev/ttyS0
StandardError=file:/dev/ttyS0
"""


@contextlib.contextmanager
def cache():
    """Only one at a time puts into the cache what is missing there."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield FOLDER


def check_environment():
    if os.geteuid():
        raise kernels.Unavailable("root is needed")
    for program in ("debootstrap", "apt-get", "dpkg", "mke2fs"):
        if not image.path_of(program):
            raise kernels.Unavailable("%s is not installed" % program)


def debootstrap(suite_name, packages, folder):
    """A small release in a folder; servers are not started for it."""
    with open(os.path.join(kernels.Suite(suite_name, "amd64").folder, "sources.list"), encoding="ascii") as file:
        mirror = file.read().split()[2]
    include = ["--include=" + ",".join(packages)] if packages else []
    # What it mounts and starts ends with it, even if it is killed.
    alone = [image.path_of("unshare") or "unshare", "--mount", "--mount-proc", "--pid", "--fork", "--kill-child"]
    done = subprocess.run([*alone, image.path_of("debootstrap"), "--variant=minbase", *include, suite_name, folder, mirror],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False)
    if done.returncode:
        raise kernels.Unavailable("debootstrap: " + (done.stdout.strip().splitlines() or ["no word"])[-1])
    for path in glob.glob(folder + "/var/cache/apt/archives/*.deb") + glob.glob(folder + "/var/lib/apt/lists/*_*"):
        os.unlink(path)


def configure(root, version):
    for folder in ("tree", "usr/lib/modules"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    for name, text in (("etc/hostname", "guest\n"), ("etc/hosts", "127.0.0.1 localhost guest\n"), ("etc/machine-id", ""),
                       ("etc/resolv.conf", ""), ("etc/systemd/system/tests.service", SERVICE)):
        path = os.path.join(root, name)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    kernels.extract_modules(KERNEL, "amd64", version, root)


def make_disk(suite_name, packages, version, disk):
    with tempfile.TemporaryDirectory(prefix="tracer-root-") as folder:
        root = os.path.join(folder, "root")
        debootstrap(suite_name, packages, root)
        configure(root, version)
        image.write_disk(root, disk + ".part", SIZE)
    os.rename(disk + ".part", disk)


def fetch(suite_name):
    """The paths of a kernel and of a disk for it, from the cache if they are there."""
    check_environment()
    kernel = kernels.fetch(KERNEL, "amd64")
    version = os.path.basename(kernel).split("-amd64-", 1)[1]
    packages = PACKAGES + MORE[suite_name]
    digest = hashlib.sha256("\n".join(packages + (version, SERVICE)).encode()).hexdigest()[:12]
    with cache() as folder:
        disk = os.path.join(folder, "%s-%s" % (suite_name, digest))
        if not os.path.exists(disk):
            for old in glob.glob(os.path.join(folder, suite_name + "-*")):
                os.unlink(old)
            make_disk(suite_name, packages, version, disk)
    return kernel, disk


def base_image(suite_name):
    """The tar file of a small release, which an image can begin with as it would with one of a registry."""
    check_environment()
    with cache() as folder:
        path = os.path.join(folder, "base-%s.tar" % suite_name)
        if not os.path.exists(path):
            with tempfile.TemporaryDirectory(prefix="tracer-base-") as work:
                root = os.path.join(work, "root")
                debootstrap(suite_name, ("ca-certificates",), root)
                subprocess.run(["tar", "-C", root, "-cf", path + ".part", "."], check=True)
            os.rename(path + ".part", path)
    return path
