#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are large where none is, or wrong: what they cost is bounded, and the process beside is exact."""
import json
import lzma
import os
import re
import struct
import sys

import attacks
import elves
import lab

MIB = 1 << 20
LARGE = lab.SCALE > 1  # the sizes that are too slow for each run


def traced(path, *options, depth=1, stubs=1, **bounds):
    process = attacks.rogue("calls", depth, stubs, path)
    # Its code is seen, so names and rows are asked for.
    report, errors = attacks.check([process], *options, until=lambda report: names_in(report, path), **bounds)
    lab.end(process)
    assert names_in(report, path), report["sites"]
    return report, errors


def names_in(report, path):
    """Functions of a file that are in stacks."""
    return {frame["function"] for site in report["sites"] for frame in site["frames"] if frame["module"] == path}


def test_many_names_that_overlap():
    """Each is the end of the same text."""
    count, length = 4000000 if LARGE else 400000, 60000
    table = bytearray((count + 1) * 24)
    for i in range(count):
        struct.pack_into("<IBBHQQ", table, (i + 1) * 24, 1 + i % length, 0x12, 0, 1, elves.PAGE, elves.STUB)
    with attacks.folder() as path:
        for kind in (elves.SYMTAB, elves.DYNSYM):
            elves.write(path + "/names.so", elves.tables(table, b"\0" + b"n" * length + b"\0", kind))
            traced(path + "/names.so", bound=(400 if LARGE else 120) * MIB, worker=1 << 30)


def test_unwind_entries_of_zeros():
    size = (500 if LARGE else 100) * MIB
    with attacks.folder() as path:
        elves.write(path + "/zeros.so", [elves.Section(b".eh_frame", elves.PROGBITS, size=size, flags=elves.ALLOC)])
        traced(path + "/zeros.so", bound=120 * MIB, worker=size + 200 * MIB)


def test_many_unwind_entries():
    count = 2000000 if LARGE else 200000
    with attacks.folder() as path:
        elves.write(path + "/entries.so", [elves.entries(count, 4000)], stubs=4000)
        traced(path + "/entries.so", stubs=4000, bound=120 * MIB, worker=(800 if LARGE else 200) * MIB)


def test_compressed_symbols():
    """Streams that become much more than they are: of just less and of much more than is read."""
    stream = lzma.compress(bytes(63 * MIB), preset=0)
    with attacks.folder() as path:
        for repeat in (1, 65):
            elves.write(path + "/packed.so", [elves.Section(b".gnu_debugdata", elves.PROGBITS, stream * repeat)])
            traced(path + "/packed.so", bound=120 * MIB, worker=300 * MIB)


def test_many_sections():
    with attacks.folder() as path:
        elves.write(path + "/sections.so", section_count=1000000)
        traced(path + "/sections.so", bound=120 * MIB, worker=400 * MIB)


