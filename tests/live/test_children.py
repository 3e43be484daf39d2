#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Children, grandchildren and spawned programs, each with its own account; the truth is what each of them prints."""
import json
import mmap
import os
import re
import signal
import subprocess
import tempfile

import lab

CHILDREN = 4


class Family:
    """The target, with the folder of files by which it is led."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tracer-family-")
        self.output = open(os.path.join(self.folder.name, "output"), "a", encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """No process of the family is left behind."""
        for name in ("begin", "go", "end", "over"):
            self.let(name)
        for pid in self.said("parent") + self.said("child"):
            lab.wait_for(lambda pid=pid: lab.has_ended(pid), "the family has ended")
        self.folder.cleanup()

    def command(self):
        return [lab.target("family"), self.folder.name]

    def start(self):
        return lab.start(self.command(), stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.DEVNULL)

    def let(self, name):
        with open(os.path.join(self.folder.name, name), "w", encoding="ascii"):
            pass

    def read(self):
        with open(self.output.name, encoding="utf-8") as file:
            return file.read()

    def said(self, what):
        return [int(pid) for pid in re.findall(r"^%s (\d+)" % what, self.read(), re.M)]

    def parent(self):
        lab.wait_for(lambda: self.said("parent"), "the parent is there")
        return self.said("parent")[0]

    def children(self):
        lab.wait_for(lambda: len(self.said("child")) == CHILDREN, "all children are there")
        return self.said("child")

    def wait_alone(self):
        """The parent waits for its children; the grandchild is not its to wait for."""
        lab.wait_for(lambda: self.said("alone") and all(lab.has_ended(pid) for pid in self.said("child")),
                     "the children have ended")

    def read_accounts(self):
        lab.wait_for(lambda: len(self.said("account")) == CHILDREN + 1, "all accounts are there")
        return {int(pid): json.loads(account)
                for pid, account in re.findall(r"^account (\d+) (\{.*\})$", self.read(), re.M)}


def followed(tracer):
    return [int(pid) for pid in re.findall(r"libc.so.6 are probed in process (\d+) ", tracer.stderr())]


def await_followed(tracer, children):
    try:
        lab.wait_for(lambda: set(children) <= set(followed(tracer)), "the children are followed")
    except AssertionError:
        print("children %s, but: %s" % (children, tracer.stderr()))
        raise


def ask(tracer):
    """A report now."""
    tracer.process.send_signal(signal.SIGUSR1)
    return json.loads(tracer.process.stdout.readline())


def of_process(report, pid, ended=False):
    return {"sites": [site for site in report["sites"] if site["pid"] == pid and site["ended"] == ended]}


def check_processes(report, accounts):
    lab.check_sums(report)
    for pid, account in accounts.items():
        found = lab.sums(of_process(report, pid), {"site_parent", "site_child"})
        assert found == account, "process %d: counted %s, but it was %s" % (pid, found, account)


def check_targets(report):
    """The totals of a process are the sums of its sites, and all of them together are those of the report."""
    for key in ("inuse_bytes", "alloc_objects", "free_bytes", "free_objects"):
        for target in report["targets"]:
            total = sum(site[key] for site in report["sites"] if site["pid"] == target["pid"])
            assert target[key] == total, (key, target, total)
        assert sum(target[key] for target in report["targets"]) == report["totals"][key] + report["ended"][key], key


def lead(family, tracer, attached):
    """Up to where every process has printed its account."""
    family.let("begin")
    children = family.children()
    await_followed(tracer, children)
    family.let("go")
    accounts = family.read_accounts()
    assert len(accounts) == CHILDREN + 1
    assert attached not in children
    return accounts


def trace(family, *options, under=()):
    process = family.start()
    family.parent()
    return lab.Tracer("-v", "-j", "-n", "0", *options, "-p", process.pid, "3600", under=under)


def trace_children(under):
    with Family() as family:
        tracer = trace(family, "--follow-fork", under=under)
        accounts = lead(family, tracer, family.parent())
        report = ask(tracer)
        check_processes(report, accounts)
        check_targets(report)
        assert {target["pid"] for target in report["targets"]} == set(accounts), report["targets"]
        # Each child has freed its copy of a block that is its parent's.
        assert report["loss"]["free_untracked"] >= CHILDREN - 1, report["loss"]
        family.let("end")
        family.wait_alone()
        report = ask(tracer)
        parent = family.parent()
        check_processes(report, {parent: accounts[parent]})
        assert [target["pid"] for target in report["targets"]] == [parent], report["targets"]
        assert {site["pid"] for site in report["sites"]} == {parent}
        assert not report["ended"]["alloc_objects"]
        family.let("over")
        check_processes(json.loads(tracer.finish()), {parent: accounts[parent]})


def test_children_of_a_process():
    trace_children(())


def test_children_of_a_process_without_records():
    """The kernel gives the tracer no records of processes."""
    trace_children(lab.WITHOUT_RECORDS)


def test_children_without_frees():
    """What each has in use is read from its own heap; what it has inherited there is nobody's."""
    with Family() as family:
        tracer = trace(family, "--follow-fork", "--light")
        accounts = lead(family, tracer, family.parent())
        report = ask(tracer)
        check_processes(report, accounts)
        check_targets(report)
        heaps = {heap["pid"]: heap for heap in report["light"]["heaps"]}
        assert set(heaps) == set(accounts), heaps
        assert not any(heap["reason"] or heap["undecided_blocks"] for heap in heaps.values()), heaps
        family.let("end")
        family.let("over")
        tracer.finish()


