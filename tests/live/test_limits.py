#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Full tables, many blocks, many stacks, a long run: what is lost is said, and what is kept is right."""
import json

import lab


def test_full_block_table():
    account, report = lab.command_report([lab.target("blocks"), "5000"], "--max-blocks", "1000")
    lab.check_sums(report)
    loss = report["loss"]
    recorded = lab.sums(report, {"site_block"})["site_block"]
    assert 900 <= recorded[1] <= 1000, recorded
    # Every block is either recorded or counted as lost; a few are of others than this site.
    assert recorded[1] + loss["blocks_full"] >= account["site_block"][1], (recorded, loss)
    assert loss["bytes_unattributed"] >= 16 * (5000 - recorded[1]), loss
    _, output, _ = lab.run("-q", "--max-blocks", "1000", "--", lab.target("blocks"), "5000")
    assert "the block table is full (--max-blocks)" in output and "blocks_full" in output, output


def test_few_stacks():
    account, report = lab.command_report([lab.target("deep"), "3", "60"], "--max-stacks", "16")
    lab.check_sums(report)
    assert report["loss"]["stacks_full"] > 0, report["loss"]
    # The bytes stay in the totals, at a site that says why it has no frames.
    assert report["totals"]["alloc_bytes"] >= sum(figures[0] for figures in account.values())
    assert any(frame["kind"] == "error" and "table full" in frame["function"]
               for site in report["sites"] for frame in site["frames"]), report["sites"]


