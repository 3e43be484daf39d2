#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes are detached and attached in parts, many times, while the target runs: what is counted is what the parts that are
attached see, no more and no less. The target prints all addresses; what must be counted is computed from them here."""
import json
import os
import random
import subprocess

import lab

PARTS = os.path.join(os.path.dirname(lab.TRACER), "tests/live/parts")
FREES, REALLOCS, ALLOCATIONS, ALL = 1, 2, 4, 15
ROUNDS = 100


class Lines:
    """A program that answers each line with a line."""

    def __init__(self, command, greets=False):
        if not os.path.exists(command[0]):
            raise lab.Skip("%s is not built" % command[0])
        self.process = lab.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.greeting = self.process.stdout.readline() if greets else ""

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer.endswith("\n"), "%s: no answer to %s" % (self.process.args, line)
        return answer


class Truth:
    """What is counted, by function: blocks are known by their addresses."""

    def __init__(self):
        self.known, self.counted, self.sizes = {}, {}, {}

    def alloc(self, function, address):
        if address in self.known:
            self.free(address)
        self.known[address] = function
        self.counted.setdefault(function, [0, 0])[0] += 1

    def free(self, address):
        function = self.known.pop(address, None)
        if function:
            self.counted[function][1] += 1


class Trial:
    def __init__(self, backend):
        if backend != "auto":
            lab.need_backend(backend)
        self.target = Lines([lab.target("stepped")])
        self.target.ask("c 0")
        self.parts = Lines([PARTS, backend, str(self.target.process.pid)], greets=True)
        assert json.loads(self.parts.greeting)["backend"] in (backend, "session", "multi", "perf", "ioctl")
        self.truth, self.attached = Truth(), ALL

    def switch(self, wanted):
        for verb, parts in (("detach", self.attached & ~wanted), ("attach", wanted & ~self.attached)):
            if parts:
                answer = json.loads(self.parts.ask("%s %d" % (verb, parts)))
                assert answer["code"] == 0, answer
        self.attached = wanted

    def calloc(self, count):
        for address in self.target.ask("c %d" % count).split():
            if self.attached & ALLOCATIONS:
                self.truth.alloc("calloc", address)

    def free(self, count):
        for address in self.target.ask("f %d" % count).split():
            if self.attached & FREES:
                self.truth.free(address)

    def realloc(self, count):
        words = self.target.ask("r %d" % count).split()
        for old, new in zip(words[::2], words[1::2]):
            if self.attached & REALLOCS:
                self.truth.free(old)
                self.truth.alloc("realloc", new)

    def check(self):
        report = json.loads(self.parts.ask("report"))
        for function, wanted in self.truth.counted.items():
            counted = report["functions"].get(function, [0, 0, 0, 0])
            assert [counted[0], counted[2]] == wanted, "%s: %s counted, %s expected" % (function, counted, wanted)
        assert "probes_missing" not in report["losses"], report
        return report

    def end(self):
        assert self.target.process.poll() is None, "the target has ended"
        self.target.ask("b 0")
        for lines in (self.parts, self.target):
            lines.process.stdin.close()
            assert lines.process.wait(timeout=lab.PATIENCE) == 0, lines.process.args


def rounds(backend, choices, count=ROUNDS):
    chance, trial = random.Random(backend), Trial(backend)
    trial.target.ask("b 1")
    for number in range(count):
        trial.switch(chance.choice(choices))
        trial.calloc(chance.randrange(8))
        trial.free(chance.randrange(6))
        trial.realloc(chance.randrange(3))
        trial.free(chance.randrange(3))
        if number % 20 == 0:
            trial.check()
    trial.target.ask("b 0")
    trial.switch(ALL)
    # The thread that was in the midst of calls all the time is counted to the call again.
    before = trial.check()["functions"].get("malloc", [0, 0, 0, 0])
    trial.target.ask("p 1000")
    after = trial.check()["functions"]["malloc"]
    assert after[0] - before[0] == 1000 and 1000 <= after[2] - before[2] <= 1001, (before, after)
    trial.end()


def test_frees_and_allocations():
    """Only what frees, and only what allocates, a hundred times."""
    rounds("auto", [FREES, ALLOCATIONS])


def test_any_parts():
    rounds("auto", [FREES | REALLOCS, ALL, ALLOCATIONS, FREES, 0, ALL & ~FREES])


def test_multi():
    rounds("multi", [FREES, ALLOCATIONS, 0, ALL], 30)


def test_perf():
    rounds("perf", [FREES, ALLOCATIONS, 0, ALL], 20)


def test_window():
    """Frees are in before the window and after it: each block of the window is freed where the target frees it."""
    trial = Trial("auto")
    trial.switch(0)
    for _ in range(ROUNDS // 4):
        trial.calloc(5)
        trial.switch(FREES | REALLOCS)
        trial.switch(FREES | REALLOCS | ALLOCATIONS)
        trial.calloc(20)
        trial.free(10)
        trial.switch(FREES | REALLOCS)
        trial.free(15)
        trial.switch(0)
        trial.check()
    trial.end()


if __name__ == "__main__":
    lab.run_tests()