def test_many_notes():
    note = struct.pack("<III8s", 8, 28, 3, b"stapsdt\0") + struct.pack("<QQQ", elves.PAGE, 0, 0) + b"a\0b\0"
    with attacks.folder() as path:
        elves.write(path + "/notes.so", [elves.Section(b".note.stapsdt", elves.NOTE, note * (4 * MIB // len(note)))])
        traced(path + "/notes.so", bound=120 * MIB, worker=200 * MIB)


def test_compressed_debug_information():
    """Units without end, in a file of few bytes."""
    size = (3 << 30) if LARGE else (400 * MIB)
    unit = struct.pack("<IHIB", 8, 4, 0, 8) + b"\1"
    block = unit * (MIB // len(unit))
    with attacks.folder() as path:
        elves.write(path + "/debug.so", [elves.compressed(b".debug_info", block, size // len(block)),
                                         elves.Section(b".debug_abbrev", elves.PROGBITS, b"\1\x11\0\0\0\0")])
        traced(path + "/debug.so", bound=120 * MIB, worker=1200 * MIB)


def bomb(attributes, entries, nested):
    """Each entry of a unit has one byte and so many attributes, which have none."""
    name = bytes([0x34, 0x19])  # DW_AT_artificial, DW_FORM_flag_present
    abbreviations = bytes([1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0, 2, 0x2e, nested]) + name * attributes + bytes(3)
    unit = struct.pack("<HIBBQQ", 4, 0, 8, 1, elves.PAGE, elves.STUB) + b"\2" * entries + bytes(entries * nested + 1)
    ranges = struct.pack("<HIBB4xQQQQ", 2, 0, 8, 0, elves.PAGE, elves.STUB, 0, 0)
    return [elves.Section(b".debug_info", elves.PROGBITS, struct.pack("<I", len(unit)) + unit),
            elves.Section(b".debug_abbrev", elves.PROGBITS, abbreviations),
            elves.Section(b".debug_aranges", elves.PROGBITS, struct.pack("<I", len(ranges)) + ranges)]


def test_abbreviations_without_end():
    """Thousands of millions of attributes in a file of a megabyte, in one entry behind the other or each in the one before."""
    for nested in (0, 1):
        with attacks.folder() as path:
            elves.write(path + "/bomb.so", bomb(20000, 1000000, nested))
            report, errors = traced(path + "/bomb.so", bound=120 * MIB, worker=1200 * MIB)
            # What is lost is said once, and counted.
            assert report["loss"]["files_without_names"] == 1, report["loss"]
            assert errors.count("no function names for %s/bomb.so" % path) == 1, errors


EVIL = (b"\x1b[31mred", b"\xc2\x9b31m", b"\xe2\x80\xaeright to left", b"two\nlines", b"a;b", b"\xff\xfe\xc0\xaf", b"%n%s%n",
        b"l" * 60000, b"\r\x08\x08over", b"\xed\xa0\x80", b"tab\tquote\"\\", b"]0;title\x07", b"e\xcc\x81" + b"\xcc\x81" * 300,
        b"\xe2\x80\x8b\xef\xbb\xbf\xc2\xad")


FORMS = (["-j"], ["-f"], [], ["-v", "--color", "always"])


def check_outputs(process):
    """Each is whole: objects are objects, and folded lines are stacks and a number."""
    for form in FORMS:
        tracer = lab.Tracer(*form, "-n", "0", "-p", process.pid, "3600")
        # What one that came later has recorded, this one has, too.
        later = lab.Tracer("-q", "-j", "-p", process.pid, "3600")
        later.wait_for_calls()
        later.stop()
        tracer.process.send_signal(lab.signal.SIGINT)
        output = tracer.process.communicate(timeout=lab.PATIENCE)[0].decode("utf-8", "strict")
        errors = os.pread(tracer.messages.fileno(), 1 << 20, 0).decode("utf-8", "strict")
        assert tracer.process.returncode == 0 and output, (form, errors)
        if "always" in form:
            output = re.sub(r"\x1b\[[0-9;]*m", "", output)
        attacks.check_text(output)
        attacks.check_text(errors)
        if form == ["-j"]:
            assert json.loads(output)["sites"], output
        if form == ["-f"]:
            assert all(line.rsplit(" ", 1)[1].isdigit() for line in output.splitlines()), output


def test_names_of_functions():
    with attacks.folder() as path:
        elves.write(path + "/evil.so", elves.symbols(EVIL), stubs=len(EVIL))
        process = attacks.rogue("calls", 2, len(EVIL), path + "/evil.so")
        check_outputs(process)
        # Which one it calls is chance.
        report, _ = attacks.check([process], bound=120 * MIB,
                                  until=lambda report: len(names_in(report, path + "/evil.so")) >= len(EVIL) - 1)
        found = names_in(report, path + "/evil.so")
        assert {"a;b", "%n%s%n"} < found and len(found) >= len(EVIL) - 1, found


def test_names_of_processes_and_files():
    processes = [attacks.rogue("name", 4, name) for name in ("\x1b[2J\x9b\n;", "\u202e%n\u200b", b"\xff\xc2\x9b")]
    check_outputs(processes[0])
    attacks.check(processes, bound=120 * MIB)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def give_away(path):
    os.chown(path, 65534, 65534)


def generated_of(report, pid):
    """The names of generated code of a process."""
    return {frame["function"] for site in report["sites"] if site["pid"] == pid for frame in site["frames"] if frame["kind"] == "jit"}


def check_maps(folder):
    """The first one's map is its own; what the others have in its place is none."""
    def make_link(path, text):
        write(folder + "/secret", text)
        give_away(folder + "/secret")
        os.symlink(folder + "/secret", path)

    def make_anothers(path, text):
        write(path, text)
        give_away(path)

    def make_fifo(path, text):
        os.mkfifo(path)
        writer = lab.start(["sh", "-c", 'echo "$1" > "$0"', path, text])
        lab.wait_for(lambda: lab.is_waiting(writer), "the writer waits")
        writers.append(writer)

    writers, processes, paths = [], [], []
    try:
        for make in (write, make_link, make_anothers, make_fifo, lambda path, _: os.mknod(path, 0o020666, os.makedev(1, 5)),
                     lambda path, _: os.mkdir(path)):
            process = lab.start([lab.target("rogue"), "generated", "4"])
            code = int(process.stdout.readline(), 16)
            assert process.stdout.readline() == b"ready\n"
            paths.append("/tmp/perf-%d.map" % process.pid)
            make(paths[-1], "%x 1000 secret_name\n" % code)
            processes.append(process)
        report, _ = attacks.check(processes, bound=120 * MIB, until=lambda report: all(
            generated_of(report, process.pid) for process in processes))
        assert writers[0].poll() is None, "somebody has opened the FIFO"
    finally:
        for path in paths:
            (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
    return report, [process.pid for process in processes]


def test_maps_of_generated_code():
    """A link to a file of somebody else, somebody else's, a FIFO, a device, a folder."""
    with attacks.folder() as path:
        report, pids = check_maps(path)
    found = {pid: generated_of(report, pid) for pid in pids}
    assert found == {pid: {"secret_name" if pid == pids[0] else None} for pid in pids}, found


def test_names_of_groups():
    for name in ("..", "../..", "../../../../etc", "/..", "/../x", "a/../..", "./..", "//.."):
        for option in ("--cgroup", "--container"):
            status, _, errors = lab.run(option, name, "-d", "10ms")
            assert status in (2, 4) and errors, (option, name, status, errors)
            attacks.check_text(errors)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    lab.run_tests()
