#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames: functions, lines and inlined calls as addr2line and gdb have them."""
import os
import re
import shutil
import subprocess
import tempfile

import lab


def addr2line(module, offset):
    """[(function, file, line)], innermost first, of the call before a return address."""
    # A file offset of code is its address in all files here but for the segment's shift, which readelf prints.
    headers = subprocess.run(["readelf", "-lW", module], capture_output=True, text=True, check=True).stdout
    address = None
    for match in re.finditer(r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+)", headers):
        start, virtual, size = (int(text, 16) for text in match.groups())
        if start <= offset - 1 < start + size:
            address = offset - 1 - start + virtual
    lines = subprocess.run(["addr2line", "-f", "-i", "-C", "-e", module, hex(address)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    places = [line.split(" ")[0].rsplit(":", 1) for line in lines[1::2]]
    return [(name, os.path.basename(path) if path != "??" else None, int(line) if line != "?" else None)
            for name, (path, line) in zip(lines[::2], places)]


def place_of(frame):
    return frame["function"], frame["file"] and os.path.basename(frame["file"]), frame["line"]


def check_frames(report, module):
    checked = 0
    for site in report["sites"]:
        frames = [frame for frame in site["frames"] if frame["module"] == module]
        for offset in sorted({frame["offset"] for frame in frames}):
            # A frame occurs with all its inlined functions each time, and recursion repeats it.
            group = []
            for frame in frames:
                if frame["offset"] == offset:
                    group.append(place_of(frame))
                    if not frame["inlined"]:
                        break
            truth = addr2line(module, offset)
            assert group == truth, (group, truth)
            checked += 1
    return checked


def test_addr2line():
    lab.need("addr2line")
    for command in (["known", "calls"], ["deep", "5", "10"], ["known", "realloc"]):
        program = lab.target(command[0])
        _, report = lab.command_report([program] + command[1:])
        assert check_frames(report, os.path.realpath(program)) > 5


def test_inlined():
    _, report = lab.command_report([lab.target("deep"), "1", "1"])
    site = [site for site in report["sites"] if lab.function_of(site) == "site_inlined"][0]
    names = [(frame["function"], frame["inlined"]) for frame in site["frames"][:3]]
    assert names == [("inner_inlined", True), ("outer_inlined", True), ("site_inlined", False)], names


def gdb_frames(command, function):
    """[(function, line)] outwards from the caller of malloc, when `function` calls it for the first time."""
    script = ["set confirm off", "set debuginfod enabled off", "break %s" % function, "run", "delete", "break malloc",
              "continue", "backtrace"]
    arguments = [word for line in script for word in ("-ex", line)]
    said = []

    def is_seen():
        """A breakpoint where somebody else's `tracer -a` has one is the kernel's: the program runs on to its end."""
        said[:] = [subprocess.run(["gdb", "-q", "-nx", "-batch"] + arguments + ["--args"] + command, capture_output=True,
                                  text=True, check=False, stdin=subprocess.DEVNULL, timeout=lab.PATIENCE).stdout]
        return " in site_deep (" in said[0]
    lab.wait_for(is_seen, "gdb stops in malloc: %s" % said)
    output = said[0]
    frames = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ (?:\[PAC\] )?in )?([\w.]+) .*?(?: at ([^ :]+):(\d+))?$", output, re.M)
    start = [i for i, frame in enumerate(frames) if "malloc" in frame[0]][-1]
    return [(name, int(line)) for name, path, line in frames[start + 1:] if path and path.endswith("deep.c")]


def test_gdb():
    lab.need("gdb")
    command = [lab.target("deep"), "4", "1"]
    truth = gdb_frames(command, "site_deep")
    assert truth and truth[-1][0] == "main", truth
    _, report = lab.command_report(command)
    site = [site for site in report["sites"] if lab.function_of(site) == "site_deep"][0]
    found = [(frame["function"], frame["line"]) for frame in site["frames"]
             if (frame["file"] or "").endswith("deep.c")]
    assert found == truth, (found, truth)


def test_cpp_names():
    _, report = lab.command_report([lab.target("names")])
    found = {(lab.function_of(site), site["inuse_bytes"]) for site in report["sites"]}
    truth = {("outer::holder<long>::keep(unsigned long)", 80), ("main::{lambda(int)#1}::operator()(int) const", 55)}
    assert truth <= found, found
    names = [name for name, size in found if size == 77]
    assert len(names) == 1 and names[0].startswith("outer::holder<long>::operator()(std::map<"), names


def stripped_report(folder, *steps):
    program = os.path.join(folder, "program")
    shutil.copy(lab.target("known"), program)
    for step in steps:
        subprocess.run([word.format(program=program) for word in step], check=True, cwd=folder)
    _, report = lab.command_report([program, "zero"])
    return program, report


def test_stripped():
    with tempfile.TemporaryDirectory(prefix="tracer-stripped-") as folder:
        program, report = stripped_report(folder, ["strip", "{program}"])
        frames = [frame for site in report["sites"] for frame in site["frames"] if frame["module"] == program]
        assert frames and all(frame["function"] is None and frame["offset"] for frame in frames), frames
        _, output, _ = lab.run("-q", "-n", "0", "--", program, "zero")
        assert re.search(r"^ +program\+0x[0-9a-f]+$", output, re.M), output


def test_debug_link():
    with tempfile.TemporaryDirectory(prefix="tracer-debuglink-") as folder:
        _, report = stripped_report(
            folder, ["objcopy", "--only-keep-debug", "{program}", "{program}.debug"], ["strip", "{program}"],
            ["objcopy", "--add-gnu-debuglink={program}.debug", "{program}"])
        found = {frame["function"]: frame["line"] for site in report["sites"] for frame in site["frames"]}
        assert found.get("site_malloc"), found


def test_debug_link_to_fifo():
    """The debug file of a target is a link to a FIFO that only root may read: whoever writes into it is not let go."""
    with tempfile.TemporaryDirectory(prefix="tracer-debuglink-") as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo, 0o600)
        writer = lab.start(["sh", "-c", "echo message > fifo"], cwd=folder)
        lab.wait_for(lambda: lab.is_waiting(writer), "the writer waits")
        stripped_report(
            folder, ["objcopy", "--only-keep-debug", "{program}", "{program}.debug"], ["strip", "{program}"],
            ["objcopy", "--add-gnu-debuglink={program}.debug", "{program}"], ["ln", "-sf", fifo, "{program}.debug"])
        status, _, errors = lab.run("plan", "-u", "root", "--", os.path.join(folder, "program"))
        assert status == 0, errors
        assert writer.poll() is None, "somebody has opened the FIFO"
        with open(fifo, encoding="ascii") as file:
            assert file.read() == "message\n"


