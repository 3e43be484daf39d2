#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes by name, by cgroup, by container, the next of a name, and all: those that are there and those that come."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import lab

# Of its own for each run: others may run on the same machine.
CONTAINER = ("%08x" % os.getpid()) * 8


class Known:
    """A process of the target that waits before it begins and before it ends."""

    def __init__(self, program, **options):
        self.process = lab.start([program, "calls", "wait"], **options)
        self.pid = self.process.pid

    def go(self):
        return lab.work(self.process)

    def end(self):
        self.process.stdin.close()
        self.process.wait(lab.PATIENCE)


def copy_of_known(folder, name):
    path = os.path.join(folder, name)
    shutil.copy(lab.target("known"), path)
    return path


def traced_too(tracer, pid):
    lab.wait_for(lambda: "libc.so.6 are probed in process %d (" % pid in tracer.stderr(), "process %d is traced" % pid)


def ask(tracer):
    tracer.process.send_signal(signal.SIGUSR1)
    return json.loads(tracer.process.stdout.readline())


def check_process(report, pid, account):
    rows = {"sites": [site for site in report["sites"] if site["pid"] == pid]}
    lab.check_sums(report)
    # Those that are found as they begin map their libraries after that.
    lab.check_losses(report, ("files_late",))
    truth = {name: figures for name, figures in account.items() if any(figures)}
    assert lab.sums(rows, set(truth)) == truth, (lab.sums(rows, set(truth)), truth)


def trace_by_name(under):
    with tempfile.TemporaryDirectory(prefix="tracer-names-") as folder:
        # Longer than the kernel's names are.
        program = copy_of_known(folder, "%d-name-of-more-than-15-bytes" % os.getpid())
        other = Known(copy_of_known(folder, "another"))
        first = Known(program)
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--comm", os.path.basename(program), "3600", under=under)
        traced_too(tracer, first.pid)
        second = Known(program)
        traced_too(tracer, second.pid)
        accounts = {known.pid: known.go() for known in (first, second)}
        other.go()
        report = ask(tracer)
        for pid, account in accounts.items():
            check_process(report, pid, account)
        assert {target["pid"] for target in report["targets"]} == set(accounts), report["targets"]
        first.end()
        second.end()
        # With nobody of the name left, the tracer waits for the next.
        third = Known(program)
        traced_too(tracer, third.pid)
        account = third.go()
        report = json.loads(tracer.stop())
        check_process(report, third.pid, account)
        assert {target["pid"] for target in report["targets"]} == {third.pid}, report["targets"]


def test_by_name():
    trace_by_name(())


def test_by_name_without_records():
    trace_by_name(lab.WITHOUT_RECORDS)


def pids_of_plan(*options):
    """The processes that plan lists, by their lines."""
    status, output, errors = lab.run("plan", *options)
    assert status == 0, errors
    count, lines = output.split("\n", 1)
    rows = lines.strip("\n").split("\n\n")[0].splitlines()[1:]
    assert count == "%d process%s would be traced:" % (len(rows), "es"[:2 * (len(rows) != 1)]), count
    return {int(row.split()[0]): row for row in rows}


def only_these(options, known, *others):
    """Both plan and trace mean `known` and what comes as that has come, and none of `others`."""
    first = known()
    listed = pids_of_plan(*options)
    assert set(listed) == {first.pid}, listed
    tracer = lab.Tracer("-v", "-j", "-n", "0", *options, "3600")
    traced_too(tracer, first.pid)
    second = known()
    traced_too(tracer, second.pid)
    accounts = {each.pid: each.go() for each in (first, second)}
    for other in others:
        other.go()
    report = json.loads(tracer.stop())
    for pid, account in accounts.items():
        check_process(report, pid, account)
    assert {target["pid"] for target in report["targets"]} == set(accounts), report["targets"]
    return first, second


MARK = "mark-%d" % os.getpid()


class Marked(Known):
    """One with a word of the test's among its arguments."""

    def __init__(self, *words, **options):
        self.process = lab.start([lab.target("known"), "calls", "wait", *words], **options)
        self.pid = self.process.pid
        lab.wait_for(lambda: lab.is_waiting(self.process), "it waits")


def test_by_command_line():
    others = [Marked(MARK + "-x"), Marked("x", MARK), Known(lab.target("known"))]
    only_these(("--cmdline", "known calls wait %s [0-9]+$" % MARK), lambda: Marked(MARK, "12"), *others)


def test_starters_of_the_tracer_do_not_match():
    """Who runs the tracer, as sudo does, has the expression among its own arguments: only what has it besides is meant."""
    mark = MARK + "-started"
    for start in (lambda: None, lambda: Marked(mark)):
        known = start()
        done = subprocess.run(["sh", "-c", '"$@"; status=$?; exit $status', "starter", "sh", "-c", '"$@"; exit $?', "starter", lab.TRACER,
                               "plan", "--cmdline", mark], capture_output=True, text=True, timeout=lab.PATIENCE, check=False)
        if known:
            assert done.returncode == 0 and done.stdout.startswith("1 process would be traced:\n"), (done.stdout, done.stderr)
            assert re.search(r"^ *%d " % known.pid, done.stdout, re.M), done.stdout
        else:
            assert done.returncode == 4 and not done.stdout, (done.returncode, done.stdout, done.stderr)


