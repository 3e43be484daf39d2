#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a file of another tool's format (first argument) from stdin by the rules of its specification, and prints the sums of its figures:
bytes and blocks in use, bytes and blocks allocated, as far as the format has them. All that refers to something must find it."""
import json
import re
import sys

NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]*\Z")


def check_name(name):
    assert isinstance(name, str) and NAME.match(name), name[:80]


def speedscope(text):
    """file-format-schema.json of speedscope, the part on sampled profiles, and what its importer relies on."""
    found = json.loads(text)
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(found) == {"$schema", "name", "exporter", "activeProfileIndex", "profiles", "shared"}
    assert 0 <= found["activeProfileIndex"] < len(found["profiles"])
    frames = found["shared"]["frames"]
    for frame in frames:
        assert set(frame) - {"file", "line"} == {"name"} and frame.get("line", 1) > 0
        check_name(frame["name"])
    for profile in found["profiles"]:
        assert set(profile) == {"type", "name", "unit", "samples", "weights", "startValue", "endValue"}
        assert profile["type"] == "sampled" and profile["unit"] in ("bytes", "none")
        assert len(profile["samples"]) == len(profile["weights"]) and all(weight > 0 for weight in profile["weights"])
        assert all(sample and 0 <= min(sample) and max(sample) < len(frames) for sample in profile["samples"])
        total = sum(profile["weights"])
        assert profile["startValue"] == 0 and profile["endValue"] == min(total, 2**64 - 1)
        yield total


class Callgrind:
    """The body of a profile by https://valgrind.org/docs/manual/cl-format.html: own costs and those of calls."""
    def __init__(self, lines, events):
        self.names, self.own, self.calls, self.called = {}, {}, {}, {}
        self.place, self.callee, self.is_call = {}, {}, False
        for line in lines:
            name = re.match(r"(ob|fl|fn|cob|cfi|cfn)=\((\d+)\)(?: (.*))?\Z", line)
            if name:
                self.take_name(*name.groups())
            elif line.startswith("calls="):
                assert re.match(r"calls=[1-9]\d* 0\Z", line), line
                self.is_call = True
            else:
                numbers = list(map(int, line.split()))
                assert len(numbers) == 1 + events, line
                self.take_cost(numbers[1:])

    def take_name(self, key, number, name):
        space = {"ob": "ob", "fl": "fl", "fn": "fn", "cob": "ob", "cfi": "fl", "cfn": "fn"}[key]
        if name is None:
            assert (space, number) in self.names, (key, number)
        else:
            check_name(name)
            assert (space, number) not in self.names
            self.names[space, number] = name
        (self.callee if key.startswith("c") else self.place)[space] = number

    def take_cost(self, values):
        function = self.place["fn"]
        self.own.setdefault(function, [0] * len(values))
        if self.is_call:
            assert self.callee["fn"] != function, "a function calls itself"
            for sums in (self.calls.setdefault(function, [0] * len(values)), self.called.setdefault(self.callee["fn"], [0] * len(values))):
                for i, value in enumerate(values):
                    sums[i] = min(sums[i] + value, 2**64 - 1)
        else:
            self.own[function] = [own + value for own, value in zip(self.own[function], values)]
        self.is_call = False


def callgrind(text):
    head, _, body = text.partition("\nevents: ")
    events, summary, *body = body.split("\n")
    events = events.split()
    assert head.startswith("# callgrind format\nversion: 1\ncreator: tracer ")
    for line in head.split("\n")[1:]:
        assert re.match(r"(version|creator|pid|cmd|desc|positions|event): ", line), line
    sums = list(map(int, summary.removeprefix("summary: ").split()))
    assert len(sums) == len(events) == 4
    assert body.pop() == "" and list(map(int, body.pop().removeprefix("totals: ").split())) == sums
    found = Callgrind([line for line in body if line], len(events))
    own = [sum(values[i] for values in found.own.values()) for i in range(4)]
    assert [min(value, 2**64 - 1) for value in own] == sums, (own, sums)
    # What comes into a function is what it costs and what it calls; nothing calls a process.
    limit = 2**64 - 1
    for function, into in found.called.items():
        out = [a + b for a, b in zip(found.own.get(function, [0] * 4), found.calls.get(function, [0] * 4))]
        assert max(map(max, (into, out))) >= limit or into == out, (found.names["fn", function][:80], into, out)
    return own


class Massif:
    """The lines of a file as ms_print takes them."""
    def __init__(self, text):
        self.lines = [line for line in (re.sub("#.*", "", line) for line in text.split("\n")) if line.strip()]
        self.at = 0

    def take(self, pattern):
        match = re.match(pattern + r"\Z", self.lines[self.at])
        assert match, (pattern, self.lines[self.at][:200])
        self.at += 1
        return match.groups()

    def tree(self, total, depth=0):
        """Returns the bytes of the node; what calls it adds up to it."""
        children, size, label = self.take(" {%d}n(\\d+): (\\d+) (.+)" % depth)
        check_name(label)
        sums = [self.tree(total, depth + 1) for _ in range(int(children))]
        assert int(size) <= total and (not sums or min(sum(sums), total) == int(size)), (size, sums, total)
        return int(size)


def massif(text):
    found = Massif(text)
    while found.lines[found.at].startswith("desc: "):
        found.at += 1
    found.take("cmd: (.*)")
    found.take("time_unit: ms")
    last, most, trees, number = -1, 0, [], 0
    while found.at < len(found.lines):
        assert found.take(r"snapshot=(\d+)") == (str(number),)
        time, size = int(found.take(r"time=(\d+)")[0]), int(found.take(r"mem_heap_B=(\d+)")[0])
        found.take("mem_heap_extra_B=0")
        found.take("mem_stacks_B=0")
        kind, = found.take("heap_tree=(empty|detailed|peak)")
        assert time >= last
        last, most, number = time, max(most, size), number + 1
        if kind != "empty":
            trees.append((kind, size))
            assert found.tree(size) == size
    assert kind != "empty" and [kind for kind, _ in trees].count("peak") <= 1
    assert all(size == most for kind, size in trees if kind == "peak"), (trees, most)
    # What is in use, and no other figure.
    return [size, 0, 0, 0]


