#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The package for Debian: lintian accepts it, dpkg installs it into a root of its own and takes all of it away again."""
import gzip
import os
import re
import shutil
import subprocess
import tempfile

import lab


def said(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          cwd=lab.TOP, **options)
    assert done.returncode == 0, (command, done.stdout)
    return done.stdout


def files_of(root):
    return {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def check_installed(root, version):
    assert said(os.path.join(root, "usr/bin/tracer"), "-V") == "tracer %s\n" % version
    assert gzip.decompress(read(root, "usr/share/man/man8/tracer.8.gz")) == read(lab.TOP, "docs/tracer.8")
    for shell, path in (("bash", "bash-completion/completions/tracer"), ("fish", "fish/vendor_completions.d/tracer.fish"),
                        ("zsh", "zsh/vendor-completions/_tracer")):
        assert read(root, "usr/share", path).decode() == said(lab.TRACER, "--completion", shell), shell
    unit = read(root, "lib/systemd/system/tracer-serve.service").decode()
    assert re.search(r"^ExecStart=/usr/bin/tracer serve ", unit, re.M) and "/usr/local" not in unit, unit
    # Disabled: no link to a unit, and nothing that runs when it is installed.
    assert not os.path.exists(os.path.join(root, "etc"))
    assert not [name for name in os.listdir(os.path.join(root, "var/lib/dpkg/info")) if not name.endswith((".list", ".md5sums"))
                and name != "format"]


def test_package():
    lab.need("dpkg-shlibdeps")
    version = re.search(r"\S+$", said(lab.TRACER, "-V")).group()
    with tempfile.TemporaryDirectory(prefix="tracer-deb-") as folder:
        said("scripts/make-deb", version, folder)
        package = os.path.join(folder, "tracer_%s_%s.deb" % (version, said("dpkg", "--print-architecture").strip()))
        root = os.path.join(folder, "root")
        for name in ("updates", "info"):
            os.makedirs(os.path.join(root, "var/lib/dpkg", name))
        with open(os.path.join(root, "var/lib/dpkg/status"), "w", encoding="ascii"):
            pass
        # What it depends on is installed here, but not in that root.
        dpkg = ("dpkg", "--root=" + root, "--force-depends", "--log=/dev/null")
        before = files_of(root)
        said(*dpkg, "-i", package)
        assert "libbpf" in said("dpkg-deb", "-f", package, "Depends")
        assert not said(*dpkg, "--verify", "tracer")
        if shutil.which("lintian"):
            printed = said("lintian", "--fail-on", "error,warning", "--allow-root", package,
                           env={**os.environ, "TMPDIR": folder})
            assert not re.search(r"^[EW]:", printed, re.M), printed
        check_installed(root, version)
        said(*dpkg, "--purge", "tracer")
        left = files_of(root) - before
        assert all(path.startswith("var/lib/dpkg/") for path in left), left


lab.run_tests()