class Cpu:
    """The machine's last CPU, which is offline at first."""

    def __init__(self):
        self.number = os.cpu_count() - 1
        self.path = "/sys/devices/system/cpu/cpu%d/online" % self.number
        if not os.environ.get("TEST_EXCLUSIVE"):
            raise lab.Skip("other programs run on this machine, too")
        if not os.path.exists(self.path):
            raise lab.Skip("this machine's CPUs stay online")

    def set(self, online):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("%d" % online)

    def __enter__(self):
        self.set(0)
        return self

    def __exit__(self, *_):
        self.set(1)


def events_of(tracer):
    """How many perf events it holds; it opens and closes other files meanwhile."""
    links = ["/proc/%d/fd/%s" % (tracer.process.pid, fd) for fd in os.listdir("/proc/%d/fd" % tracer.process.pid)]
    return sum(os.path.lexists(link) and os.path.realpath(link).endswith("anon_inode:[perf_event]") for link in links)


def knows_cpu(tracer, events):
    """Does it listen on so many CPUs, or poll /proc, where the kernel lets nobody listen who is not CAP_SYS_ADMIN?"""
    return events_of(tracer) == events or "from a CPU that came online" in tracer.stderr()


def test_cpu_that_comes_online():
    """What a process forks on a CPU that was offline at the attach is followed. The children wait for that before they allocate."""
    with Cpu() as cpu, Family() as family:
        tracer = trace(family, "--follow-fork")
        parent, without = family.parent(), events_of(tracer)
        for online in 1, 0, 1:  # it comes, and comes again
            cpu.set(online)
            lab.wait_for(lambda online=online: knows_cpu(tracer, without + online), "the tracer has noticed the CPU")
        os.sched_setaffinity(parent, {cpu.number})
        accounts = lead(family, tracer, parent)
        check_processes(ask(tracer), accounts)
        family.let("end")
        family.let("over")
        tracer.finish()


def test_tree_that_runs():
    """A process with all the descendants that it had before the attach, until the last one has ended."""
    with Family() as family:
        process = family.start()
        parent = family.parent()
        family.let("begin")
        children = family.children()
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--tree", process.pid, "3600")
        await_followed(tracer, [parent, *children])
        assert "not traced: --tree" not in tracer.stderr(), tracer.stderr()
        family.let("go")
        accounts = family.read_accounts()
        report = ask(tracer)
        # What the parent had allocated before is unknown.
        check_processes(report, {pid: accounts[pid] for pid in children})
        check_targets(report)
        assert {target["pid"] for target in report["targets"]} == set(accounts), report["targets"]
        # Without the master it goes on, until the last of its descendants has ended.
        process.kill()
        process.wait(lab.PATIENCE)
        lab.wait_for(lambda: parent not in {target["pid"] for target in ask(tracer)["targets"] if not target["exited"]},
                     "the master's end is known")
        check_processes(ask(tracer), {pid: accounts[pid] for pid in children})
        family.let("end")
        tracer.finish()
        assert tracer.process.returncode == 0, tracer.stderr()
        family.let("over")


def test_tree_that_grows():
    with Family() as family:
        process = family.start()
        family.parent()
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--tree", process.pid, "3600")
        accounts = lead(family, tracer, family.parent())
        check_processes(ask(tracer), accounts)
        for name in ("end", "over"):
            family.let(name)
        tracer.finish()
        assert tracer.process.returncode == 0, tracer.stderr()


def test_children_that_are_not_traced():
    with Family() as family:
        process = family.start()
        family.parent()
        family.let("begin")
        children = family.children()
        # One of the four is a grandchild.
        words = "process %d (family) has 3 children that are not traced: --tree %d\n" % (process.pid, process.pid)
        for options in (("-p", process.pid), ("--follow-fork", "-p", process.pid)):
            status, _, errors = lab.run(*options, "-d", "1ms")
            assert status == 0 and errors.count(words) == 1, errors
        for options in (("-q", "-p", process.pid), ("--tree", process.pid),
                        ("-p", ",".join(str(pid) for pid in [process.pid, *children]))):
            status, _, errors = lab.run(*options, "-d", "1ms")
            assert status == 0 and "not traced" not in errors, errors