def jeprof(text):
    """The sections as jeprof takes them: names of addresses, stacks, files. It subtracts 1 of all addresses but the first."""
    head, _, body = text.partition("\n---\n--- heap\nheap_v2/0\n")
    head = re.sub(r"\A--- symbol(\nbinary=[^\n]*)?\n?", "", head)
    symbols = {}
    for line in head.split("\n") if head else []:
        address, name = re.match(r"0x([0-9a-f]+) ([^ ].*)\Z", line).groups()
        check_name(name)
        assert all(name.split("--")) and 0 < int(address, 16) < 2**63 - 1 and int(address, 16) not in symbols, line[:200]
        symbols[int(address, 16)] = name
    body, _, files = body.partition("\n\nMAPPED_LIBRARIES:\n")
    lines = [line for line in body.split("\n") if not line.startswith("# ")]
    values = [list(map(int, re.match(r"  t\*: (\d+): (\d+) \[(\d+): (\d+)\]\Z", line).groups())) for line in lines[::2]]
    used = set()
    for line in lines[1::2]:
        assert re.match(r"@( 0x[0-9a-f]+)+\Z", line), line[:200]
        used.update(int(address, 16) - (i > 0) for i, address in enumerate(line.split()[1:]))
    assert used == set(symbols) and len(values) == len(lines[1::2]) + 1
    mapped, end = sorted(re.match(r"([0-9a-f]+)-([0-9a-f]+) r-xp ([0-9a-f]+) 00:00 0 (.+)\Z", line).groups() for line in files.splitlines()), 0
    for start, limit, offset, name in sorted((int(start, 16), int(limit, 16), int(offset, 16), name) for start, limit, offset, name in mapped):
        check_name(name)
        assert end <= start < limit <= 2**62 and any(start <= address < limit for address in used) and not (start | limit | offset) % 4096
        end = limit
    sums = [sum(stack[i] for stack in values[1:]) for i in (1, 0, 3, 2)]
    assert [min(value, 2**64 - 1) for value in sums] == [values[0][i] for i in (1, 0, 3, 2)]
    return sums


class Heaptrack:
    """The lines of a file of version 3 as heaptrack's readers take them: what refers to something finds it; sums by stack."""
    def __init__(self, text):
        self.strings, self.frames, self.traces, self.sizes, self.names = [], 0, [], [], []
        self.held, self.total, self.peak, self.at_peak = {}, 0, 0, {}
        self.sizes_seen = 0
        self.allocations = self.frees = self.temporary = self.last = self.time = 0
        for line in text.splitlines(keepends=True):
            assert line.endswith("\n")
            getattr(self, {"#": "comment", "+": "allocate", "-": "free"}.get(line[0], "line_" + line[0]))(line[2:-1])

    def comment(self, sentence):
        check_name(sentence)

    line_v = line_X = line_I = comment

    def line_s(self, rest):
        length, _, name = rest.partition(" ")
        check_name(name)
        assert len(name.encode()) == int(length, 16), rest[:80]
        self.strings.append(name)

    def line_i(self, rest):
        _, module, function, file, _ = (int(number, 16) for number in rest.split())
        assert function and max(module, function, file) <= len(self.strings)
        self.frames += 1

    def line_t(self, rest):
        frame, caller = (int(number, 16) for number in rest.split())
        assert 0 < frame <= self.frames and caller <= len(self.traces)
        self.traces.append(caller)

    def line_a(self, rest):
        size, trace = (int(number, 16) for number in rest.split())
        assert 0 < trace <= len(self.traces)
        self.sizes.append((size, trace))

    def allocate(self, rest):
        self.last = int(rest, 16)
        # heaptrack_gui counts sizes as they come, and takes a larger number for a known one.
        assert self.last <= self.sizes_seen, (self.last, self.sizes_seen)
        self.sizes_seen += self.last == self.sizes_seen
        size, trace = self.sizes[self.last]
        self.held[trace] = self.held.get(trace, 0) + size
        self.total += size
        self.allocations += 1
        assert self.total < 2**63
        if self.total > self.peak:
            self.peak, self.at_peak = self.total, None
        elif self.at_peak is None:
            self.take_peak(trace, size)

    def take_peak(self, trace, size):
        """What all held before this change."""
        self.at_peak = dict(self.held)
        self.at_peak[trace] -= size

    def free(self, rest):
        index = int(rest, 16)
        size, trace = self.sizes[index]
        if self.at_peak is None:
            self.at_peak = dict(self.held)
        self.temporary += self.last == index
        self.last = 0
        self.held[trace] = self.held.get(trace, 0) - size
        self.total -= size
        self.frees += index < self.sizes_seen  # the last size is of nothing
        assert self.held[trace] >= 0

    def line_c(self, rest):
        assert int(rest, 16) >= self.time
        self.time = int(rest, 16)

    def line_R(self, rest):
        int(rest, 16)


def heaptrack(text):
    found = Heaptrack(text)
    # More blocks than are written: sums of bytes only.
    if "\n# Blocks are too many" in text:
        return [found.total, 0, 0, 0]
    # Temporary blocks are where other formats have bytes.
    return [found.total, found.allocations - found.frees, found.temporary, found.allocations]


if __name__ == "__main__":
    print(*globals()[sys.argv[1]](sys.stdin.buffer.read().decode()))
