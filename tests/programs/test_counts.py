#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of Debian: what the tracer counts is what a library counts that is preloaded, and their output is the same."""
import counted
import lab
import table


def tester(program):
    def test():
        calls, size, missed = counted.compare(program)
        verdicts = ["%s: %s" % (way, "equal" if count == 0 else "%d blocks of forked children missed" % count)
                    for way, count in missed.items() if count is not None]
        print("# %-16s %9d calls %12d bytes; %s" % (program.name, calls, size, "; ".join(verdicts)))
    return test


for _program in table.ALL:
    globals()["test_" + _program.name] = tester(_program)
lab.run_tests()
