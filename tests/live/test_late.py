#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files, children and processes in shared memory that run before their probes are in: each is counted, and named at its
target. Where opens are held there is no such moment."""
import glob
import json
import os
import resource
import signal
import subprocess
import tempfile

import lab

CHILDREN = 5
LIBRARIES = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")


def find_library(usable=lambda path: True):
    for name in LIBRARIES:
        for path in glob.glob("/usr/lib/*/" + name):
            if usable(path):
                return path
    raise lab.Skip("no other allocator is installed")


def can_be_opened(path):
    """Some have thread-local variables for which there is no room at run time."""
    return not subprocess.run([lab.target("opened"), path], capture_output=True, check=False).returncode


def target_of(report, pid):
    return [target for target in report["targets"] if target["pid"] == pid][0]


def ask(tracer):
    """A report now."""
    tracer.process.send_signal(signal.SIGUSR1)
    return json.loads(tracer.process.stdout.readline())


def test_a_library_that_is_opened_later():
    library = find_library(can_be_opened)
    process = lab.start([lab.target("opened"), library, "wait"])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600")
    report = ask(tracer)
    assert target_of(report, process.pid)["late"] is None and not report["loss"]["files_late"], report
    lab.release(process)
    process.stdout.readline()
    lab.wait_for(lambda: "had mapped it" in tracer.stderr(), "the library is probed")
    report = ask(tracer)
    late = target_of(report, process.pid)["late"]
    # The C++ library may come with it, and has functions that allocate, too.
    files = [file["file"] for file in late["files"] if "libstdc++" not in file["file"]]
    assert files == [os.path.realpath(library)], late
    assert len(late["files"]) == report["loss"]["files_late"], (late, report["loss"])
    assert all(file["seconds"] > 0 for file in late["files"]) and late["child_s"] is None, late
    assert not late["memory_shared"], late
    said = [line for line in tracer.stderr().splitlines() if "had mapped it" in line]
    assert len(said) == len(late["files"]) and all("process %d (opened)" % process.pid in line for line in said), said


def test_probes_for_which_there_are_no_descriptors():
    """Children come until the tracer can open nothing more: what is not probed is counted, probe by probe. With a descriptor for
    each probe, it is a probe that finds none, and not the process."""
    lab.need_backend("perf")
    count = 120
    process = lab.start(["sh", "-c", "read line; i=0; while [ $i -lt %d ]; do sleep 1000 & i=$((i + 1)); done; echo all; "
                         "read line; kill $(jobs -p)" % count])
    lab.wait_for(lambda: lab.is_reading(process), "the shell waits")
    # The tracer keeps a quarter free of files, for what it must open.
    tracer = lab.Tracer("-j", "-n", "0", "--follow-fork", "--backend", "perf", "-p", process.pid, "3600",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    lab.release(process)
    assert process.stdout.readline() == b"all\n"
    lab.wait_for(lambda: "is not traced: " in tracer.stderr(), "descriptors are short")
    tracer.process.send_signal(signal.SIGUSR1)
    loss = json.loads(tracer.process.stdout.readline())["loss"]
    assert loss["probes_refused"] and loss["children_missed"], (loss, tracer.stderr())
    lab.release(process)
    process.wait(lab.PATIENCE)


def early(way, count, *options):
    """A report when the children have allocated, and one at the end with the account."""
    process = lab.start([lab.target("early"), way, count])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", *options, "-p", process.pid, "3600")
    lab.release(process)
    assert [process.stdout.readline() for _ in range(count)] == [b"child\n"] * count
    report = ask(tracer)
    lab.release(process)
    account = json.loads(process.stdout.readline())
    last = json.loads(tracer.stop().splitlines()[-1])
    return process.pid, report, account, last


def test_children_of_fork():
    pid, report, account, last = early("fork", CHILDREN, "--follow-fork")
    assert report["loss"]["children_late"] + report["loss"]["children_missed"] == CHILDREN, report["loss"]
    children = [target for target in report["targets"] if target["pid"] != pid]
    assert len(children) == report["loss"]["children_late"] and all(child["late"]["child_s"] > 0 for child in children)
    assert target_of(report, pid)["late"] is None
    own = {"sites": [site for site in last["sites"] if site["pid"] == pid]}
    assert lab.sums(own, {"site_early"}) == account == {"site_early": [1000, 1, 0, 0]}, (own, account)


def test_children_that_end_at_once():
    with tempfile.NamedTemporaryFile("r") as file:
        status, _, errors = lab.run("-q", "-j", "-o", file.name, "--", "sh", "-c",
                                    "i=0; while [ $i -lt 20 ]; do (x=$i); i=$((i + 1)); done")
        assert not status, errors
        loss = json.loads(file.read())["loss"]
    # Of what the kernel had no room for, nobody knows more.
    assert loss["children_late"] + loss["children_missed"] == 20 or loss["records_dropped"], loss


def share(backend, *options):
    lab.need_backend(backend)
    return early("share", 1, "--backend", backend, *options)


def check_shared_and_unseen(backend, *options):
    """The links leave it out."""
    pid, report, account, last = share(backend, *options)
    assert report["loss"]["memory_shared"] == last["loss"]["memory_shared"] == 1, last["loss"]
    assert target_of(report, pid)["late"]["memory_shared"] == 1
    assert account["site_early"] == [1500, 6, 0, 0]
    assert lab.sums(last, {"site_early"})["site_early"] == [1000, 1, 0, 0]


def test_shared_memory_session():
    check_shared_and_unseen("session", "--follow-fork")


def test_shared_memory_multi():
    check_shared_and_unseen("multi", "--follow-fork")


def test_shared_memory_unfollowed():
    check_shared_and_unseen("multi")


def test_shared_memory_perf():
    _, report, account, last = share("perf", "--follow-fork")
    assert not report["loss"]["memory_shared"], report["loss"]
    assert lab.sums(last, {"site_early"}) == account, (last, account)


def preloaded(*options):
    """A program behind another one, and its own allocator; returns what was late, and the messages."""
    with tempfile.NamedTemporaryFile("r") as file:
        tracer = lab.Tracer("-j", "-n", "0", "-o", file.name, *options, "--", "env", "LD_PRELOAD=" + find_library(),
                            lab.target("known"), "calls", "stay")
        tracer.process.stdout.readline()
        if options:
            lab.wait_for(lambda: "had mapped it" in tracer.stderr(), "the library is probed")
        tracer.stop()
        return json.loads(file.read()), tracer.stderr()


def test_a_preloaded_library():
    report, _ = preloaded("--no-hold")
    assert report["loss"]["files_late"], report["loss"]
    assert report["targets"][0]["late"]["files"], report["targets"]


def test_a_preloaded_library_that_is_held():
    report, errors = preloaded()
    if "are not held" in errors:
        raise lab.Skip("the kernel does not let opens be held")
    assert not report["loss"]["files_late"], report["loss"]
    assert report["targets"][0]["late"] is None, report["targets"]


if __name__ == "__main__":
    lab.run_tests()