def test_debug_directory():
    """The debug file is nowhere but in a folder that is named, by build ID; without it there are no lines."""
    with tempfile.TemporaryDirectory(prefix="tracer-debug-dir-") as folder:
        program = os.path.join(folder, "program")
        shutil.copy(lab.target("known"), program)
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        store = os.path.join(folder, "store/.build-id", build_id[:2])
        os.makedirs(store)
        subprocess.run(["objcopy", "--only-keep-debug", program, os.path.join(store, build_id[2:] + ".debug")], check=True)
        subprocess.run(["strip", program], check=True)
        for options, expected in (([], False), (["--debug-dir", os.path.join(folder, "store")], True)):
            _, report = lab.command_report([program, "calls"], *options)
            lines = {frame["function"]: frame["line"] for site in report["sites"] for frame in site["frames"]}
            assert bool(lines.get("site_malloc")) == expected, (options, lines)


def stripped_leaky(folder):
    path = os.path.join(folder, "leaky")
    subprocess.run(["strip", "-o", path, lab.target("leaky")], check=True)
    return path


def read_of(report, path):
    """Sites that only request_read() has, in the program of this path."""
    return [site for site in report["sites"] if any(frame["module"] == path for frame in site["frames"]) and
            site["alloc_objects"] and site["alloc_bytes"] == 512 * site["alloc_objects"]]