def start_deep(count):
    """A process that will make `count` sites of site_deep, when it reads a line."""
    process = lab.start([lab.target("deep"), "2", str(count), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "it waits")
    return process


def of_process(report, process):
    return dict(report, sites=[site for site in report["sites"] if site["pid"] == process.pid])


def check_deep(account, report, count):
    """All sites are exact, each with a stack of its own."""
    truth = {name: figures for name, figures in account.items() if any(figures)}
    assert lab.sums(report, set(truth)) == truth, (account, lab.sums(report, set(truth)))
    sites = [site for site in report["sites"] if lab.function_of(site) == "site_deep"]
    depths = sorted(sum(frame["function"] == "site_deep" for frame in site["frames"]) for site in sites)
    assert depths == list(range(2, count + 2)), depths


def with_stack(report):
    return sum(all(frame["kind"] != "error" for frame in site["frames"]) for site in report["sites"])


def test_share_of_stacks():
    """A process with more stacks than there is room for leaves room for another one, which comes later."""
    hostile, other = start_deep(100), start_deep(10)
    tracer = lab.Tracer("-q", "-j", "-n", "0", "--max-stacks", "64", "-p", "%d,%d" % (hostile.pid, other.pid), "3600")
    lost = lab.work(hostile)
    account = lab.work(other)
    report = json.loads(tracer.stop())
    lab.check_sums(report)
    check_deep(account, of_process(report, other), 10)
    theirs = of_process(report, hostile)
    assert 28 <= with_stack(theirs) <= 32 + lab.os.cpu_count(), with_stack(theirs)
    assert report["loss"]["stacks_over_share"] >= 100 - with_stack(theirs), report["loss"]
    assert not report["loss"]["stacks_full"] and not report["loss"]["sites_over_share"], report["loss"]
    # The bytes of what has no stack are in the totals.
    truth = sum(sum(figures[0] for figures in each.values()) for each in (lost, account))
    assert report["totals"]["alloc_bytes"] >= truth, (report["totals"], truth)


def test_share_comes_back():
    """What a process that has ended held is for others again."""
    hostile, heir, idle = start_deep(100), start_deep(45), start_deep(1)
    pids = "%d,%d,%d" % (hostile.pid, heir.pid, idle.pid)
    tracer = lab.Tracer("-q", "-j", "-n", "0", "--max-stacks", "128", "-p", pids, "3600")
    lab.work(hostile)
    lab.wait_for(lambda: with_stack(of_process(tracer.report_now(), hostile)) >= 60, "the first one has its share")
    lab.end(hostile)
    lab.wait_for(lambda: not of_process(tracer.report_now(), hostile)["sites"], "what it held is gone")
    account = lab.work(heir)
    report = json.loads(tracer.stop())
    check_deep(account, of_process(report, heir), 45)


def test_share_of_one():
    """One process that is traced may have all."""
    account, report = lab.attached_report([lab.target("deep"), "2", "110"], "--max-stacks", "128")
    lab.check_account(account, report)
    check_deep(account, report, 110)


def test_many_stacks():
    account, report = lab.command_report([lab.target("deep"), "2", "110"])
    lab.check_account(account, report)
    sites = [site for site in report["sites"] if lab.function_of(site) == "site_deep"]
    depths = sorted(sum(frame["function"] == "site_deep" for frame in site["frames"]) for site in sites)
    assert len(sites) == 110 and depths == list(range(2, 112)), depths


def test_stack_depth():
    _, report = lab.command_report([lab.target("deep"), "50", "1"], "--stack-depth", "20")
    site = [site for site in report["sites"] if lab.function_of(site) == "site_deep"][0]
    assert [frame["function"] for frame in site["frames"][:20]] == ["site_deep"] * 20, site
    assert site["frames"][20]["kind"] == "error" and "--stack-depth" in site["frames"][20]["function"], site
    assert report["loss"]["stack_truncated"] > 0


def test_a_million_blocks():
    process = lab.start([lab.target("blocks"), "1000000", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "it waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "--max-blocks", "2000000", "-p", process.pid, "3600")
    account = lab.work(process)
    report = json.loads(tracer.stop())
    lab.check_account(account, report)
    assert account["site_block"][1] == 1000000
    site = [site for site in report["sites"] if lab.function_of(site) == "site_block"][0]
    assert 0 < site["mean_age_s"] < site["oldest_s"] < report["duration_s"], site


def test_dropped_events():
    """A tracer that is stopped cannot empty its buffer."""
    process = lab.start([lab.target("known"), "mapstorm", "wait"])
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    tracer.process.send_signal(lab.signal.SIGSTOP)
    lab.release(process)
    process.stdout.readline()
    tracer.process.send_signal(lab.signal.SIGCONT)
    report = json.loads(tracer.stop())
    lab.check_sums(report)
    assert report["loss"]["events_dropped"] > 0, report["loss"]
    assert report["totals"]["alloc_objects"] < 50000, report["totals"]


def test_children_of_all_processes():
    """With -a, children that end before they are looked at are counted."""
    process = lab.start(["sh", "-c", "read line; i=0; while [ $i -lt 50 ]; do (exit 0); i=$((i + 1)); done; echo done; read line"])
    lab.wait_for(lambda: lab.is_reading(process), "the shell waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-a", "3600")
    assert ask(process) == b"done\n"
    report = json.loads(tracer.stop().splitlines()[-1])
    pids = {target["pid"] for target in report["targets"]}
    assert process.pid in pids
    assert report["loss"]["children_missed"] + report["loss"]["children_late"] + len(pids) > 50, report["loss"]


def test_64000_stacks():
    account, report = lab.command_report([lab.target("tree"), "16"], "--max-stacks", "70000")
    lab.check_account(account, report)
    sites = [site for site in report["sites"] if lab.function_of(site) == "site_leaf"]
    assert len(sites) == 65536, len(sites)
    assert len({tuple(frame["offset"] for frame in site["frames"]) for site in sites}) == 65536
    for site in sites:
        assert (site["alloc_bytes"], site["alloc_objects"]) == (24, 1), site


def ask(process):
    """Let it go on, until it has written a line."""
    lab.release(process)
    return process.stdout.readline()


def resident(pid, key="VmRSS"):
    with open("/proc/%d/status" % pid, encoding="utf-8") as status:
        for line in status:
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0


def held_for_rows(rows):
    """The most memory that a tracer of many stacks has had after a report of so many rows, and how long that was."""
    process = lab.start([lab.target("hostile"), "stacks", "5000"])
    process.stdout.readline()
    tracer = lab.Tracer("-q", "-j", "-n", rows, "--max-stacks", "16384", "-p", process.pid, "3600")
    process.stdin.write(b"go\n")
    process.stdin.flush()
    process.stdout.readline()
    tracer.process.send_signal(lab.signal.SIGUSR1)
    report = tracer.process.stdout.readline()
    assert report.endswith(b"]}\n"), tracer.stderr()
    held = resident(tracer.process.pid, "VmHWM")
    tracer.stop()
    lab.end(process)
    return held, len(report)


def test_memory_of_a_report():
    """Rows are made and written one by one: all of them take as much memory as one."""
    held, _ = held_for_rows("1")
    held_for_all, length = held_for_rows("0")
    print("# %d MiB for one row, %d MiB for all, in a report of %d MiB" % (held >> 20, held_for_all >> 20, length >> 20))
    assert length > 8 << 20, length
    assert held_for_all < held + length // 4, (held, held_for_all, length)


def test_memory_does_not_grow():
    process = lab.start([lab.target("churn"), "2"], stdout=lab.subprocess.DEVNULL)
    tracer = lab.Tracer("-q", "-j", "-p", process.pid, "0.02")

    def read_reports(count):
        for _ in range(count):
            assert json.loads(tracer.process.stdout.readline())["targets"]

    def descriptors():
        return len(lab.os.listdir("/proc/%d/fd" % tracer.process.pid))

    # The first ones find names and make room.
    read_reports(40)
    before, opened = resident(tracer.process.pid), descriptors()
    read_reports(120)
    assert resident(tracer.process.pid) <= before + (1 << 20), (before, resident(tracer.process.pid))
    # It opens files for a moment at each report.
    lab.wait_for(lambda: descriptors() <= opened, "no descriptor is kept: there were %d" % opened)
    tracer.stop()


lab.run_tests()
