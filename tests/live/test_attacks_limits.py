#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that would keep the tracer busy or take all that it has: it reports on time, and others' figures are exact."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import attacks
import lab


def hostile(*arguments, **options):
    return attacks.attacker(lab.target("hostile"), *arguments, **options)


def reports_on_time(tracer, process, reports=2):
    """Two reports come; then the victim does its work, and the last report, which comes soon, is right about it."""
    for _ in range(reports):
        assert json.loads(tracer.process.stdout.readline())["targets"]
    account = lab.work(process)
    report = json.loads(tracer.stop().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    report["sites"] = [site for site in report["sites"] if site["pid"] == process.pid]
    assert lab.sums(report, {"site_block"}) == account, (account, lab.sums(report, {"site_block"}))
    return report


def check(attacker, *options, orders=2):
    """In both orders."""
    for order in (lambda a, b: (a, b), lambda a, b: (b, a))[:orders]:
        process = attacks.victim()
        pids = "%d,%d" % order(attacker.pid, process.pid)
        tracer = lab.Tracer("-j", "-n", "0", "-p", pids, *options, "0.5")
        report = reports_on_time(tracer, process)
        lab.end(process)
    return report, tracer.stderr()


def interpreter():
    """A file that holds CPython: the library, or the program."""
    for path in (os.path.realpath("/proc/self/exe"), "/usr/bin/python3"):
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            if "libpython3" in line:
                return line.split("=>")[1].split()[0]
        if os.path.exists(path) and "_PyRuntime" in subprocess.run(
                ["nm", "-D", path], capture_output=True, text=True, check=False).stdout:
            return os.path.realpath(path)
    raise lab.Skip("no CPython that exports its state")


def test_map_of_generated_code_in_no_order():
    process = hostile("names", "1000000")
    try:
        check(process)
    finally:
        os.unlink("/tmp/perf-%d.map" % process.pid)


def test_many_mappings_with_long_names():
    with attacks.folder() as path:
        for _ in range(17):
            path = os.path.join(path, "x" * 200)
            os.mkdir(path)
        with open(path + "/file", "wb") as file:
            file.write(bytes(4096))
        check(hostile("mappings", "30000", path + "/file"), orders=1)


def test_memory_like_that_of_many_threads():
    check(hostile("threads", "256", interpreter()))


def test_pages_that_never_come():
    check(hostile("faults", "16", interpreter()))


def write_strings(path):
    """An ELF file of a few kilobytes on the disk, with two string tables of a gigabyte, and functions with names in them."""
    machine = {"x86_64": 62, "aarch64": 183}[os.uname().machine]
    size, count, code, symbols = 1 << 30, 64, 0x1000, 0x2000
    section = struct.Struct("<IIQQQQIIQQ")
    sections = [section.pack(*[0] * 10),
                section.pack(0, 11, 0, 0, symbols, count * 24, 2, 0, 8, 24),
                section.pack(0, 3, 0, 0, 0x10000, size, 0, 0, 1, 0),
                section.pack(0, 2, 0, 0, symbols, count * 24, 4, 0, 8, 24),
                section.pack(0, 3, 0, 0, 0x20000 + size, size, 0, 0, 1, 0)]
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, machine, 1, 0, 64, 0x400, 0, 64, 56, 1, 64, 5, 0)
    with open(path, "wb") as file:
        file.write(header + struct.pack("<IIQQQQQQ", 1, 5, code, code, code, 0x1000, 0x1000, 0x1000))
        file.seek(0x400)
        file.write(b"".join(sections))
        file.seek(symbols)
        for i in range(count):
            file.write(struct.pack("<IBBHQQ", i * (size // count) + 1, 0x12, 0, 1, code + i * 16, 16))
        file.truncate(0x20000 + 2 * size)


def peak_of(tracer):
    """Bytes of memory that its processes have had at most, together."""
    held = attacks.Held(tracer)
    held.end()
    return sum(held.processes.values())


def test_string_tables_of_gigabytes():
    with attacks.folder() as path:
        write_strings(path + "/strings.so")
        attacker, process = hostile("files", "0", path + "/strings.so"), attacks.victim()
        tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (attacker.pid, process.pid), "0.5")
        json.loads(tracer.process.stdout.readline())
        peak = peak_of(tracer)
        print("# at most %d MiB" % (peak >> 20))
        assert peak < 400 << 20, peak
        reports_on_time(tracer, process, 0)


FEW_FILES = ("prlimit", "--nofile=1024:1024")


def many_files(path):
    """More than the tracer may open, all of them links to one."""
    shutil.copy(lab.target("plugin.so"), path + "/file")
    for i in range(1500):
        os.link(path + "/file", "%s/%d" % (path, i))
    return ["%s/%d" % (path, i) for i in range(1500)]


def test_more_files_than_descriptors():
    lab.need("prlimit")
    with attacks.folder() as path:
        attacker = hostile("files", "0", *many_files(path))
        for order in (lambda a, b: (a, b), lambda a, b: (b, a)):
            process = attacks.victim()
            tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % order(attacker.pid, process.pid), "0.5", under=FEW_FILES)
            report = reports_on_time(tracer, process)
            assert report["loss"]["files_unopened"] > 0, report["loss"]
            assert "open-file limit reached" in tracer.stderr(), tracer.stderr()
            lab.end(process)


def test_more_files_than_descriptors_under_a_name():
    lab.need("prlimit")
    with attacks.folder() as path:
        shutil.copy(lab.target("hostile"), path + "/blocks")
        attacker = lab.start([path + "/blocks", "files", "0", *many_files(path)])
        assert attacker.stdout.readline() == b"ready\n"
        process = attacks.victim()
        tracer = lab.Tracer("-j", "-n", "0", "--comm", "blocks", "0.5", under=FEW_FILES)
        reports_on_time(tracer, process)


def files_of_rows(path, count):
    """Copies of a file with 220,000 unwind rows."""
    lab.need("gcc")
    code = ".text; .globl f; f: .cfi_startproc; .rept 110000; .cfi_adjust_cfa_offset 8; nop; " \
           ".cfi_adjust_cfa_offset -8; nop; .endr; ret; .cfi_endproc"
    with open(path + "/rows.s", "w", encoding="ascii") as file:
        file.write(code + "\n")
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", path + "/0.so", path + "/rows.s"], check=True)
    os.unlink(path + "/rows.s")
    paths = ["%s/%d.so" % (path, i) for i in range(count)]
    for copy in paths[1:]:
        shutil.copy(paths[0], copy)
    return paths


def test_files_that_fill_the_unwind_tables():
    with attacks.folder() as path:
        paths = files_of_rows(path, 24)
        attacker = hostile("files", "0", *paths)
        process = attacks.victim()
        tracer = lab.Tracer("-j", "-n", "0", "-p", "%d,%d" % (attacker.pid, process.pid), "0.5")
        report = reports_on_time(tracer, process)
        assert report["loss"]["files_without_rows"] > 0, report["loss"]
        site = [site for site in report["sites"] if lab.function_of(site) == "site_block"][0]
        assert any(frame["function"] == "main" for frame in site["frames"]), site


# Opens all files of a folder, maps none, and then executes a program.
OPENER = """
import os, sys, time
worst = 0
for name in os.listdir(sys.argv[1]):
    begin = time.monotonic()
    os.close(os.open(os.path.join(sys.argv[1], name), os.O_RDONLY))
    worst = max(worst, time.monotonic() - begin)
print("%.3f s" % worst, file=sys.stderr)
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_files_that_are_opened_and_not_mapped():
    """A command opens programs and libraries by the thousand, with more unwind rows than there is room for."""
    with attacks.folder() as path:
        os.mkdir(path + "/files")
        files_of_rows(path + "/files", 40)
        for i in range(2000):
            shutil.copy(lab.target("plugin.so"), "%s/files/%d" % (path, i))
        shutil.copy(lab.target("blocks"), path + "/blocks")
        with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
            tracer = lab.Tracer("-v", "-j", "-n", "0", "-o", file.name, "--", sys.executable, "-c", OPENER, path + "/files",
                                path + "/blocks", "1000", "stay")
            account = json.loads(tracer.process.stdout.readline())
            descriptors = len(os.listdir("/proc/%d/fd" % tracer.process.pid))
            peak = peak_of(tracer)
            tracer.process.send_signal(lab.signal.SIGINT)
            tracer.process.wait(lab.PATIENCE)
            errors, report = tracer.stderr(), json.loads(file.read())
        if "are not held" in errors:
            raise lab.Skip("the kernel does not let opens be held")
        print("# %d descriptors, at most %d MiB, an open took %s" % (
            descriptors, peak >> 20, re.search(r"^([0-9.]+ s)$", errors, re.M).group(1)))
        assert lab.sums(report, {"site_block"}) == account, (account, lab.sums(report, {"site_block"}))
        site = [site for site in report["sites"] if lab.function_of(site) == "site_block"][0]
        assert any(frame["function"] == "main" for frame in site["frames"]), site
        # What nobody has mapped is no loss, and not kept.
        assert not report["loss"]["files_without_rows"] and "unwind tables are full" not in errors, errors
        assert descriptors < 600 and peak < 400 << 20, (descriptors, peak)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