def report_on(command, path, *options):
    """A report on a program that request_read() is in, and the messages."""
    process = lab.start(command)
    lab.wait_for(lambda: os.readlink("/proc/%d/exe" % process.pid) == path, "the program is executed")
    lab.wait_for(lambda: lab.is_waiting(process), "it rests between two requests")
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "1h", *options)
    reports = [tracer.report_now()]
    lab.wait_for(lambda: read_of(reports[-1], path) or reports.append(tracer.report_now()), "a request is read")
    tracer.stop()
    lab.end(process)
    return reports[-1], tracer.stderr()


def test_debug_directory_of_any_layout():
    """A file with the same build ID is found whatever its name is; with none, there is a message."""
    with tempfile.TemporaryDirectory(prefix="tracer-hint-") as folder:
        path = stripped_leaky(folder)
        store = os.path.join(folder, "store", "of", "builds")
        os.makedirs(store)
        shutil.copy(lab.target("churn"), os.path.join(store, "leaky"))
        report, messages = report_on([path], path, "--debug-dir", os.path.dirname(store))
        assert not [frame for site in report["sites"] for frame in site["frames"]
                    if frame["module"] == path and frame["function"]], report["sites"]
        assert re.search(r"^tracer: none of the 1 files in %s has the build ID of .*\bleaky\b" % os.path.dirname(store),
                         messages, re.M), messages
        shutil.copy(lab.target("leaky"), os.path.join(store, "build-4711"))
        report, messages = report_on([path], path, "--debug-dir", os.path.dirname(store))
        functions = {frame["function"] for site in report["sites"] for frame in site["frames"] if frame["line"]}
        assert "request_read" in functions, report["sites"]
        assert "none of the" not in messages, messages


def test_hint():
    """What may have the names of a stripped program: a package of the distribution of its root, or a file of its build ID."""
    with tempfile.TemporaryDirectory(prefix="tracer-hint-") as folder:
        root = os.path.join(folder, "root")
        for path in ("usr/bin", "etc", "var/lib/dpkg/info"):
            os.makedirs(os.path.join(root, path))
        lab.private_root(root, [stripped_leaky(folder)])
        program = os.path.join(root, "usr/bin/leaky")
        os.rename(os.path.join(root, "leaky"), program)
        with open(os.path.join(root, "var/lib/dpkg/info/leaky.list"), "w", encoding="ascii") as file:
            file.write("/.\n/usr/bin\n/usr/bin/leaky\n")
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
        for release, where in (
                (None, "an unstripped file of build ID %s in --debug-dir would have them" % build_id),
                ("ID=debian", "leaky-dbgsym (Debian's debug archive) or --debuginfod may have them")):
            if release:
                with open(os.path.join(root, "etc/os-release"), "w", encoding="ascii") as file:
                    file.write(release + "\n")
            expected = "leaky has no symbols: " + where
            report, _ = report_on([lab.need("chroot"), root, "/usr/bin/leaky"], program)
            nameless = [site for site in report["sites"] if site["frames"] and not site["frames"][0]["function"]
                        and site["frames"][0]["module"] == program]
            assert nameless, report["sites"]
            assert {site.get("hint") for site in nameless} == {expected}, (expected, report["sites"])


def test_hostile_name():
    """A program whose name would drive a terminal."""
    with tempfile.TemporaryDirectory(prefix="tracer-hostile-") as folder:
        program = os.path.join(folder, "a\x1b[31m;\nb")
        shutil.copy(lab.target("known"), program)
        for form in ([], ["-j"], ["-f"], ["-v"]):
            status, output, errors = lab.run(*form, "-n", "0", "--", program, "zero")
            assert status == 0, errors
            assert "\x1b" not in output.replace("{}", "") and "\x1b" not in errors, (output, errors)
            if form == ["-j"]:
                lab.last_object(output)


lab.run_tests()
