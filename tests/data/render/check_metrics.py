#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads text in Prometheus' exposition format (0.0.4) from standard input, by its specification, and fails where it is wrong. Several
texts may follow each other, each ended by a line "# EOF"."""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r"(%s)(?:\{(%s(?:,%s)*)?\})? ([0-9.eE+-]+|[+-]Inf|NaN)" % (NAME, LABEL, LABEL))
VALUE_MAX = 500  # bytes of a label's value


def check(text):
    kinds, helps, done, seen, family = {}, set(), set(), set(), None
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in helps and len(line.split(" ", 3)[3]) > 5, line
            helps.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in ("gauge", "counter") and name not in kinds and name in helps, line
            assert (kind == "counter") == name.endswith("_total"), line
            kinds[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, "no sample: %r" % line
            name, labels, value = match.groups()
            assert name in kinds, "no type: %r" % line
            assert name == family or name not in done, "a family in two parts: %r" % line
            family = name
            done.add(name)
            assert kinds[name] == "gauge" or float(value) >= 0, line
            names = [part[0] for part in re.findall(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"', labels or "")]
            assert len(names) == len(set(names)), line
            assert all(len(part.encode()) <= VALUE_MAX for part in re.findall(LABEL, labels or "")), line
            assert (name, labels) not in seen, "a series twice: %r" % line
            seen.add((name, labels))
    assert seen, "no sample at all"


whole = sys.stdin.buffer.read().decode("utf-8")
assert whole.endswith("\n")
for one in whole.split("# EOF\n") if "# EOF\n" in whole else [whole]:
    if one:
        check(one)
