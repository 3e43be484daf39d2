#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks -- CMD`: what a command has lost when it ends. Truth: what tests/targets/ending.c loses, and memcheck's summary of it."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

# Pages of 4008 bytes, heads of 2008 with tails of 3016, blocks of 1016 of which only the inside is known: blocks and bytes.
LOST = {"definite": [15, 10 * 4008 + 5 * 2008], "indirect": [5, 5 * 3016], "possible": [3, 3 * 1016]}
STATUS = 7


def leaks(command, *options, status=1, **kinds):
    """The report and the messages. Without lost blocks the status is the command's own."""
    with tempfile.NamedTemporaryFile("r") as file:
        got, _, errors = lab.run("leaks", "-j", *lab.PATIENT, "-o", file.name, *options, "--", *command, **kinds)
        assert got == status, (got, errors)
        return json.loads(file.read()), errors


def figures(report):
    return {kind: [report["lost"][kind]["blocks"], report["lost"][kind]["bytes"]] for kind in LOST}


def check_certain(report):
    assert report["at_end"] and report["certain"] and report["evidence"] == "quiet", report


def memcheck(command, *options):
    _, errors = lab.memcheck(*options, *command)
    number = r"([\d,]+)"
    found = re.findall(r"== +(definitely|indirectly|possibly) lost: %s bytes in %s blocks" % (number, number), errors)
    names = {"definitely": "definite", "indirectly": "indirect", "possibly": "possible"}
    return {names[kind]: [int(blocks.replace(",", "")), int(size.replace(",", ""))] for kind, size, blocks in found}


def test_as_memcheck():
    """The same blocks and bytes, however the process ends; also where the only pointers are in frames that have ended. Memcheck does not know
    what the C library keeps for a thread, and calls that possibly lost."""
    for how in ("exit", "_exit", "quick", "thread", "atexit", "fork", "stale"):
        command = [lab.target("ending"), how]
        report, errors = leaks(command)
        check_certain(report)
        truth = memcheck(command)
        if how == "thread":
            truth["possible"] = LOST["possible"]
        assert figures(report) == truth, (how, figures(report), truth)
        assert "ending exited with status %d" % STATUS in errors, (how, errors)


def test_programs():
    """What programs of the system have at their end, where memcheck does not free what the C library keeps: the same blocks. Perl loses some."""
    for command in (["ls", "/"], ["xz", "--version"], ["perl", "-e", "1"]):
        command[0] = lab.need(command[0])
        truth = {kind: blocks for kind, (blocks, _) in memcheck(command, "--run-libc-freeres=no").items() if kind != "possible"}
        lab.wait_for(lambda command=command, truth=truth: is_as(command, truth), "a run of %s has what memcheck has" % command)


def is_as(command, truth):
    """
    A word that is left from before, which memcheck knows not to be written, may hide a block: that depends on the addresses that a run
    has. No run has more blocks than memcheck.
    """
    report, errors = leaks(command, status=1 if truth["definite"] else 0)
    check_certain(report)
    assert "exited with status 0" in errors, errors
    found = {kind: figures(report)[kind][0] for kind in truth}
    assert all(found[kind] <= truth[kind] for kind in truth), (command, figures(report), truth)
    return found == truth


def test_truth():
    """What is reachable, too: the block that is kept; and 32 blocks of 712 bytes whose pointers nobody reads, one lost by a handler."""
    report, _ = leaks([lab.target("ending"), "exit"])
    assert figures(report) == LOST, figures(report)
    assert report["lost"]["reachable"]["bytes"] >= 6008 and report["lost"]["stale"]["blocks"] == 0, report["lost"]
    by_size = {group["size"]: group for group in report["groups"] if group["kind"] == "definite"}
    assert [frame["function"] for frame in by_size[4008]["frames"]][:4] == ["make", "lose_page", "parse", "main"], by_size
    blocks, size = LOST["definite"]
    report, _ = leaks([lab.target("ending"), "stale"])
    assert figures(report)["definite"] == [blocks + 32, size + 32 * 712], figures(report)
    report, _ = leaks([lab.target("ending"), "atexit"])
    assert figures(report)["definite"] == [blocks + 1, size + 4008], figures(report)
    assert not [group for group in report["groups"] if group["size"] == 5008], report["groups"]


