#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks` at the end of a trace: lost blocks with the stacks that allocated them. Truth: what the programs lose, where."""
import json
import os
import re
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

PYTHON = """
import ctypes, sys
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
malloc.argtypes = [ctypes.c_size_t]
def lose(count, size):
    for _ in range(count):
        malloc(size)
class Parser:
    def parse(self):
        lose(100, 5000)
lose(60, 7000)
print("ready", flush=True)
sys.stdin.readline()
Parser().parse()
kept = [ctypes.create_string_buffer(9000) for _ in range(50)]
print("done", flush=True)
sys.stdin.read()
"""

RUBY = """\
require 'fiddle'
KEPT = []
def lose(count, size)
  count.times { Fiddle.malloc(size) }
end
def import
  lose(100, 5000)
end
def keep
  40.times { KEPT << Fiddle::Pointer.malloc(6008) }
end
lose(1, 100)
puts 'ready'
$stdout.flush
$stdin.gets
import
keep
puts 'done'
$stdout.flush
$stdin.gets
"""


def traced(command, *options, status=1):
    """The report of `tracer leaks -d` of a program that prints "ready", waits, and prints "done"."""
    process = lab.start(command)
    assert process.stdout.readline() == b"ready\n"
    tracer = lab.Tracer("leaks", *lab.PATIENT, *options, "-p", process.pid, "-d", "1h")
    lab.release(process)
    assert process.stdout.readline() == b"done\n"
    lab.wait_for(lambda: lab.is_waiting(process), "it waits")
    output = tracer.stop()
    assert tracer.process.returncode == status, (tracer.process.returncode, tracer.stderr())
    assert not os.path.exists("/proc/%d" % process.pid) or lab.is_waiting(process)
    return output


def group_of(report, size):
    groups = [group for group in report["groups"] if group["size"] == size and group["kind"] == "definite"]
    assert len(groups) == 1, [(group["kind"], group["size"], group["blocks"]) for group in report["groups"]]
    return groups[0]


def functions(group, kind):
    return [frame["function"] for frame in group["frames"] if frame["kind"] == kind]


def check_lost(report, kind, lines):
    """A few blocks may be hidden by old words; nothing else is lost with that size, and what is kept is not."""
    group = group_of(report, 5000)
    assert 90 <= group["blocks"] <= 100 and group["bytes"] == 5000 * group["blocks"], group
    names = functions(group, kind)
    places = [names.index(name) for name in lines]
    assert places == sorted(places) and group["function"] in ("malloc", "calloc"), group


def test_python():
    """Blocks since the attach have the lines that lost them; those from before have none, and that is said."""
    report = json.loads(traced([sys.executable, "-c", PYTHON], "-j"))
    check_lost(report, "python", ["lose", "Parser.parse", "<module>"])
    before = group_of(report, 7000)
    assert before["frames"] is None and before["function"] is None and before["blocks"] >= 50, before
    assert any("no stack" in remark for remark in report["remarks"]), report["remarks"]
    assert not [group for group in report["groups"] if group["size"] and 9000 <= group["size"] < 9100], report["groups"]
    assert report["traced_s"] > 0, report["traced_s"]


def test_ruby():
    """The same of an extension of Ruby."""
    with tempfile.NamedTemporaryFile("w", suffix=".rb") as script:
        script.write(RUBY)
        script.flush()
        report = json.loads(traced([lab.need("ruby"), script.name], "-j"))
    check_lost(report, "ruby", ["lose", "import"])
    assert not [group for group in report["groups"]
                if group["kind"] == "definite" and group["frames"] and "keep" in functions(group, "ruby")], report["groups"]


def test_light():
    """Without probes on frees, the table has the last owner of each address."""
    report = json.loads(traced([sys.executable, "-c", PYTHON], "-j", "--light"))
    check_lost(report, "python", ["lose", "Parser.parse", "<module>"])