def test_by_hostile_command_line():
    """Arguments may be any bytes: they match as they are, and what would drive a terminal is shown escaped."""
    odd = [Marked(os.fsdecode(word)) for word in (b"\xff\xfe\x1b[31m\n", b"a" * 100000, b"", MARK.encode() + b"\xff")]
    listed = pids_of_plan("-v", "--cmdline", MARK + ".$")
    assert set(listed) == {odd[-1].pid}, listed
    assert "\\xff" in listed[odd[-1].pid], listed


def test_by_user():
    user = 54321 + os.getpid() % 1000
    as_user = lambda: Marked(user=user, group=user)
    only_these(("--user", user), as_user, Known(lab.target("known")))
    # All that are given must be met.
    with tempfile.TemporaryDirectory(prefix="tracer-names-") as folder:
        os.chmod(folder, 0o755)
        name = "both-%d" % os.getpid()
        program = copy_of_known(folder, name)
        both, one = Known(program, user=user, group=user), Known(program)
        assert set(pids_of_plan("--comm", name, "--user", user)) == {both.pid}
        assert set(pids_of_plan("--comm", name)) == {both.pid, one.pid}


def test_nothing_matches():
    name = "none-%d" % os.getpid()
    for options in (("--comm", name), ("--cmdline", name + "$ never"), ("--user", "4000000000"), ("--unit", name),
                    ("--comm", "known", "--user", "4000000000")):
        for command in ((), ("plan",)):
            status, output, errors = lab.run(*command, *options)
            assert status == 4 and not output and options[1] in errors, (options, status, errors)
    status, _, errors = lab.run("--user", name)
    assert status == 2 and name in errors, errors


def test_wait_for_selected():
    mark = MARK + "-awaited"
    tracer = lab.Tracer("-v", "-j", "-n", "0", "-w", "--cmdline", mark + "$", "3600", ready=False)
    lab.wait_for(lambda: "waiting for a process that matches --cmdline " + mark in tracer.stderr(), "the tracer waits")
    known = [Marked(mark) for _ in range(2)]
    tracer.wait_ready()
    for each in known:
        traced_too(tracer, each.pid)
    accounts = {each.pid: each.go() for each in known}
    report = tracer.report_now()
    for pid, account in accounts.items():
        check_process(report, pid, account)
    # What comes later is traced, too.
    for each in known:
        each.end()
    third = Marked(mark)
    traced_too(tracer, third.pid)
    account = third.go()
    report = json.loads(tracer.stop().splitlines()[-1])
    check_process(report, third.pid, account)
    assert [target["pid"] for target in report["targets"]] == [third.pid], report["targets"]


def wait_for_name(under):
    with tempfile.TemporaryDirectory(prefix="tracer-names-") as folder:
        name = "awaited-%d" % os.getpid()
        program = copy_of_known(folder, name)
        tracer = lab.Tracer("-v", "-j", "-n", "0", "-w", name, "3600", ready=False, under=under)
        lab.wait_for(lambda: "waiting for a process named " + name in tracer.stderr(), "the tracer waits")
        assert "ready" not in tracer.stderr()
        known = Known(program)
        tracer.wait_ready()
        # It has only just begun: its libraries come one by one.
        traced_too(tracer, known.pid)
        account = known.go()
        later = Known(program)
        later.go()
        known.end()
        # Its end is the end.
        report = json.loads(tracer.finish())
        assert tracer.process.returncode == 0
        check_process(report, known.pid, account)
        assert [target["pid"] for target in report["targets"]] == [known.pid], report["targets"]


def test_wait():
    wait_for_name(())


def test_wait_without_records():
    wait_for_name(lab.WITHOUT_RECORDS)


def test_wait_in_vain():
    tracer = lab.Tracer("-w", "no-such-name", ready=False)
    lab.wait_for(lambda: "waiting" in tracer.stderr(), "the tracer waits")
    assert tracer.stop() == ""
    assert tracer.process.returncode == 4, tracer.stderr()


def group_report(group, *options):
    """One is in it, one comes by being moved, one is born in it; a fourth stays outside."""
    inside, moved, outside = (Known(lab.target("known")) for _ in range(3))
    group.enter(inside.pid, "below")
    tracer = lab.Tracer("-v", "-j", "-n", "0", *options, "3600")
    traced_too(tracer, inside.pid)
    group.enter(moved.pid)
    traced_too(tracer, moved.pid)
    born = Known(lab.target("known"), preexec_fn=lambda: group.enter(os.getpid()))
    traced_too(tracer, born.pid)
    accounts = {known.pid: known.go() for known in (inside, moved, born)}
    outside.go()
    report = json.loads(tracer.stop())
    for pid, account in accounts.items():
        check_process(report, pid, account)
    assert {target["pid"] for target in report["targets"]} == set(accounts), report["targets"]