def test_frame_of_main():
    """What only words of main()'s frame lead to is lost when main() has returned, though exit() has left some of them as they were; not when
    main() has called exit() or _exit() itself, and not what a handler has in its frame that calls exit() again."""
    blocks, size = LOST["definite"]
    for how, count in (("frame", 48), ("frame-exit", 0), ("frame-end", 0), ("again", 0)):
        report, _ = leaks([lab.target("ending"), how])
        check_certain(report)
        assert figures(report)["definite"] == [blocks + count, size + 920 * count], (how, figures(report))
        truth = memcheck([lab.target("ending"), how])
        assert figures(report) == truth, (how, figures(report), truth)


def test_ends():
    """After a child in the same memory; of another program that it has executed."""
    for how in ("vfork", "exec"):
        report, errors = leaks([lab.target("ending"), how])
        check_certain(report)
        assert figures(report) == LOST, (how, figures(report))
        assert "ending exited with status %d" % STATUS in errors, (how, errors)


def test_first_thread_has_ended():
    """The kernel shows the memory of such a process by another thread alone."""
    report, errors = leaks([lab.target("ending"), "last"])
    check_certain(report)
    assert figures(report) == LOST and "ending exited with status 0" in errors, (figures(report), errors)


def test_ways_to_attach():
    """Each way that the kernel has stops the command."""
    for name in ("session", "multi", "perf", "ioctl"):
        if not lab.has_backend(name):
            print("# without %s, which this kernel has not" % name, flush=True)
            continue
        report, _ = leaks([lab.target("ending"), "thread"], "--backend", name)
        check_certain(report)
        assert figures(report) == LOST, (name, figures(report))


