#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/kubernetes in a cluster of one node, by the commands that the manifests name."""
import os
import signal

import cluster
import guest_lab
import lab
import runtimes

MANIFESTS = os.path.join(lab.TOP, "deploy/kubernetes")


def seccomp_lets():
    """Does the runtime's profile let capabilities do what they are for? containerd's does from 1.7 on."""
    return [int(number) for number in guest_lab.call("containerd", "--version").split()[2].split("~")[0].split(".")[:2]] >= [1, 7]


def manifest(name):
    """As it is; or, where the runtime is too old for it, with the change that it names."""
    path = os.path.join(MANIFESTS, name)
    if seccomp_lets():
        return path
    print("note the default seccomp profile is in the way")
    text = guest_lab.deployed("kubernetes/" + name)
    assert text.count("type: RuntimeDefault") == 1
    return cluster.write(name, text.replace("type: RuntimeDefault", "type: Unconfined"))


def wait_running(*words):
    lab.wait_for(lambda: cluster.succeeds("wait", "--for=condition=Ready", "--timeout=1s", "pod", *words), "the pod runs")


def test_sidecar():
    cluster.start()
    try:
        cluster.kubectl("apply", "-f", manifest("sidecar.yaml"))
        wait_running("app-with-tracer")
        log = cluster.Log("app-with-tracer", "-c", "tracer")
        guest_lab.wait_ready(log.said)
        app = guest_lab.App()
        guest_lab.check_confined(guest_lab.LEAST, 0, seccomp_lets())
        account = guest_lab.work(app, old=True)
        # As at the end of a pod, but the target lives on: its own end would be another way to a last report.
        os.kill(guest_lab.tracer_pid(), signal.SIGTERM)
        lab.wait_for(lambda: '"schema"' in log.said(), "there is a last report")
        report = guest_lab.last_report(log.said())
        guest_lab.check_old(account, report)
        inside = int(guest_lab.status_of(app.pid)["NSpid"].split()[-1])
        assert [each["pid"] for each in report["targets"]] == [inside], report["targets"]
    finally:
        cluster.clean()


def test_daemonset():
    cluster.start()
    try:
        app, _ = cluster.run_app()
        cluster.kubectl("apply", "-f", manifest("daemonset.yaml"))
        assert not guest_lab.pids_of("tracer")
        cluster.kubectl("label", "node", cluster.NODE, "tracer=on")
        lab.wait_for(lambda: guest_lab.pids_of("tracer"), "a tracer has been started")
        wait_running("-l", "app=tracer")
        log = cluster.Log("-l", "app=tracer")
        guest_lab.wait_ready(log.said)
        guest_lab.check_confined(guest_lab.REPLACED, 0, seccomp_lets())
        account = guest_lab.work(app, old=True)
        cluster.kubectl("label", "node", cluster.NODE, "tracer-")
        lab.wait_for(lambda: '"schema"' in log.said(), "there is a last report")
        guest_lab.check_old(account, guest_lab.last_report(log.said()))
        app.check_left_alone()
    finally:
        cluster.clean()


def test_daemonset_of_a_container():
    """With --container, as the manifest says, by the node's control groups that are mounted for it."""
    cluster.start()
    try:
        app, ident = cluster.run_app()
        with open(manifest("daemonset.yaml"), encoding="utf-8") as file:
            text = file.read()
        assert text.count('"--comm", "app"') == 1
        cluster.kubectl("apply", "-f", cluster.write("container.yaml", text.replace(
            '"--comm", "app"', '"--container", "%s"' % ident[:12])))
        cluster.kubectl("label", "node", cluster.NODE, "tracer=on")
        lab.wait_for(lambda: guest_lab.pids_of("tracer"), "a tracer has been started")
        wait_running("-l", "app=tracer")
        log = cluster.Log("-l", "app=tracer")
        guest_lab.wait_ready(log.said)
        account = guest_lab.work(app, old=True)
        cluster.kubectl("label", "node", cluster.NODE, "tracer-")
        lab.wait_for(lambda: '"schema"' in log.said(), "there is a last report")
        report = guest_lab.last_report(log.said())
        guest_lab.check_old(account, report)
        assert [each["pid"] for each in report["targets"]] == [app.pid], report["targets"]
        app.check_left_alone()
    finally:
        cluster.clean()


def test_container_id():
    cluster.start()
    try:
        runtimes.check_container_id(*cluster.run_app())
    finally:
        cluster.clean()


lab.run_tests()