def test_children_of_a_command():
    with Family() as family:
        with tempfile.TemporaryFile("w+") as messages:
            process = subprocess.Popen([lab.TRACER, "-v", "-j", "-n", "0", "-o", family.folder.name + "/report",
                                        "--keep-exited", "--", *family.command()], stdout=family.output, stderr=messages)
            lab._started.append(process)

            class Started:
                @staticmethod
                def stderr():
                    return lab.written(messages)
            accounts = lead(family, Started, family.parent())
            family.let("end")
            family.wait_alone()
            family.let("over")
            assert process.wait(lab.PATIENCE) == 0, Started.stderr()
        with open(family.folder.name + "/report", encoding="utf-8") as file:
            report = json.loads(file.read())
        parent = family.parent()
        check_processes(report, {parent: accounts[parent]})
        for pid in set(accounts) - {parent}:
            # Sites that hold nothing are not kept.
            account = accounts[pid]["site_child"]
            found = lab.sums(of_process(report, pid, ended=True), {"site_child"})["site_child"]
            assert (found[0] - found[2], found[1] - found[3]) == (account[0] - account[2], account[1] - account[3]), found
        check_targets(report)
        assert report["ended"]["inuse_bytes"] >= 5 * (100 + 200 + 300 + 1000), report["ended"]


def test_children_are_left_alone():
    with Family() as family:
        tracer = trace(family)
        family.let("begin")
        children = family.children()
        family.let("go")
        accounts = family.read_accounts()
        report = ask(tracer)
        parent = family.parent()
        check_processes(report, {parent: accounts[parent]})
        assert not {site["pid"] for site in report["sites"]} & set(children)
        assert followed(tracer) == [parent]


def table(report):
    """Rows of a grouped report."""
    return sorted((site["pid"], site["source"], tuple(frame["function"] or os.path.basename(frame["module"])
                                                      for frame in site["frames"]),
                   site["inuse_bytes"]) for site in report["sites"] if site["source"] == "heap")


def test_tables():
    with Family() as family:
        process = family.start()
        tracers = {by: lab.Tracer("-v", "-j", "-n", "0", "--by", by, "--follow-fork", "-p", process.pid, "3600")
                   for by in ("process", "module", "function")}
        family.let("begin")
        children = family.children()
        for tracer in tracers.values():
            await_followed(tracer, children)
        family.let("go")
        accounts = family.read_accounts()
        reports = {by: ask(tracer) for by, tracer in tracers.items()}
        for report in reports.values():
            lab.check_sums(report)
            check_targets(report)
        assert len({row[:2] for row in table(reports["process"])}) == len(table(reports["process"])) == CHILDREN + 1
        assert all(not row[2] for row in table(reports["process"])), table(reports["process"])
        for pid, account in accounts.items():
            for name, figures in account.items():
                assert (pid, "heap", (name,), figures[0] - figures[2]) in table(reports["function"]), \
                    (pid, name, figures, table(reports["function"]))
            held = sum(figures[0] - figures[2] for figures in account.values())
            assert (pid, "heap", ("family",), held) in table(reports["module"]), (held, table(reports["module"]))


# More records of mappings than a buffer has room for, and of names, which are the shortest, for what is left of it.
MAPPINGS = 8000
NAMES = 1000


def say_names(count):
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        for _ in range(count):
            file.write("python3")
            file.flush()


def on_each_cpu(act):
    cpus = os.sched_getaffinity(0)
    try:
        for cpu in cpus:
            os.sched_setaffinity(0, {cpu})
            act()
    finally:
        os.sched_setaffinity(0, cpus)


def flood():
    with open(lab.TRACER, "rb") as file:
        for _ in range(MAPPINGS):
            mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE).close()
    say_names(NAMES)


class Deaf:
    """The tracer reads no records: it is stopped, and each CPU fills the buffer that it reads."""

    def __init__(self, tracer):
        self.pid = tracer.process.pid

    def __enter__(self):
        os.kill(self.pid, signal.SIGSTOP)
        on_each_cpu(flood)

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGCONT)


def drain(tracer):
    """The kernel says that it has lost something with the next thing that it says, which is a name on each CPU."""
    lab.wait_for(lambda: on_each_cpu(lambda: say_names(1)) or ask(tracer)["loss"]["records_dropped"],
                 "the tracer learns of the loss")


def test_children_without_records():
    with Family() as family:
        process = family.start()
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--follow-fork", "-p", process.pid, "3600")
        with Deaf(tracer):
            family.let("begin")
            children = family.children()
        drain(tracer)
        await_followed(tracer, children)
        family.let("go")
        accounts = family.read_accounts()
        report = ask(tracer)
        check_processes(report, accounts)
        assert {target["pid"] for target in report["targets"]} == set(accounts), report["targets"]


def test_program_without_a_record():
    process = lab.start([lab.target("changes"), "exec", "wait"])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    tracer = lab.Tracer("-v", "-j", "-n", "0", "--follow-fork", "--keep-exited", "-p", process.pid, "3600")
    with Deaf(tracer):
        account = lab.work(process)
    drain(tracer)
    report = ask(tracer)
    lab.check_sums(report)
    now = [site for site in report["sites"] if not site["ended"]]
    # Its account begins anew with the program.
    assert lab.sums({"sites": now}, {"site_before", "site_after"}) == account, (account, now)
    before = lab.sums({"sites": [site for site in report["sites"] if site["ended"]]}, {"site_before"})
    assert before == {"site_before": [100 * 1000, 100, 0, 0]}, before


lab.run_tests()