def test_text():
    text = traced([sys.executable, "-c", PYTHON])
    assert "definitely lost" in text and "Allocations were traced for" in text, text
    first = text.split("#1 ")[1].split("\n#2 ")[0]
    assert "blocks of 5,000" in first and "by malloc" in first and "Parser.parse" in first, first


def folded(text):
    return {stack.rpartition(" ")[0]: int(stack.rpartition(" ")[2]) for stack in text.splitlines()}


def test_other_formats():
    """What is lost, as sites of a report: each byte once, those without a stack by what they are."""
    stacks = folded(traced([sys.executable, "-c", PYTHON], "--format", "folded"))
    by_parser = sum(size for stack, size in stacks.items() if "Parser.parse" in stack and "lose" in stack)
    before = sum(size for stack, size in stacks.items() if "[no stack: 7000 bytes" in stack)
    assert 90 * 5000 <= by_parser <= 100 * 5000 and 50 * 7000 <= before <= 60 * 7000, stacks


def test_formats_without_trace():
    """The same of blocks that nobody has seen: the bytes of each format are those of JSON."""
    process = lab.start([lab.target("leak_cases")])
    process.stdout.readline()
    lab.wait_for(lambda: lab.is_waiting(process), "it waits")
    _, output, _ = lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", process.pid)
    report = json.loads(output)
    lost = sum(group["bytes"] + group["indirect_bytes"] for group in report["groups"])
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "--format", "folded", "-p", process.pid)
    assert status == 1 and sum(folded(output).values()) == lost > 10000, (status, output, errors)
    for name, begin in (("svg", b"<svg "), ("html", b"<!DOCTYPE html>"), ("pprof", b"\x1f\x8b")):
        with tempfile.NamedTemporaryFile() as file:
            assert lab.run("leaks", *lab.PATIENT, "-q", "--format", name, "-o", file.name, "-p", process.pid)[0] == 1
            content = file.read()
            assert content.startswith(begin) and (name == "pprof" or b"leak_cases" in content), (name, content[:200])
            assert name != "svg" or (b" lost</title>" in content and b"in use" not in content), content[:500]


SUPPRESSIONS = """
# One of memcheck's, one of LeakSanitizer's, and one of another error.
{
   pages
   Memcheck:Leak
   fun:malloc
   fun:make
   fun:lose_page
   ...
}
{
   of a kind that is not there
   Memcheck:Leak
   match-leak-kinds: possible
   fun:*alloc
   fun:make
   ...
}
{
   of another error
   Memcheck:Cond
   fun:parse
}
"""


def memcheck(path):
    """Memcheck's summary of the program with the same suppressions: blocks by kind."""
    _, errors = lab.memcheck("--suppressions=" + path, lab.target("lost"))
    return {kind: int(blocks.replace(",", "")) for kind, blocks in re.findall(
        r"== +(definitely lost|indirectly lost|possibly lost|suppressed): [\d,]+ bytes in ([\d,]+) blocks", errors)}


def lost_report(*options):
    return json.loads(traced([lab.target("lost")], "-j", *options))


def counts(report):
    return {"definitely lost": report["lost"]["definite"]["blocks"], "indirectly lost": report["lost"]["indirect"]["blocks"],
            "possibly lost": report["lost"]["possible"]["blocks"], "suppressed": report["suppressed"]["blocks"]}


def test_suppressions():
    """The same file gives the same figures as memcheck's, and what is suppressed is counted."""
    with tempfile.NamedTemporaryFile("w", suffix=".supp") as file:
        file.write(SUPPRESSIONS)
        file.flush()
        truth = memcheck(file.name)
        report = lost_report("--suppressions", file.name)
    assert truth == {"definitely lost": 5, "indirectly lost": 5, "possibly lost": 3, "suppressed": 10}, truth
    assert counts(report) == truth, (counts(report), truth)
    assert any("10 blocks" in remark and "pages" in remark for remark in report["remarks"]), report["remarks"]


