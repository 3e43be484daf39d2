# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of hostile processes share: attackers, a victim beside them with an account of its own, and what a tracer holds."""
import contextlib
import json
import os
import re
import shutil
import tempfile
import threading
import unicodedata

import lab


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="tracer-hostile-")
    try:
        yield path
    finally:
        shutil.rmtree(path)


def attacker(program, *arguments, **options):
    """A process that says "ready" when it attacks."""
    process = lab.start([program, *arguments], **options)
    line = process.stdout.readline()
    if line != b"ready\n":
        raise lab.Skip("this attack does not work here: %s" % process.stderr.read().decode().strip())
    return process


def rogue(*arguments, **options):
    return attacker(lab.target("rogue"), *arguments, **options)


def victim():
    process = lab.start([lab.target("blocks"), "1000", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the victim waits")
    return process


def check_victim(report, process, account):
    sites = [site for site in report["sites"] if site["pid"] == process.pid]
    found = lab.sums({"sites": sites}, {"site_block"})
    assert found == account, (account, found)
    site = [site for site in sites if lab.function_of(site) == "site_block"][0]
    assert any(frame["function"] == "main" for frame in site["frames"]), site


def check_text(text):
    """Nothing that drives a terminal or hides: only characters that are seen, and ends of lines."""
    bad = {character for character in text
           if character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")}
    assert not bad, sorted(bad)


class Held(threading.Thread):
    """Bytes of memory: the most that each process of a tracer has had, the short-lived ones included, and its BPF maps."""

    def __init__(self, tracer):
        super().__init__(daemon=True)
        self.pid, self.processes, self.ended = tracer.process.pid, {}, threading.Event()
        self.maps = maps_of(self.pid)
        self.start()

    def run(self):
        while not self.ended.wait(0.05):
            self.look()

    def look(self):
        pids = [self.pid]
        for pid in pids:
            try:
                with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
                    pids += [int(child) for child in file.read().split()]
                with open("/proc/%d/status" % pid, encoding="utf-8", errors="replace") as file:
                    peak = re.search(r"VmHWM:\s*(\d+)", file.read())
            except (FileNotFoundError, ProcessLookupError):
                # A worker that has just ended.
                continue
            if peak:
                self.processes[pid] = int(peak.group(1)) << 10

    def end(self):
        """The peak of the tracer, and that of the largest of its workers."""
        self.ended.set()
        self.join()
        self.look()
        return self.processes[self.pid], max([size for pid, size in self.processes.items() if pid != self.pid], default=0)


def maps_of(pid):
    """What the kernel holds for the BPF maps of a process."""
    found = {}
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, name), encoding="ascii", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        size, number = re.search(r"^memlock:\s*(\d+)", text, re.M), re.search(r"^map_id:\s*(\d+)", text, re.M)
        if size and number:
            found[number.group(1)] = int(size.group(1))
    return sum(found.values())


def check(processes, *options, bound, worker=400 << 20, select=None, reports=2, until=None):
    """
    Trace attackers and a victim: reports come, the last of them with what is waited for, `until`; the victim's figures are exact, the
    end is an ordinary one, and the tracer has never held more than `bound` bytes, a worker not more than `worker`. Returns the last
    report and the messages.
    """
    beside = victim()
    selected = select or ("-p", ",".join(str(process.pid) for process in [*processes, beside]))
    tracer = lab.Tracer("-j", "-n", "0", *selected, *options, "0.3")
    held = Held(tracer)
    def next_report():
        report = json.loads(tracer.process.stdout.readline())
        assert report["targets"], report
        return report

    for _ in range(reports):
        report = next_report()
    lab.wait_for(lambda: not until or until(report) or until(next_report()), "a report has what is asked for")
    account = lab.work(beside)
    assert json.loads(tracer.process.stdout.readline())["targets"]
    peak, worker_peak = held.end()
    output, errors = tracer.stop(), tracer.stderr()
    assert tracer.process.returncode == 0, errors
    check_text(output)
    check_text(errors)
    report = json.loads(output.splitlines()[-1])
    check_victim(report, beside, account)
    lab.end(beside)
    print("# tracer %d MiB, largest worker %d MiB, maps %d MiB" % (peak >> 20, worker_peak >> 20, held.maps >> 20), flush=True)
    assert peak < bound and worker_peak < worker, held.processes
    return report, errors
