# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes for a guest: a control plane and a kubelet, of Debian's source of it.

Debian has the client as a package only, but the source of bookworm's is the whole of it, with all that it needs to be
built. That is done once, with Debian's compiler, and kept beside the roots of guests.
"""
import glob
import os
import re
import subprocess
import tempfile

import roots
from roots import kernels

RELEASE = "bookworm"
PROGRAMS = ("kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
PACKAGE = "k8s.io/kubernetes"
DESCRIPTIONS = PACKAGE + "/pkg/generated/openapi"
ROOM = 6 * 2**30  # bytes that the compiler fills


def run(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode:
        raise kernels.Unavailable("%s: %s" % (os.path.basename(command[0]), (done.stdout.strip().splitlines() or ["?"])[-1]))
    return done.stdout


def compiler(folder):
    """The release's own Go, which is not installed for it."""
    suite = kernels.Suite(RELEASE, "amd64")
    found = [name for name in suite.find(r"^golang-1\.[0-9]+-(go|src)$")]
    if not found:
        raise kernels.Unavailable("%s has no Go" % RELEASE)
    for name in found:
        suite.download(name, folder)
    for path in glob.glob(folder + "/*.deb"):
        run(["dpkg", "--extract", path, folder])
    return glob.glob(folder + "/usr/lib/go-1.*")[0]


def source(folder):
    """Unpack it where the compiler looks for it by its name. Returns the version."""
    kernels.Suite(RELEASE, "amd64", "deb-src").download_source("kubernetes", folder)
    archives = glob.glob(folder + "/kubernetes_*.orig.tar.*")
    place = os.path.join(folder, "src", PACKAGE)
    os.makedirs(place)
    run(["tar", "-C", place, "--strip-components=1", "-xf", archives[0]])
    if not os.path.isdir(place + "/cmd/kubelet") or not os.path.isdir(place + "/vendor"):
        raise kernels.Unavailable("the source of %s's kubernetes is not the whole of it" % RELEASE)
    return place, re.search(r"([0-9.]+)\.orig", archives[0]).group(1)


def generate(place, go, environment, folder):
    """The server describes its types by a file that is made from them."""
    tagged = run(["grep", "-rl", "--include=*.go", "+k8s:openapi-gen=", "pkg", "cmd", "staging/src/k8s.io"], cwd=place)
    folders = {os.path.dirname(path) for path in tagged.split() if not re.search("_examples/|sample-|zz_generated", path)}
    names = sorted(re.sub("^staging/src/", "", path) if path.startswith("staging/") else PACKAGE + "/" + path for path in folders)
    names += ["k8s.io/apimachinery/pkg/" + name for name in ("version", "runtime", "apis/meta/v1", "api/resource", "util/intstr")]
    generator = os.path.join(folder, "openapi-gen")
    run([go, "build", "-o", generator, PACKAGE + "/vendor/k8s.io/kube-openapi/cmd/openapi-gen"], cwd=place, env=environment)
    run([generator, "-h", "hack/boilerplate/boilerplate.generatego.txt", "-i", ",".join(names), "-p", DESCRIPTIONS, "-O",
         "zz_generated.openapi", "-r", os.path.join(folder, "report")], cwd=place, env=environment)


def build(folder, to):
    """Needs room and minutes, once."""
    if os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize < ROOM:
        raise kernels.Unavailable("%d GiB are needed below %s to build Kubernetes" % (ROOM // 2**30, folder))
    root = compiler(folder)
    place, version = source(folder)
    go = root + "/bin/go"
    environment = {**os.environ, "GOROOT": root, "GOPATH": folder, "GOCACHE": folder + "/cache", "GO111MODULE": "off",
                   "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0", "PATH": root + "/bin:" + os.environ["PATH"]}
    generate(place, go, environment, folder)
    major, minor = version.split(".")[:2]
    flags = "-s -w" + "".join(" -X k8s.io/component-base/version.%s=%s" % each for each in (
        ("gitVersion", "v" + version), ("gitMajor", major), ("gitMinor", minor)))
    run(["nice", go, "build", "-p", "2", "-o", to + "/", "-ldflags", flags, *[PACKAGE + "/cmd/" + name for name in PROGRAMS]],
        cwd=place, env=environment)


def fetch():
    """The folder of the programs, from the cache if they are there."""
    roots.check_environment()
    with roots.cache() as cached:
        path = os.path.join(cached, "kubernetes")
        if not os.path.isdir(path):
            os.makedirs(path + ".part", exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="tracer-kubernetes-") as folder:
                build(folder, path + ".part")
            os.rename(path + ".part", path)
    return path