def test_generated_suppressions():
    """What is printed of each row takes all of them out; then the exit status is 0. In memcheck, too, but for what is lost only through
    others, which has records of its own there."""
    text = traced([lab.target("lost")], "--gen-suppressions")
    with tempfile.NamedTemporaryFile("w", suffix=".supp") as file:
        file.write("{" + text.partition("\n{")[2])
        file.flush()
        report = json.loads(traced([lab.target("lost")], "-j", "--suppressions", file.name, status=0))
        truth = memcheck(file.name)
    assert counts(report) == {"definitely lost": 0, "indirectly lost": 0, "possibly lost": 0, "suppressed": 23}, report
    assert truth == {"definitely lost": 0, "indirectly lost": 5, "possibly lost": 0, "suppressed": 18}, truth
    assert not report["groups"], report["groups"]


def test_only_module():
    """Stacks that do not go through the module are left out; status 0 where none is left."""
    assert len(lost_report("--only-module", "lost")["groups"]) == 3
    report = json.loads(traced([lab.target("lost")], "-j", "--only-module", "libz.so.1", status=0))
    assert not report["groups"] and report["left_out"]["blocks"] == 23, report
    for both in (("lost", "libz.so.1"), ("libz.so.1", "lost")):
        report = lost_report("--only-module", both[0], "--only-module", both[1])
        assert len(report["groups"]) == 3 and not report["left_out"]["blocks"], (both, report)


def test_show():
    """Rows of these kinds, and for the exit status only these count."""
    process = lab.start([lab.target("lost")])
    process.stdout.readline()
    lab.release(process)
    assert process.stdout.readline() == b"done\n"
    lab.wait_for(lambda: lab.is_waiting(process), "it waits")
    for show, kinds in (("definite", {"definite"}), ("possible", {"possible"}), ("all", {"definite", "possible"})):
        status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "--show", show, "-p", process.pid)
        assert status == 1 and {group["kind"] for group in json.loads(output)["groups"]} == kinds, (output, errors)
    process = lab.start([lab.target("lost"), "none"])
    process.stdout.readline()
    lab.release(process)
    assert process.stdout.readline() == b"done\n"
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-j", "--show", "all", "-p", process.pid)
    assert status == 0 and not json.loads(output)["groups"], (output, errors)


def test_command_ends_first():
    """It is looked at where it ends, whatever its children do and however long the trace would go on."""
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-o", "/dev/null", "-d", "1h", "--",
                                     "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!; exit 3")
    os.kill(int(output), signal.SIGKILL)
    assert status in (1, 3) and "sh exited with status 3" in errors, (status, errors)


def test_process_ends_first():
    process = lab.start([lab.target("lost")])
    process.stdout.readline()
    tracer = lab.Tracer("leaks", *lab.PATIENT, "-p", process.pid, "-d", "1h")
    lab.end(process)
    assert tracer.process.wait(lab.PATIENCE) == 4, tracer.stderr()
    assert "process %d ended before it had been looked at" % process.pid in tracer.stderr(), tracer.stderr()


def test_report_is_asked_for():
    """There is none before the end."""
    process = lab.start([lab.target("lost"), "none"])
    process.stdout.readline()
    tracer = lab.Tracer("leaks", *lab.PATIENT, "-j", "-p", process.pid, "-d", "2s")
    tracer.process.send_signal(signal.SIGUSR1)
    report, = [json.loads(line) for line in tracer.finish().splitlines()]
    assert tracer.process.returncode in (0, 1) and report["command"] == "leaks", (tracer.process.returncode, tracer.stderr())


def test_refusals():
    assert lab.run("leaks", "-p", os.getpid(), "--suppressions", "@ruby")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "-d", "1", "--suppressions", "@perl")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--show", "some")[0] == 2
    assert lab.run("leaks", "--light", "--", "true")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "-d", "1", "--budget")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--format", "metrics")[0] == 2
    assert lab.run("leaks", "-p", 4194301, "-d", "1")[0] == 4


lab.run_tests()
