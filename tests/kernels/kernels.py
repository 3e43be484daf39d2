# SPDX-License-Identifier: GPL-2.0-or-later
"""Where other kernels come from: Debian's packages of them, in a cache outside of the repository.

The mirror is the one that this machine's own apt uses for Debian, and so are the keys; its lists of packages and its
state are left alone.
"""
import glob
import os
import re
import subprocess
import tempfile
import time

CACHE = os.environ.get("TRACER_KERNELS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tracer-kernels")
LISTS_AGE = 86400  # seconds for which a list of packages is good enough

# By name: the suite, and the versions that will do. The newest of them is taken.
KERNELS = {
    "5.10": ("bullseye", r"5\.10\."),
    "6.1": ("bookworm", r"6\.1\."),
    "6.12": ("trixie", r"6\.12\."),
    "6.16": ("trixie-backports", r"6\.16\."),
    "6.18": ("trixie-backports", r"6\.18\."),
    "newest": ("trixie-backports", r"[0-9]"),
}


class Unavailable(Exception):
    """A kernel cannot be had here, for the reason given."""


def output_of(command, **options):
    """What a command prints; its failure is a reason to do without the kernel."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable("%s: %s" % (command[0], error)) from error
    if done.returncode:
        raise Unavailable("%s: %s" % (command[0], (done.stderr.strip() or "status %d" % done.returncode).splitlines()[-1]))
    return done.stdout


class Suite:
    """Packages of a suite of Debian, for one architecture; or, of the kind "deb-src", their sources."""

    def __init__(self, name, architecture, kind="deb"):
        self.name, self.architecture, self.kind = name, architecture, kind
        self.folder = os.path.join(CACHE, "apt", "%s-%s" % (name, architecture if kind == "deb" else "source"))
        self.options = []
        for option in ("Dir::State::Lists=%s/lists", "Dir::State::Status=%s/status", "Dir::Etc::SourceList=%s/sources.list",
                       "Dir::Cache=%s/cache"):
            self.options += ["-o", option % self.folder]
        for option in ("Dir::Etc::SourceParts=/dev/null", "Acquire::Languages=none", "APT::Sandbox::User=root",
                       "APT::Architecture=" + architecture, "APT::Architectures=" + architecture,
                       "Acquire::Retries=2", "Acquire::http::Timeout=20",
                       "APT::Update::Error-Mode=any"):
            self.options += ["-o", option]
        self.update()

    def update(self):
        stamp = os.path.join(self.folder, "updated")
        if os.path.exists(stamp) and time.time() - os.path.getmtime(stamp) < LISTS_AGE:
            return
        for folder in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        sites = output_of(["apt-get", "indextargets", "--format", "$(SITE) $(ORIGIN)", "Created-By: Packages"])
        sites = [line.split()[0] for line in sites.splitlines() if re.search(r"/debian/? Debian$", line)]
        if not sites:
            raise Unavailable("no source of apt's is a mirror of Debian")
        with open(os.path.join(self.folder, "status"), "w", encoding="ascii"):
            pass
        with open(os.path.join(self.folder, "sources.list"), "w", encoding="ascii") as file:
            file.write("%s [arch=%s] %s %s main\n" % (self.kind, self.architecture, sites[0], self.name))
        output_of(["apt-get", *self.options, "-qq", "update"])
        with open(stamp, "w", encoding="ascii"):
            pass

    def find(self, pattern):
        """Names of packages; apt's search lists them once each."""
        listed = output_of(["apt-cache", *self.options, "search", "--names-only", pattern])
        return [line.split()[0] for line in listed.splitlines()]

    def download(self, package, folder):
        output_of(["apt-get", *self.options, "-qq", "download", package], cwd=folder)

    def download_source(self, package, folder):
        output_of(["apt-get", *self.options, "-qq", "source", "--download-only", package], cwd=folder)

    def download_all(self, packages, folder):
        """These packages and all that they depend on."""
        os.makedirs(folder + "/partial", exist_ok=True)
        output_of(["apt-get", *self.options, "-o", "Dir::Cache::Archives=" + folder, "-qq", "-y", "--no-install-recommends",
                   "--download-only", "install", *packages])


def version_key(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def fetch(name, architecture):
    """The path of the kernel's image, from the cache if it is there."""
    suite_name, pattern = KERNELS[name]
    try:
        suite = Suite(suite_name, architecture)
        found = suite.find("^linux-image-%s.*cloud-%s$" % (pattern, architecture))
        if not found:
            raise Unavailable("%s has no such package" % suite_name)
    except Unavailable:
        kept = sorted(glob.glob(os.path.join(CACHE, "kernels", "%s-%s-*" % (name, architecture))))
        if kept:
            return kept[-1]
        raise
    version = max(found, key=version_key)[len("linux-image-"):]
    path = os.path.join(CACHE, "kernels", "%s-%s-%s" % (name, architecture, version))
    if not os.path.exists(path):
        for old in glob.glob(os.path.join(CACHE, "kernels", "%s-%s-*" % (name, architecture))):
            os.unlink(old)
        extract(suite, version, path)
    return path


def extract(suite, version, path):
    """Keep of the packages nothing but the image."""
    folder = path + ".debs"
    os.makedirs(folder, exist_ok=True)
    try:
        for package in suite.find("^linux-(image|binary)-%s$" % re.escape(version)):
            suite.download(package, folder)
        for package in glob.glob(folder + "/*.deb"):
            listed = output_of(["dpkg", "--contents", package])
            names = re.findall(r"(\./(?:boot|usr/lib/modules/[^/\s]+)/vmlinuz\S*)", listed)
            if names:
                with open(path + ".part", "wb") as file:
                    archive = subprocess.run(["dpkg", "--fsys-tarfile", package], stdout=subprocess.PIPE, check=True)
                    subprocess.run(["tar", "-xO", names[0]], input=archive.stdout, stdout=file, check=True)
                os.rename(path + ".part", path)
                return
        raise Unavailable("no image in the packages of %s" % version)
    except subprocess.CalledProcessError as error:
        raise Unavailable("cannot unpack %s: %s" % (version, error)) from error
    finally:
        for package in os.listdir(folder):
            os.unlink(os.path.join(folder, package))
        os.rmdir(folder)


def extract_modules(name, architecture, version, root):
    """Put the modules of a kernel, which fetch() leaves out, into a root."""
    suite = Suite(KERNELS[name][0], architecture)
    with tempfile.TemporaryDirectory(prefix="tracer-modules-") as folder:
        for package in suite.find("^linux-(image|binary|modules)-%s$" % re.escape(version)):
            suite.download(package, folder)
        for package in glob.glob(folder + "/*.deb"):
            output_of(["dpkg", "--extract", package, folder])
        found = glob.glob(folder + "/lib/modules/*") + glob.glob(folder + "/usr/lib/modules/*")
        if not found:
            raise Unavailable("no modules in the packages of %s" % version)
        output_of(["cp", "-r", found[0], os.path.join(root, "usr/lib/modules/")])
        output_of(["chroot", root, "depmod", os.path.basename(found[0])])