def test_pid_namespace():
    """The process is the one that the tracer's own namespace has by its number."""
    unshare = lab.need("unshare")
    if subprocess.run([unshare, "-p", "-f", "--mount-proc", "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no pid namespace can be made here")
    with tempfile.NamedTemporaryFile("r") as file:
        process = lab.start([unshare, "-p", "-f", "--kill-child", "--mount-proc", lab.TRACER, "leaks", "-j", *lab.PATIENT, "-o", file.name, "--",
                             lab.target("ending"), "fork"])
        _, errors = process.communicate(timeout=lab.PATIENCE * 5)
        assert process.returncode == 1, errors
        report = json.loads(file.read())
    assert report["at_end"] and report["evidence"] == "quiet" and figures(report) == LOST, report


def test_c_libraries():
    for name in lab.built("ending-static", "ending-musl", "ending-musl-static"):
        report, errors = leaks([lab.target(name), "exit"])
        check_certain(report)
        assert figures(report)["definite"] == LOST["definite"], (name, figures(report))
        assert "%s exited with status %d" % (name, STATUS) in errors, (name, errors)


def test_nothing_lost():
    report, errors = leaks([lab.target("ending"), "none"], status=STATUS)
    check_certain(report)
    assert not report["groups"] and "ending exited with status %d" % STATUS in errors, (report, errors)


OWN_ALLOCATOR = """
#include <stddef.h>
static char arena[65536];
static size_t used;
void *malloc(size_t size) { void *block = arena + used; used += (size + 15) / 16 * 16; return block; }
void free(void *block) { (void)block; }
int main(void) { return malloc(100) ? %d : 1; }
""" % STATUS


def test_no_call():
    """A program that allocates nothing has no block, also after a shell that does. Truth: memcheck. A block that was filtered out may be one."""
    for command, status in ((["true"], 0), (["sh", "-c", "exec true"], 0), (["sh", "-c", "exec false"], 1)):
        report, errors = leaks(command, status=status)
        check_certain(report)
        assert not report["groups"] and all(sums["blocks"] == 0 for sums in report["lost"].values()), (command, report)
        assert any("has called no function that allocates" in remark for remark in report["remarks"]), (command, report["remarks"])
        assert "exited with status %d" % status in errors, (command, errors)
    _, said = lab.memcheck(lab.need("true"))
    assert "in use at exit: 0 bytes in 0 blocks" in said, said
    status, output, errors = lab.run("leaks", *lab.PATIENT, "--min-size", "1k", "--", "true")
    assert status == 125 and not output and "no allocator was recognized" in errors, (status, output, errors)


def test_unknown_allocator():
    """An allocator that is not recognized has blocks that nobody has looked at: that is no report of none."""
    lab.need("gcc")
    with tempfile.TemporaryDirectory(prefix="tracer-own-") as folder:
        program = os.path.join(folder, "own")
        subprocess.run(["gcc", "-x", "c", "-fno-builtin", "-o", program, "-"], input=OWN_ALLOCATOR, text=True, check=True)
        for command in ([program], ["sh", "-c", "exec " + program]):
            status, output, errors = lab.run("leaks", *lab.PATIENT, "--", *command)
            assert status == 125 and not output and "no allocator was recognized" in errors, (command, status, output, errors)
            assert "exited with status %d" % STATUS in errors, (command, errors)


def test_text():
    status, output, errors = lab.run("leaks", *lab.PATIENT, "--", lab.target("ending"))
    assert status == 1 and "definitely lost           15 blocks" in output, (output, errors)
    assert "was stopped where it ends" in " ".join(output.split()), output


def test_rules():
    """Suppressions and rules are as of a running process."""
    with tempfile.NamedTemporaryFile("w", suffix=".supp") as file:
        file.write("leak:lose_page\n")
        file.flush()
        report, _ = leaks([lab.target("ending")], "--suppressions", file.name)
    assert report["suppressed"]["blocks"] == 10 and figures(report)["definite"] == [5, 5 * 2008], report
    report, _ = leaks([lab.target("ending")], "--only-module", "libz.so.1", status=STATUS)
    assert report["left_out"]["blocks"] == sum(blocks for blocks, _ in LOST.values()), report
    report, _ = leaks([lab.target("ending")], "-d", "1h")
    assert figures(report) == LOST and report["at_end"], report


def test_unseen_ends():
    """Past the C library, and by signals: that is said, and what to do."""
    for how, wanted, ended in (("raw", STATUS, "exited with status %d" % STATUS), ("kill", 137, "was ended by signal 9"),
                               ("abort", 134, "was ended by signal 6")):
        status, output, errors = lab.run("leaks", *lab.PATIENT, "--", lab.target("ending"), how, cwd="/tmp")
        assert status == wanted and not output and ended in errors and "not looked at" in errors, (how, status, errors)
        assert "tracer -- CMD" in errors and "-d TIME" in errors, errors


def test_refused_look():
    """A look that fails leaves nobody behind: the command ends all the same."""
    status, output, errors = lab.run("leaks", *lab.PATIENT, "--who", "0x10", "--", lab.target("ending"))
    assert status == 125 and not output and "ending exited with status %d" % STATUS in errors, (status, output, errors)


PYTHON = """
import ctypes
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
malloc.argtypes = [ctypes.c_size_t]
def lose(count, size):
    for _ in range(count):
        malloc(size)
lose(100, 5000)
"""

RUBY = "require 'fiddle'\ndef lose(count, size) = count.times { Fiddle.malloc(size) }\nlose(100, 5000)\n"


def check_interpreter(command, preset, kind):
    report, errors = leaks(command, "--suppressions", preset)
    check_certain(report)
    groups = [group for group in report["groups"] if group["size"] == 5000 and group["kind"] == "definite"]
    assert len(groups) == 1 and 90 <= groups[0]["blocks"] <= 100, (groups, errors)
    assert "lose" in [frame["function"] for frame in groups[0]["frames"] if frame["kind"] == kind], groups[0]
    assert "exited with status 0" in errors, errors


def test_python():
    check_interpreter([sys.executable, "-c", PYTHON], "@python", "python")


def test_ruby():
    check_interpreter([lab.need("ruby"), "-e", RUBY], "@ruby", "ruby")


EXTENSION = """
require ARGV[0]
def lose(count) = count.times { Extension.lose }
def keep(count) = count.times { $kept << Extension::Buffer.new }
def drop(count) = count.times { Extension::Buffer.new }
def forget(count) = count.times { Extension::Careless.new }
def deep(count) = count.zero? ? nil : deep(count - 1)
$kept = []
keep(10)
drop(10)
send(ARGV[1], 100) if ARGV[1] != 'honest'
deep(200)
"""


def extension_report(how, status=1):
    library, = lab.built("extension.so")
    report, errors = leaks([lab.need("ruby"), "-e", EXTENSION, lab.target(library), how], "--suppressions", "@ruby", "--only-module", library,
                           status=status)
    check_certain(report)
    assert "ruby exited with status 0" in errors, errors
    return report


def line_of(report, size, function):
    """Where the extension's function calls what allocates: its line, and blocks."""
    group, = [group for group in report["groups"] if group["size"] == size]
    frame, = [frame for frame in group["frames"] if frame["function"] == function]
    with open(os.path.join(lab.TOP, "tests/targets/extension.c"), encoding="utf-8") as file:
        return file.read().splitlines()[frame["line"] - 1], group["blocks"], [frame["function"] for frame in group["frames"] if frame["kind"] == "ruby"]


def test_ruby_extension():
    """An honest one: nothing of its is lost, though Ruby's own blocks are. One that drops blocks, or whose objects do: the line. Truth: the script."""
    report = extension_report("honest", status=0)
    assert not report["groups"] and report["left_out"]["blocks"] + report["suppressed"]["blocks"] > 1000, report["lost"]
    line, blocks, ruby = line_of(extension_report("lose"), 5000, "extension_lose")
    assert "take(5000)" in line and 98 <= blocks <= 100 and "lose" in ruby, (line, blocks, ruby)
    line, blocks, ruby = line_of(extension_report("forget"), 7016, "careless_new")
    # Pages of Ruby's heap that are left at the end may have objects that nobody has cleared.
    assert "xmalloc(7016)" in line and 30 <= blocks <= 100 and "forget" in ruby, (line, blocks, ruby)


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None


def command_of(tracer, name):
    """The process of the command, which the tracer has started."""
    for pid in lab.children_of(tracer.pid):
        if name_of(pid) == name:
            return pid
    return None


def state_of(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_tracer_is_killed():
    """While the command stands at its end: it goes on, and ends. Until then, the tracer does not even notice."""
    tracer = lab.Tracer("leaks", *lab.PATIENT, "--", lab.target("lost"), "none", "3")
    assert tracer.process.stdout.readline() == b"ready\n"
    child = command_of(tracer.process, "lost")
    tracer.process.send_signal(signal.SIGSTOP)
    lab.wait_for(lambda: state_of(tracer.process.pid) == "T", "the tracer stands")
    tracer.process.stdin.write(b"go\n")
    tracer.process.stdin.close()
    lab.wait_for(lambda: state_of(child) == "T", "the command stands at its end")
    tracer.process.kill()
    tracer.process.wait(lab.PATIENCE)
    lab.wait_for(lambda: lab.has_ended(child), "the command has ended")


def test_nobody_reads():
    """The command does not wait for who reads the report."""
    end, out = os.pipe()
    os.set_blocking(out, False)
    try:
        while os.write(out, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(out, True)
    with tempfile.TemporaryFile("w+") as messages:
        process = lab.start([lab.TRACER, "leaks", *lab.PATIENT, "--", lab.target("ending")], stdout=out, stderr=messages)
        os.close(out)
        lab.wait_for(lambda: "ending exited with status %d" % STATUS in lab.written(messages), "the command has ended")
        assert process.poll() is None, process.returncode
    os.close(end)
    assert process.wait(lab.PATIENCE) == 1


def test_output_passes():
    """The command has the tracer's standard streams, and is not seen stopped by who waits for the tracer."""
    script = "%s leaks -q --deadline 1h -o /dev/null -- sh -c 'read line; echo got $line'; echo status $?" % lab.TRACER
    done = subprocess.run(["sh", "-c", script], input="a line\n", capture_output=True, text=True, timeout=lab.PATIENCE, check=True)
    assert done.stdout == "got a line\nstatus 0\n", done


lab.run_tests()
