# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes in one guest: a control plane, a kubelet, containerd, and a network of one node. Nobody is kept out of it."""
import json
import os
import subprocess
import sys
import tempfile

import guest_lab
import lab
from runtimes import APP

PROGRAMS = "/tree/kubernetes"
PLACE = "/run/cluster"
SERVER = "https://127.0.0.1:6443"
NODE = "guest"
CONTAINERD = "unix:///run/containerd/containerd.sock"
NETWORK = {"cniVersion": "0.3.1", "name": "pods", "type": "bridge", "bridge": "pods0", "isGateway": True,
           "ipam": {"type": "host-local", "subnet": "10.88.0.0/16", "routes": [{"dst": "0.0.0.0/0"}]}}
# A machine that is emulated has never enough of anything.
KUBELET = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "cgroupfs",
           "failSwapOn": False, "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
           "authorization": {"mode": "AlwaysAllow"}, "enforceNodeAllocatable": [],
           "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1%", "imagefs.available": "1%"}}
ACCESS = {"apiVersion": "v1", "kind": "Config", "current-context": "guest",
          "clusters": [{"name": "guest", "cluster": {"server": SERVER, "insecure-skip-tls-verify": True}}],
          "users": [{"name": "root", "user": {"token": "secret"}}],
          "contexts": [{"name": "guest", "context": {"cluster": "guest", "user": "root"}}]}


def need():
    if os.path.exists(PROGRAMS + ".missing"):
        with open(PROGRAMS + ".missing", encoding="utf-8") as file:
            raise lab.Skip(file.read())
    for program in ("containerd", "etcd", "openssl"):
        lab.need(program)


def write(name, content):
    path = os.path.join(PLACE, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return path


def unit(name, *command):
    """Run a program of the cluster until the end."""
    guest_lab.call("systemd-run", "-q", "--unit=cluster-" + name, *command)


def is_active(name):
    return subprocess.run(["systemctl", "is-active", "-q", "cluster-" + name], check=False).returncode == 0


def kubectl(*words):
    return guest_lab.call(PROGRAMS + "/kubectl", "--kubeconfig", PLACE + "/access", *words)


def succeeds(*words):
    return subprocess.run([PROGRAMS + "/kubectl", "--kubeconfig", PLACE + "/access", *words], capture_output=True,
                          check=False).returncode == 0


def import_images():
    """Those of the tests, and the one that holds a pod's namespaces, which is catatonit's as Podman has it."""
    for name in ("app", "tracer"):
        guest_lab.call("ctr", "-n", "k8s.io", "image", "import", os.path.join(guest_lab.IMAGES, name + ".tar"))
    settings = guest_lab.call("containerd", "config", "dump")
    name = [line.split('"')[1] for line in settings.splitlines() if "sandbox_image" in line][0]
    with tempfile.TemporaryDirectory() as folder:
        guest_lab.call("tar", "-C", "/usr/bin", "-cf", folder + "/root.tar", "catatonit")
        guest_lab.call("podman", "import", "-q", "--change", 'ENTRYPOINT ["/catatonit", "-P"]', folder + "/root.tar", name)
        guest_lab.call("podman", "save", "-q", "-o", folder + "/image.tar", name)
        guest_lab.call("ctr", "-n", "k8s.io", "image", "import", folder + "/image.tar")


def start_network():
    """Whatever is asked for its address takes that of the way to the world, which here leads nowhere."""
    for name in ("bridge", "br_netfilter", "veth", "overlay", "dummy"):
        guest_lab.call("modprobe", name)
    guest_lab.call("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    for words in ("link set lo up", "link add world type dummy", "addr add 192.0.2.1/24 dev world", "link set world up",
                  "route add default dev world"):
        guest_lab.call("ip", *words.split())


def start_control_plane():
    key = os.path.join(PLACE, "key")
    guest_lab.call("openssl", "genrsa", "-out", key, "2048")
    access, tokens = write("access", ACCESS), write("tokens", "secret,root,root,system:masters\n")
    unit("etcd", "etcd", "--data-dir", PLACE + "/etcd", "--unsafe-no-fsync")
    unit("kube-apiserver", PROGRAMS + "/kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--cert-dir=" + PLACE,
         "--authorization-mode=AlwaysAllow", "--token-auth-file=" + tokens, "--disable-admission-plugins=ServiceAccount",
         "--allow-privileged=false", "--bind-address=127.0.0.1", "--service-account-key-file=" + key,
         "--service-account-signing-key-file=" + key, "--service-account-issuer=" + SERVER)
    lab.wait_for(lambda: succeeds("get", "--raw", "/readyz") or not is_active("kube-apiserver"), "the server is ready", 900)
    assert is_active("kube-apiserver"), guest_lab.call("journalctl", "-q", "-n", "30", "-o", "cat", "-u", "cluster-kube-apiserver")
    # There are no others that could lead, and who is late with saying so, as here, ends.
    unit("kube-scheduler", PROGRAMS + "/kube-scheduler", "--kubeconfig=" + access, "--leader-elect=false")
    unit("kube-controller-manager", PROGRAMS + "/kube-controller-manager", "--kubeconfig=" + access,
         "--controllers=daemonset,nodelifecycle,podgc", "--leader-elect=false", "--node-monitor-grace-period=600s")


def start_node():
    os.makedirs("/etc/cni/net.d", exist_ok=True)
    with open("/etc/cni/net.d/pods.conf", "w", encoding="ascii") as file:
        json.dump(NETWORK, file)
    guest_lab.call("systemctl", "start", "containerd.service")
    import_images()
    unit("kubelet", PROGRAMS + "/kubelet", "--config=" + write("kubelet", KUBELET), "--kubeconfig=" + PLACE + "/access",
         "--container-runtime=remote", "--container-runtime-endpoint=" + CONTAINERD, "--hostname-override=" + NODE)


def start():
    """Once in a guest; it ends with it."""
    need()
    if os.path.exists(PLACE):
        return
    os.mkdir(PLACE)
    start_network()
    start_control_plane()
    start_node()
    lab.wait_for(lambda: succeeds("wait", "--for=condition=Ready", "--timeout=1s", "node/" + NODE), "the node is ready", 900)


def run_app():
    """A pod of the target's alone; returns the container's id, too."""
    kubectl("run", "target", "--image=" + APP, "--restart=Never")
    app = guest_lab.App()

    def ident():
        return kubectl("get", "pod", "target", "-o", "jsonpath={.status.containerStatuses[0].containerID}")
    lab.wait_for(ident, "the container has an id")
    return app, ident().rpartition("/")[2]


class Log:
    """What `kubectl logs -f` shows, also of a pod that is gone meanwhile."""

    def __init__(self, *words):
        # pylint: disable=consider-using-with
        self.file = tempfile.TemporaryFile("w+")
        self.process = lab.start([PROGRAMS + "/kubectl", "--kubeconfig", PLACE + "/access", "logs", "-f", *words],
                                 stdout=self.file, stderr=self.file)

    def said(self):
        self.file.seek(0)
        return self.file.read()


def report():
    """Why a test may have failed."""
    for command in ((PROGRAMS + "/kubectl", "--kubeconfig", PLACE + "/access", "describe", "pods"),
                    ("journalctl", "-q", "-n", "25", "-o", "cat", "-u", "cluster-kubelet")):
        print(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout)


def clean():
    if sys.exc_info()[0]:
        report()
    lab.end_all()
    if not is_active("kube-apiserver"):
        return
    kubectl("delete", "daemonset,pod", "--all", "--force", "--grace-period=0")
    guest_lab.wait_gone("tracer")
    guest_lab.wait_gone("app")
