#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of Debian: what the tracer counts is what a library counts that is preloaded, and their output is the same."""
import counted
import lab
import table


def tester(program):
    def test():
        calls, size, ways = counted.compare(program)
        print("# %-16s %9d calls %12d bytes, equal %s" % (program.name, calls, size, " and ".join(ways)))
    return test


for _program in table.ALL:
    globals()["test_" + _program.name] = tester(_program)
lab.run_tests()
