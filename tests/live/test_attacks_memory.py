#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks and mappings that lead to themselves, or are very many: the walk ends, and the process beside is exact."""
import json
import os
import shutil
import sys

import attacks
import elves
import lab

MIB = 1 << 20
LARGE = lab.SCALE > 1  # the sizes that are too slow for each run


def sites_of(report, process):
    return [site for site in report["sites"] if site["pid"] == process.pid]


def calls_of(report, process):
    return sum(site["alloc_objects"] for site in sites_of(report, process))


def test_stacks_that_lead_to_themselves():
    """Frame pointers to one frame, to two, and a signal that came while its own frame was returned from."""
    loops = [attacks.rogue("loop", kind) for kind in range(3)]
    report, _ = attacks.check(loops, bound=120 * MIB, until=lambda report: all(calls_of(report, process) > 10 for process in loops))
    for process in loops:
        sites = sites_of(report, process)
        # Said to be what it is: no stack ends at the beginning of the program.
        assert not any(frame["function"] == "main" for site in sites for frame in site["frames"]), sites


def functions_of(site, folder):
    return [frame["function"] for frame in site["frames"] if (frame["module"] or "").startswith(folder)]


def check_depth(report, process, folder, depth):
    """Stacks of so many functions, all of which have names, and which end where the program begins."""
    sites = [site for site in sites_of(report, process) if functions_of(site, folder)]
    assert sites
    for site in sites:
        functions = functions_of(site, folder)
        assert len(functions) == depth and all(functions), (depth, functions)
        assert any(frame["function"] == "main" for frame in site["frames"]), site


def test_frames_of_many_functions():
    """No two frames use the same unwind row."""
    count = 6000
    names = [b"f%d" % i for i in range(count)]
    with attacks.folder() as path:
        elves.write(path + "/many.so", [*elves.symbols(names), elves.entries(count, count)], stubs=count)
        processes = [attacks.rogue("calls", depth, count, path + "/many.so") for depth in (16, 110)]
        report, _ = attacks.check(processes, bound=200 * MIB)
        for process, depth in zip(processes, (16, 110)):
            check_depth(report, process, path, depth)


def test_frames_of_many_libraries():
    count = 2000 if LARGE else 900
    with attacks.folder() as path:
        elves.write(path + "/0.so", [*elves.symbols([b"f"]), elves.entries(1, 1)])
        paths = ["%s/%d.so" % (path, i) for i in range(count)]
        for other in paths[1:]:
            shutil.copy(paths[0], other)
        process = attacks.rogue("calls", 100, 1, *paths)
        report, _ = attacks.check([process], bound=400 * MIB)
        check_depth(report, process, path, 100)


def test_storm_of_mappings():
    """Two per call, some of which are half unmapped."""
    storms = [attacks.rogue("storm", 100)]
    attacks.check(storms, bound=120 * MIB, until=lambda report: calls_of(report, storms[0]) > 1000)


def test_program_of_another_user():
    """A set-user-ID program that a process of another user executes is followed, and exact."""
    with attacks.folder() as path:
        os.chmod(path, 0o755)
        shutil.copy(lab.target("blocks"), path + "/blocks")
        os.chmod(path + "/blocks", 0o4755)
        script = 'read line; exec "$0/blocks" 1000 wait'
        process = lab.start([lab.need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", script, path])
        lab.wait_for(lambda: lab.is_waiting(process) and "sh" in os.readlink("/proc/%d/exe" % process.pid), "the shell waits")
        tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600")
        process.stdin.write(b"execute\n")
        process.stdin.flush()
        lab.wait_for(lambda: os.readlink("/proc/%d/exe" % process.pid) == path + "/blocks" and lab.is_reading(process), "the program waits")
        # A report comes after all records of before: the program's mappings have been read, and its stacks are whole.
        tracer.report_now()
        with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
            assert "\nUid:\t65534\t0\t0\t0\n" in file.read()
        account = lab.work(process)
        report = json.loads(tracer.stop().splitlines()[-1])
        assert tracer.process.returncode == 0, tracer.stderr()
        attacks.check_victim(report, process, account)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
