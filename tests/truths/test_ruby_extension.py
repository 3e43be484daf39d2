#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The test suite of an extension of Ruby, json, under `tracer leaks -- ruby`: its parser loses nothing, its generator three buffers where it raises, and builds without
a free that they have are found, with the line that allocates. Truth: the source, of which one line is left out, and that frees no buffer when it raises; the suite passes
either way. And what Ruby itself leaves at its end, by memcheck."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sources  # noqa: E402
import lab  # noqa: E402

PACKAGE = "ruby3.1"  # the source of Ruby has json
PARTS = ("parser", "generator")
ALLOCATES = "fb = ALLOC(FBuffer);"
RUN = """
%w[test ext lib].each { |name| $:.unshift File.join(__dir__, name) }
ENV['JSON'] = 'ext'
Dir[File.join(__dir__, 'test/json_*_test.rb')].sort.each { |file| require file }
"""
STACKS = 1 << 18  # more than the suite has; the default is fewer
# A file, and a line of it that is left out.
PARSER = ("parser/parser.c", "\tfbuffer_free(json->fbuffer);\n")
GENERATOR = ("fbuffer/fbuffer.h", "    fbuffer_free(fb);\n")


def built(name, plant=None):
    """The folder of a build of json with its suite."""
    tree, version = sources.fetch(PACKAGE)
    ruby = subprocess.run([lab.need("ruby"), "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True).stdout
    if not version.startswith(ruby.rpartition(".")[0]):
        raise lab.Skip("json of Ruby %s is not for Ruby %s" % (version, ruby))
    folder = os.path.join(sources.BUILT, "json", name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(tree, "ext/json"), os.path.join(folder, "source"))
    shutil.copytree(os.path.join(tree, "ext/json/lib"), os.path.join(folder, "lib"))
    shutil.copytree(os.path.join(tree, "test/json"), os.path.join(folder, "test"))
    if plant:
        remove_line(os.path.join(folder, "source", plant[0]), plant[1])
    os.makedirs(os.path.join(folder, "ext/json/ext"))
    for part in PARTS:
        place = os.path.join(folder, "source", part)
        for command in (["ruby", "extconf.rb"], ["make", "optflags=-O1 -fno-inline", "debugflags=-g"]):
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if "can't find header files" in done.stderr:
                raise lab.Skip("Ruby's headers are not installed")
            assert not done.returncode, done.stdout + done.stderr
        shutil.copy(os.path.join(place, part + ".so"), os.path.join(folder, "ext/json/ext"))
    with open(os.path.join(folder, "run.rb"), "w", encoding="ascii") as file:
        file.write(RUN)
    return folder


def remove_line(path, line):
    """Lines behind it stay where they are."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.count(line) == 1, (path, line)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(line, "\n"))


def report_of(folder, part, status, *options):
    """The report on a run of the suite, which passes."""
    with tempfile.NamedTemporaryFile("r") as file:
        got, output, errors = lab.run("leaks", "-j", "-n", "0", *lab.PATIENT, *options, "-o", file.name, "--suppressions", "@ruby",
                                      "--only-module", part + ".so", "--", lab.need("ruby"), os.path.join(folder, "run.rb"))
        assert got == status, (got, errors)
        passed = re.search(r"(\d+) tests, \d+ assertions, 0 failures, 0 errors", output)
        assert passed and int(passed.group(1)) > 90 and "ruby exited with status 0" in errors, (output, errors)
        report = json.loads(file.read())
    assert report["at_end"] and report["certain"], report
    print("# %s.so, %s: %s tests; lost %s; suppressed %d, left out %d" % (part, os.path.basename(folder), passed.group(1), {
        kind: report["lost"][kind]["blocks"] for kind in ("definite", "indirect", "possible")}, *(
            report[name]["blocks"] for name in ("suppressed", "left_out"))))
    return report


def allocating_lines(folder, report):
    """Blocks by the line of the extension that has allocated them."""
    found = {}
    for group in report["groups"]:
        frame = next(frame for frame in group["frames"] if frame["file"] and "/json/" in frame["file"] and frame["kind"] == "native")
        with open(os.path.join(folder, "source/fbuffer", os.path.basename(frame["file"])), encoding="utf-8") as file:
            line = file.read().splitlines()[frame["line"] - 1].strip()
        found[line] = found.get(line, 0) + group["blocks"]
    return found


def test_parser():
    report = report_of(built("honest"), "parser", 0, "--max-stacks", STACKS)
    assert not report["groups"] and report["left_out"]["blocks"] > 1000, report["groups"]


def test_generator():
    """A buffer is lost each time a test asserts that generating raises."""
    folder = built("honest")
    report = report_of(folder, "generator", 1, "--max-stacks", STACKS)
    lines = allocating_lines(folder, report)
    assert lines == {ALLOCATES: sum(lines.values())} and 1 <= lines[ALLOCATES] <= 5, lines
    assert all("_assert_raise" in [frame["function"] for frame in group["frames"]] for group in report["groups"]), report["groups"]


def test_planted_in_parser():
    folder = built("planted-parser", PARSER)
    report = report_of(folder, "parser", 1, "--max-stacks", STACKS)
    assert allocating_lines(folder, report)[ALLOCATES] > 100, report["groups"]


def test_planted_in_generator():
    folder = built("planted-generator", GENERATOR)
    report = report_of(folder, "generator", 1, "--max-stacks", STACKS)
    assert allocating_lines(folder, report)[ALLOCATES] > 100, report["groups"]


def test_no_room_for_stacks():
    """Where stacks are more than there is room for, nothing is called free of leaks."""
    folder = built("planted-generator", GENERATOR)
    report = report_of(folder, "generator", 1, "--max-stacks", 4096)
    assert "stack table full" in [frame["function"] for group in report["groups"] for frame in group["frames"]], report["groups"]
    assert any("--max-stacks" in remark for remark in report["remarks"]), report["remarks"]


def lost_of_memcheck(command):
    process = lab.start([lab.need("valgrind"), "--leak-check=full", "--run-libc-freeres=no", *command])
    _, errors = process.communicate(timeout=lab.PATIENCE * 5)
    return {kind: int(count.replace(",", "")) for kind, count in re.findall(r"== +(\w+) lost: [\d,]+ bytes in ([\d,]+) blocks", errors.decode())}


def test_end_of_ruby():
    """At its end Ruby 3.1 gives back those half of its heap's pages that have the lowest addresses, and the others go on to hold blocks. Valgrind has
    mappings at ascending addresses, Linux at descending ones unless a personality is set: then the same half is left, and as many blocks are lost. Codes, which
    memcheck does not look for, make some of them possibly lost."""
    truth = lost_of_memcheck([lab.need("ruby"), "-e", "1"])
    with tempfile.NamedTemporaryFile("r") as file:
        status, _, errors = lab.run("leaks", "-j", *lab.PATIENT, "-o", file.name, "--", lab.need("setarch"), "-L", lab.need("ruby"), "-e", "1")
        assert status == 1, errors
        lost = {kind: row["blocks"] for kind, row in json.loads(file.read())["lost"].items()}
    print("# memcheck", truth, "tracer", lost)
    whole = sum(truth.values())
    assert abs(lost["definite"] + lost["indirect"] + lost["possible"] - whole) < whole / 20, (truth, lost)


lab.run_tests()
