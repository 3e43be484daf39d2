#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Build for another architecture: tests/kernels/cross.py ARCHITECTURE

The program and the programs of the tests go to build/ARCHITECTURE. They are linked with libraries of Debian's packages
for that architecture, which are unpacked in the cache of kernels.py; a guest's programs are there, too. The machine
itself is given no packages and no architecture.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

import image
import kernels

SUITE = "bookworm"
COMPILERS = {"arm64": "aarch64-linux-gnu"}
FLAGS = {"arm64": "-mbranch-protection=standard"}  # functions sign their return addresses
LIBRARIES = ("libc6-dev", "libstdc++-12-dev", "libbpf-dev", "libelf-dev", "libdw-dev", "libcapstone-dev", "libiberty-dev",
             "libbz2-dev", "zlib1g-dev", "liblzma-dev", "libjansson-dev", "libsqlite3-dev", "libmicrohttpd-dev", "libncurses-dev", "libprotobuf-c-dev", "libdebuginfod-dev", "libjemalloc-dev", "libgoogle-perftools-dev",
             "libmimalloc-dev", "libtbb-dev", "libtbbmalloc2", "systemtap-sdt-dev", "gdb")
# Where packages find one name for two folders.
LINKS = ("bin", "sbin", "lib")


def unpack(packages, root):
    for name in LINKS:
        os.makedirs(os.path.join(root, "usr", name))
        os.symlink("usr/" + name, os.path.join(root, name))
    for package in packages:
        archive = subprocess.run(["dpkg", "--fsys-tarfile", package], stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-C", root, "-x", "--keep-directory-symlink", "--no-same-owner"], input=archive.stdout, check=True)


def root_of(architecture):
    """The folder with the packages, from the cache if it is there: named after them, and complete."""
    packages = image.PACKAGES + LIBRARIES
    root = os.path.join(kernels.CACHE, "roots", "%s-%s-%08x" % (SUITE, architecture, zlib.crc32(" ".join(packages).encode())))
    if os.path.isdir(root):
        return root
    suite = kernels.Suite(SUITE, architecture)
    os.makedirs(os.path.dirname(root), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=os.path.dirname(root)) as folder:
        try:
            suite.download_all(packages, os.path.join(folder, "debs"))
            unpack(sorted(glob.glob(folder + "/debs/*.deb")), os.path.join(folder, "root"))
        except subprocess.CalledProcessError as error:
            raise kernels.Unavailable("cannot unpack packages for %s: %s" % (architecture, error)) from error
        try:
            os.rename(os.path.join(folder, "root"), root)
        except OSError:
            # Another run was faster.
            if not os.path.isdir(root):
                raise
    return root


def folder_of(architecture):
    return os.path.join("build", architecture)


def build(architecture, root):
    """Raises CalledProcessError if the source cannot be compiled."""
    prefix = COMPILERS[architecture]
    missing = [program for program in (prefix + "-gcc", prefix + "-g++", "make", "pkg-config", "clang", "protoc-c")
               if not shutil.which(program)]
    if missing:
        raise kernels.Unavailable("%s is not installed" % missing[0])
    libraries, flags = os.path.join(root, "usr/lib", prefix), "--sysroot=%s %s" % (root, FLAGS[architecture])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment.update(PKG_CONFIG_LIBDIR="%s/pkgconfig:%s/usr/share/pkgconfig" % (libraries, root),
                       PKG_CONFIG_SYSROOT_DIR=root)
    # Of other C libraries there are no packages that a compiler of another architecture could use.
    settings = ["BUILD=" + folder_of(architecture), "ARCH=" + architecture,
                "CC=%s-gcc %s" % (prefix, flags), "CXX=%s-g++ %s" % (prefix, flags),
                "OBJCOPY=%s-objcopy" % prefix, "STRIP=%s-strip" % prefix, "MUSL_CC=false", "LIBCXX_CXX=false"]
    subprocess.run(["make", "-s", "-j%d" % os.cpu_count(), *settings, "all", "targets"], cwd=image.TOP, env=environment,
                   stdout=sys.stderr, check=True)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in COMPILERS:
        sys.exit("usage: tests/kernels/cross.py %s" % "|".join(COMPILERS))
    try:
        build(sys.argv[1], root_of(sys.argv[1]))
    except (kernels.Unavailable, subprocess.CalledProcessError) as error:
        sys.exit("cross.py: %s" % error)


if __name__ == "__main__":
    main()
