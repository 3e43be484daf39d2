#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that choose their stacks and their code so that they are taken for those of another process."""
import json

import lab


def forged_objects(order):
    """Start both processes, trace them in this order; returns what the tracer counted for the first and the second."""
    owners = [order.index(0) + 1, order.index(1) + 1]
    process = lab.start([lab.target("forge"), *owners])
    pids = [int(word) for word in process.stdout.readline().split()]
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", ",".join(str(pids[i]) for i in order))
    process.stdin.write(b"\n")
    process.stdin.flush()
    truth = [int(word) for word in process.stdout.readline().split()]
    # The second one allocates as soon as it reads a byte; it waits again when it has.
    lab.wait_for(lambda: in_read(pids[1]), "the second process waits")
    report = json.loads(tracer.stop().splitlines()[-1])
    lab.check_sums(report)
    lab.check_losses(report)
    by_pid = {row["pid"]: row["alloc_objects"] for row in report["targets"]}
    sites = {pid: sum(site["alloc_objects"] for site in report["sites"] if site["pid"] == pid) for pid in pids}
    lab.end(process)
    return truth, [by_pid[pid] for pid in pids], [sites[pid] for pid in pids]


def in_read(pid):
    """Does it wait in read() for a second byte? It has read one before it allocated."""
    with open("/proc/%d/io" % pid, encoding="ascii") as file:
        reads = int(file.read().split("rchar: ")[1].split()[0])
    with open("/proc/%d/syscall" % pid, encoding="ascii") as file:
        return reads >= 1 and file.read().startswith(("0 ", "63 "))


def test_sites():
    for order in ([0, 1], [1, 0]):
        truth, targets, sites = forged_objects(order)
        # The first one has its input's buffer, too.
        assert targets[1] == truth[1] and truth[0] <= targets[0] <= truth[0] + 2, (order, truth, targets)
        assert sites == targets, (order, sites, targets)


RUBY = """
$kept = []
eval("def leak\\n $kept << 'x' * 300_000\\nend", TOPLEVEL_BINDING, [ARGV[0]].pack("H*"), 4)
puts "ready"
$stdout.flush
while $stdin.gets
  10.times { leak }
  puts "done"
  $stdout.flush
end
"""


def test_ruby_names():
    """Two bytes of a path and one between them, each with its upper bit turned over, cancel out in the hash of the code."""
    lab.need("ruby")
    path = b"app/models/user_session_store.rb"
    evil = bytearray(path)
    for i in (7, 11, 15):
        evil[i] ^= 0x80
    processes = [lab.start(["ruby", "-e", RUBY, bytes(name).hex()]) for name in (evil, path)]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    tracer = lab.Tracer("-j", "-n", "0", "-p", ",".join(str(process.pid) for process in processes), "1")
    reports = []
    for process in processes:
        def is_named(process=process):
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"done\n"
            reports.append(json.loads(tracer.process.stdout.readline()))
            return files_of(reports[-1], process.pid)
        lab.wait_for(is_named, "its frames are seen")
    found = files_of(reports[-1], processes[1].pid)
    tracer.stop()
    assert found == {path.decode("ascii")}, found


def files_of(report, pid):
    return {frame["file"] for site in report["sites"] if site["pid"] == pid for frame in site["frames"]
            if frame["kind"] == "ruby" and frame["function"] and "leak" in frame["function"]}


if __name__ == "__main__":
    lab.run_tests()