def test_by_cgroup():
    with lab.Group("tracer-test-%d" % os.getpid()) as group:
        group_report(group, "--cgroup", "/" + group.name)
    with lab.Group("tracer-test-%d" % os.getpid()) as group:
        group_report(group, "--cgroup", group.path)
    status, _, errors = lab.run("--cgroup", "/no/such/group")
    assert status == 4 and "/no/such/group" in errors, errors


def test_by_several_groups():
    """A process must be in each of the groups that are given."""
    name = "tracer-test-%d" % os.getpid()
    with lab.Group(name) as group:
        inside, outside = Marked(), Marked()
        group.enter(inside.pid, name + ".service")
        group.enter(outside.pid)
        tracer = lab.Tracer("-j", "-n", "0", "--cgroup", "/" + name, "--unit", name, "3600")
        account = inside.go()
        outside.go()
        report = json.loads(tracer.stop())
        check_process(report, inside.pid, account)
        assert [target["pid"] for target in report["targets"]] == [inside.pid], report["targets"]


def test_by_unit():
    name = "tracer-test-%d" % os.getpid()
    with lab.Group(name + ".service") as group:
        group_report(group, "--unit", name)
    # It is waited for, and traced on when it was restarted.
    tracer = lab.Tracer("-v", "-j", "-n", "0", "--unit", name, "-w", ready=False)
    lab.wait_for(lambda: "waiting for a process that matches --unit " + name in tracer.stderr(), "the tracer waits")
    for _ in range(2):
        group = lab.Group(name + ".service")
        known = Known(lab.target("known"))
        try:
            group.enter(known.pid)
            traced_too(tracer, known.pid)
        finally:
            known.end()
            lab.wait_for(lambda group=group: group.remove(group.path), "the cgroup is empty")


def test_by_container():
    with lab.Group("docker-%s.scope" % CONTAINER) as group:
        group_report(group, "--container", CONTAINER[:12])
    status, _, errors = lab.run("--container", "ffffffffffff")
    assert status == 4 and "ffffffffffff" in errors, errors


# The first process of a pid namespace in a root of its own: nothing that others use is probed by "all processes". It reads
# commands.
INIT = """
exec 3< /commands
while read -r command argument <&3; do
	case $command in
	tracer) /tracer -v -j -n 0 -a 3600 > /report 2> /messages & tracer=$! ;;
	known) /known calls wait < /input-$argument > /account-$argument & echo $! > /pid-$argument.new
		/mv /pid-$argument.new /pid-$argument ;;
	exec) /sh -c 'exec /known calls wait' < /input-$argument > /account-$argument & echo $! > /pid-$argument.new
		/mv /pid-$argument.new /pid-$argument ;;
	stop) kill -INT $tracer; wait $tracer; echo $? > /status; exit ;;
	esac
done
"""


class Root(lab.PrivateRoot):
    def __init__(self, folder):
        super().__init__(folder, [lab.TRACER, lab.target("known"), lab.need("mv")], INIT)
        self.inputs = {}

    def known(self, name, command="known"):
        """Start one; returns its pid, as the namespace has it."""
        os.mkfifo(self.path("input-" + name))
        self.send("%s %s" % (command, name))
        self.inputs[name] = self.open("input-" + name)
        lab.wait_for(lambda: self.read("pid-" + name).endswith("\n"), "the pid is known")
        return int(self.read("pid-" + name))

    def go(self, name):
        self.inputs[name].write("go\n")
        lab.wait_for(lambda: self.read("account-" + name).endswith("}\n"), "the account is there")
        return json.loads(self.read("account-" + name))

    def said(self, words):
        lab.wait_for(lambda: re.search(words, self.read("messages")), "the tracer says %s: %s" % (
            words, self.read("messages")))


def test_all_processes():
    with tempfile.TemporaryDirectory(prefix="tracer-root-") as folder:
        root = Root(folder)
        try:
            first = root.known("first")
            root.send("tracer")
            root.said("tracer: ready")
            root.said(r"process %d \(" % first)
            second, third = root.known("second"), root.known("third", "exec")
            for pid in (second, third):
                root.said(r"process %d \(" % pid)
            accounts = {pid: root.go(name) for name, pid in (("first", first), ("second", second), ("third", third))}
            root.send("stop")
            assert root.process.wait(lab.PATIENCE) == 0, root.process.communicate()
            assert root.read("status") == "0\n", root.read("messages")
            report = json.loads(root.read("report").splitlines()[-1])
            for pid, account in accounts.items():
                check_process(report, pid, account)
            # Never itself, nor what it has started.
            assert "tracer" not in {target["comm"] for target in report["targets"]}, report["targets"]
            assert {target["comm"] for target in report["targets"]} <= {"known", "sh"}, report["targets"]
        finally:
            root.close()
            lab.end_all()


lab.run_tests()
