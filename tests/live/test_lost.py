#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks`: what it calls lost, of programs that lose known blocks. Truth: the programs' own list of cases
(tests/targets/leak_cases.c), where each block has a size of its own; and the verdicts of memcheck and LeakSanitizer about the same program."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

# Where memcheck's verdict is another one, and why.
DIFFERENCES = {
    "in a mapping without access": ("definite", "memcheck reads no memory without permission"),
    "in a mapping that is read-only": ("definite", "memcheck reads mappings only that can be written"),
    "data of epoll": ("definite", "memcheck does not see what the kernel keeps"),
    "value of a timer": ("definite", "memcheck does not see what the kernel keeps"),
    "2p + 1": ("definite", "memcheck knows no codes"),
    "complement": ("definite", "memcheck knows no codes"),
    "high tag": ("definite", "memcheck knows no codes"),
    "Python int": ("reachable", "valgrind's heap is below 2^30, where the first digit is the whole address"),
    "unaligned": ("definite", "memcheck looks at aligned words only"),
}

# Where LeakSanitizer's is, which has no blocks that are possibly lost, and no leader of a ring.
RING, MAPPED, KERNEL, CODES = "each block of a ring is indirect", "it reads no mappings of the program", "it does not see what the kernel keeps", "it knows no codes"
LSAN_DIFFERENCES = {
    "ring a": ("indirect", RING), "upper ring a": ("indirect", RING),
    "in a mapping": ("definite", MAPPED), "in a shared mapping": ("definite", MAPPED), "in a mapping without access": ("definite", MAPPED),
    "in a mapping that is read-only": ("definite", MAPPED), "data of epoll": ("definite", KERNEL), "value of a timer": ("definite", KERNEL),
    "2p + 1": ("definite", CODES), "complement": ("definite", CODES), "high tag": ("definite", CODES), "Python int": ("definite", CODES),
    "unaligned": ("definite", CODES),
}


def figures(pid):
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    return {key: int(fields[key].split()[0]) for key in ("RssAnon", "RssShmem", "RssFile", "VmSwap", "VmPTE")}, \
        int(fields["voluntary_ctxt_switches"]) + int(fields["nonvoluntary_ctxt_switches"])


def leaks(pid, *options):
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-p", pid, *options)
    assert status in (0, 1), (status, errors)
    return status, output


def report_of(pid):
    status, output = leaks(pid, "-j")
    report = json.loads(output)
    assert status == (report["lost"]["definite"]["blocks"] > 0), (status, report["lost"])
    return report


def quiet_report_of(pid):
    """Passes are repeated until no thread ran in one: with all of them asleep, only a signal for the machine's sake is in the way."""
    lab.wait_for(lambda: lab.all_wait(pid), "all threads wait")
    report = report_of(pid)
    assert report["evidence"] == "quiet", report["evidence"]
    return report


def cases():
    process = lab.start([lab.target("leak_cases")], text=True)
    return process, json.loads(process.stdout.readline())


def verdicts_of(report):
    return {group["size"]: group for group in report["groups"]}


def test_cases():
    """Each case has its verdict, and no other block of the process is lost."""
    process, truth = cases()
    report = quiet_report_of(process.pid)
    assert report["certain"] and report["has_registers"], report
    found = verdicts_of(report)
    wrong = [(case, found.get(case["size"])) for case in truth
             if case["kind"] in ("definite", "possible") and found.get(case["size"], {}).get("kind") != case["kind"]
             or case["kind"] in ("reachable", "indirect") and case["size"] in found]
    assert not wrong, wrong
    for kind in ("definite", "indirect", "possible"):
        mine = [case["size"] for case in truth if case["kind"] == kind]
        assert report["lost"][kind] == {"blocks": len(mine), "bytes": sum(mine)}, (kind, report["lost"])
    assert not report["lost"]["unjudged"]["blocks"], report["lost"]


def test_leaders():
    """What is lost only through a block is counted once, with that block."""
    process, truth = cases()
    found = verdicts_of(report_of(process.pid))
    size = {case["name"]: case["size"] for case in truth if case["name"] != "chain a" and case["name"] != "chain b"}

    def through(leader):
        return found[size[leader]]["indirect_blocks"], found[size[leader]]["indirect_bytes"]

    assert through("ring a") == (2, size["ring b"] + size["ring c"])
    assert through("upper ring a") == (3, size["upper ring b"] + size["lower ring a"] + size["lower ring b"])
    assert through("cut tree") == (3, size["tree left"] + size["tree right"] + size["tree leaf"])
    assert through("self loop") == (0, 0)
    both = sorted(through(name) for name in ("parent a", "parent b"))
    assert both == [(0, 0), (1, size["shared child"])], both


def test_roots():
    """What is reachable is so from where the program keeps the pointer: a register, the kernel, a shared mapping."""
    process, _ = cases()
    roots = quiet_report_of(process.pid)["roots"]
    assert roots["register"]["blocks"] == 1 and roots["kernel"]["blocks"] == 2 and roots["shared"]["blocks"] == 1, roots
    assert roots["stack"]["blocks"] >= 1 and roots["tls"]["blocks"] >= 2 and roots["static"]["blocks"] >= 5, roots
    assert roots["unknown"]["blocks"] >= 3, roots


def memcheck_verdicts():
    """Verdicts of memcheck by size, in bytes of the block itself, and what is lost through it."""
    output, errors = lab.memcheck("--show-leak-kinds=all", "--leak-resolution=high", lab.target("leak_cases"))
    truth = json.loads(output.splitlines()[0])
    kinds = {"definitely lost": "definite", "indirectly lost": "indirect", "possibly lost": "possible", "still reachable": "reachable"}
    found = {}
    for total, direct, indirect, count, kind in re.findall(
            r"== ([\d,]+) (?:\(([\d,]+) direct, ([\d,]+) indirect\) )?bytes in ([\d,]+) blocks are ([a-z]+ [a-z]+) in loss record", errors):
        size = int((direct or total).replace(",", ""))
        if count == "1":
            found[size] = kinds[kind], int((indirect or "0").replace(",", ""))
    if not found:
        raise lab.Skip("memcheck was not asked for leaks by the program: its header was not there")
    return truth, found


def test_as_memcheck():
    """The same program under memcheck: the same verdicts, but for those in DIFFERENCES; and what is lost through each block is the same."""
    truth, theirs = memcheck_verdicts()
    process, own_truth = cases()
    ours = verdicts_of(report_of(process.pid))
    assert own_truth == truth
    seen = {}
    for case in truth:
        kind, indirect = theirs[case["size"]]
        if kind != case["kind"]:
            seen[case["name"]] = kind
        elif kind == "definite" and case["name"] not in ("parent a", "parent b"):
            assert ours[case["size"]]["indirect_bytes"] == indirect, (case, indirect)
    assert seen == {name: kind for name, (kind, _) in DIFFERENCES.items()}, seen


def test_as_leak_sanitizer():
    """The same program with LeakSanitizer: the same blocks are lost, but for those in LSAN_DIFFERENCES."""
    name, = lab.built("leak_cases-lsan")
    process = lab.start([lab.target(name)], text=True)
    output, errors = process.communicate("", timeout=lab.PATIENCE)
    if "LeakSanitizer: " not in errors or "fatal error" in errors:
        raise lab.Skip("LeakSanitizer did not look: %s" % errors.strip()[-100:])
    theirs = {int(size): "definite" if kind == "Direct" else "indirect"
              for kind, size in re.findall(r"^(Direct|Indirect) leak of (\d+) byte\(s\) in 1 object", errors, re.M)}
    seen = {}
    for case in json.loads(output.splitlines()[0]):
        kind = theirs.get(case["size"])
        if kind != (case["kind"] if case["kind"] in ("definite", "indirect") else None):
            seen[case["name"]] = kind
    assert seen == {name: kind for name, (kind, _) in LSAN_DIFFERENCES.items()}, seen


def check_motion(*how):
    """Nothing is called lost but what is: odd blocks lead to even ones."""
    process = lab.start([lab.target("leak_motion"), *how], text=True)
    assert process.stdout.readline() == "at work\n"
    report = report_of(process.pid)
    found = {(group["kind"], group["size"], group["blocks"], group["indirect_bytes"])
             for group in report["groups"] if group["kind"] == "definite"}
    assert found == {("definite", 3016, 12, 12 * 3000)}, report["groups"]
    assert not report["certain"] and report["evidence"] != "quiet" and report["passes"] >= 4, report
    assert report["lost"]["definite"]["blocks"] == 12 and report["lost"]["indirect"]["blocks"] == 12, report["lost"]


def test_motion():
    """Lists and arrays change, and blocks come and go, also in malloc's lists of free ones."""
    check_motion()


def test_pointers_between_ends():
    """Pointers move from one end of the memory to the other and back, while it is read from one end to the other."""
    check_motion("ends")


def test_tables_that_move():
    """A table of pointers is copied to new memory all the time: it is not where it was when pages were listed."""
    check_motion("tables")


def test_list_that_grows_at_its_head():
    """What is led to by blocks that came after the list of blocks is not old. Truth: tests/targets/leak_heads.c frees nothing and loses nothing."""
    for how in ("fast", "slow"):
        process = lab.start([lab.target("leak_heads"), how], text=True)
        assert process.stdout.readline() == "at work\n"
        for _ in range(3):
            lost = report_of(process.pid)["lost"]
            assert lost["reachable"]["blocks"] >= 20000, lost
            assert not any(lost[kind]["blocks"] for kind in ("definite", "indirect", "possible", "stale", "unjudged")), lost
        lab.end(process)


def hidden(every):
    process = lab.start([lab.target("leak_hidden"), every], text=True)
    assert process.stdout.readline() == "lost\n"
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads wait")
    return process.pid


def test_heap_that_is_not_understood():
    """Sizes before blocks are overwritten, as by an overflow: that none is lost is no answer then. Truth: tests/targets/leak_hidden.c has lost
    2,000 blocks; a few are held by old words."""
    assert leaks(hidden(0))[0] == 1
    pid = hidden(15)
    end = [lab.target("leak_hidden"), 15, "end"]
    for status, output, _ in (lab.run("leaks", *lab.PATIENT, "-q", "-j", "-p", pid), lab.run("leaks", *lab.PATIENT, "-q", "-j", "--", *end)):
        report = json.loads(output)
        assert report["lost"]["definite"]["blocks"] < 100 and not report["certain"] and report["heap_unread"], report
        assert report["heap_unknown_bytes"] >= 1900 * 5000 and any("not understood" in remark for remark in report["remarks"]), report
        assert status == (1 if report["lost"]["definite"]["blocks"] else 3), (status, report["lost"])
    text = lab.run("leaks", *lab.PATIENT, "-q", "-p", pid)[1]
    assert "not understood" in text and "definitely" not in text, text
    # What is lost beside it is found still.
    status, output = leaks(hidden(100), "-j")
    report = json.loads(output)
    assert status == 1 and not report["certain"] and report["lost"]["definite"]["blocks"] > 1500 and report["heap_unread"], report


def test_none():
    """A program without a leak: nothing, after one pass, and status 0."""
    process = lab.start([lab.need("sleep"), "1000"])
    lab.wait_for(lambda: "libc" in open("/proc/%d/maps" % process.pid, encoding="utf-8").read(), "it has its libraries")
    lab.wait_for(lambda: lab.is_waiting(process), "it sleeps")
    report = report_of(process.pid)
    assert report["passes"] == 1 and not report["groups"], report
    assert report["lost"]["reachable"]["blocks"] > 5, report


PYTHON = """
import ctypes, mmap, sys
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
malloc.argtypes = [ctypes.c_size_t]
def lose():
    for _ in range(100):
        malloc(5000)
lose()
kept = [malloc(6008) for _ in range(10)]
shared = mmap.mmap(-1, 4 << 20)
print("ready", flush=True)
sys.stdin.read()
"""


def test_python():
    """Blocks that a runtime's code has dropped are lost; those whose addresses it has as numbers may be held. Shared memory that
    is not in memory may hold pointers: then nothing is certain."""
    process = lab.start([sys.executable, "-c", PYTHON], text=True)
    assert process.stdout.readline() == "ready\n"
    report = quiet_report_of(process.pid)
    found = {(group["kind"], group["note"]) for group in report["groups"] if group["size"] == 6008}
    wanted = {("possible", "its address is in memory as a Python int")}
    # An int of one digit, where the heap is that low, has the address itself if what follows it is 0: then the block is reachable.
    lowest = min(int(group["address"], 16) for group in report["groups"])
    assert found == wanted or (lowest < 1 << 30 and not found), report["groups"]
    # What stands in free memory of the interpreter hides a few.
    lost = sum(group["blocks"] for group in report["groups"] if group["size"] == 5000 and group["kind"] == "definite")
    assert 90 <= lost <= 100, report["groups"]
    assert report["unread_bytes"] >= 4 << 20 and not report["certain"], report
    assert sum(group["blocks"] for group in report["groups"] if group["kind"] == "definite") == lost, report["groups"]
    _, text = leaks(process.pid)
    assert "probably lost" in text and "definitely" not in text and "may hold pointers" in text, text


def word_of(pid, address):
    with open("/proc/%d/mem" % pid, "rb") as file:
        file.seek(address)
        return int.from_bytes(file.read(8), "little")


def variable(pid, name):
    """Where a variable of the program is: its symbol, and where the program was loaded."""
    symbols = subprocess.run(["nm", lab.target("leak_cases")], capture_output=True, text=True, check=True).stdout
    with open("/proc/%d/maps" % pid, encoding="utf-8") as file:
        base = int(file.readline().split("-")[0], 16)
    value, = [int(line.split()[0], 16) for line in symbols.splitlines() if line.split()[-1] == name]
    return base + value if value < base else value


def who(pid, address, status=0):
    found, output = leaks(pid, "-j", "--who", hex(address))
    assert found == status, (found, output)
    return json.loads(output)["who"]


def test_who():
    """All words that lead to a block, and the way to it. Truth: what stands in the process's memory, from its symbols on."""
    process, _ = cases()
    slots = variable(process.pid, "in_bss")
    first = word_of(process.pid, slots + 8)
    second = word_of(process.pid, first + 8)
    found = who(process.pid, second + 24)
    assert (found["address"], found["kind"], found["holder_count"]) == (hex(second), "reachable", 1), found
    root, block = found["way"]
    assert (root["root"], root["place"], root["into"]) == ("static", hex(slots + 8), 0), found
    assert root["name"].startswith("in_bss+0x8 in leak_cases+0x"), found
    assert (block["root"], block["block"], block["offset"], block["into"]) == (None, hex(first), 8, 0), found
    assert [(holder["block"], holder["offset"]) for holder in found["holders"]] == [(hex(first), 8)], found
    _, text = leaks(process.pid, "--who", hex(second))
    text = " ".join(text.split())
    assert "still reachable" in text and re.search(r"static data, in_bss\+0x8 in .* -> block of .* -> the block", text), text
    # An interior pointer is a hint.
    inner = word_of(process.pid, slots + 4 * 8)
    found = who(process.pid, inner)
    assert found["kind"] == "possible" and [holder["into"] for holder in found["holders"]] == [16], found
    ring = next(group for group in report_of(process.pid)["groups"] if group["kind"] == "definite" and group["indirect_blocks"] == 2)
    lost = who(process.pid, int(ring["address"], 16), 1)
    assert lost["kind"] == "definite" and lost["way"] == [] and lost["holder_count"] == 1, lost
    assert lab.run("leaks", *lab.PATIENT, "-p", process.pid, "--who", hex(slots))[0] == 5


def lost_in(report):
    return [report["lost"][kind]["bytes"] for kind in ("definite", "indirect", "possible")]


def test_pid_namespaces():
    """The process has one number in its own pid namespace, and another one where the tracer is, or the same. Truth: its list of cases."""
    unshare = lab.need("unshare")
    apart = [unshare, "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no pid namespace can be made here")
    process = lab.start([*apart, lab.target("leak_cases")], text=True)
    truth = json.loads(process.stdout.readline())
    wanted = [sum(case["size"] for case in truth if case["kind"] == kind) for kind in ("definite", "indirect", "possible")]
    inner, = lab.children_of(process.pid)
    outside = quiet_report_of(inner)
    # The tracer enters the same namespace, where the process is the first one.
    tracer = lab.start([lab.need("nsenter"), "--target", inner, "--pid", "--mount", lab.TRACER, "leaks", *lab.PATIENT, "-q", "-j", "-p", 1], text=True)
    output, errors = tracer.communicate(timeout=lab.PATIENCE)
    assert tracer.returncode == 1, errors
    for report in (outside, json.loads(output)):
        assert report["evidence"] == "quiet" and report["has_registers"] and report["roots"]["register"]["blocks"] == 1, report["roots"]
        assert lost_in(report) == wanted, report["lost"]


def test_first_thread_has_ended():
    """Memory and files of a process whose first thread is a zombie are read by another one. Truth: tests/targets/ending.c."""
    process = lab.start([lab.target("ending"), "stay"])
    lab.wait_for(lambda: lab.has_ended(process.pid), "the first thread has ended")
    report = report_of(process.pid)
    assert report["has_registers"] and report["lost"]["definite"] == {"blocks": 15, "bytes": 10 * 4008 + 5 * 2008}, report["lost"]
    assert report["lost"]["indirect"] == {"blocks": 5, "bytes": 5 * 3016} and report["lost"]["possible"]["blocks"] == 3, report["lost"]


def test_text():
    """The words follow the evidence."""
    process, _ = cases()
    quiet_report_of(process.pid)
    _, text = leaks(process.pid)
    assert "definitely lost" in text and "no thread ran in the last one" in text, text
    process = lab.start([lab.target("leak_motion")], text=True)
    process.stdout.readline()
    _, text = leaks(process.pid)
    assert "definitely" not in text and "the process ran meanwhile" in text and " lost:" in text, text


RESTLESS = """
import ctypes, itertools, time
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
malloc.argtypes = [ctypes.c_size_t]
count = 20000
kept = (ctypes.c_uint64 * count)()
for i in range(count):
    kept[i] = malloc(40) ^ 0xffff000000000000
print("ready", flush=True)
for i in itertools.count():
    time.sleep(0.005)
    kept[i % count] &= 0xffffffffffff
"""


def test_restless():
    """Passes that never agree: each has fewer lost blocks than the one before, since the program goes on to find them, many times in each
    pass. All of them have the registers of all threads."""
    process = lab.start([sys.executable, "-c", RESTLESS], text=True)
    process.stdout.readline()
    _, output = leaks(process.pid, "-j")
    report = json.loads(output)
    assert report["passes"] == 40 and report["has_registers"] and not report["certain"], {
        key: report[key] for key in ("passes", "has_registers", "certain", "evidence")}


def test_harmless():
    """No page comes in, none goes, no call is interrupted: no thread of the process has run."""
    process, _ = cases()
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads wait")
    before, switches = figures(process.pid)
    for _ in range(3):
        report_of(process.pid)
    after, switches_after = figures(process.pid)
    # Where memory is short, the kernel takes pages of files that nobody uses.
    assert after.pop("RssFile") <= before.pop("RssFile"), (before, after)
    assert before == after and switches == switches_after, (before, after)


def test_too_much():
    """More blocks than there is memory for are refused, with the need."""
    process = lab.start([sys.executable, "-c", "a = [bytes(520) for _ in range(900000)]; print(1, flush=True); input()"], text=True)
    process.stdout.readline()
    status, _, errors = lab.run("leaks", *lab.PATIENT, "-p", process.pid, "--max-memory", "64m")
    assert status == 3 and re.search(r"9\d\d,\d+ blocks take [\d.]+ MiB of the tracer's memory", errors), errors


def test_refusals():
    assert lab.run("leaks", "-p", 4194301)[0] == 4
    assert lab.run("leaks", "-p", os.getpid(), "--format", "metrics")[0] == 2
    assert lab.run("leaks")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--who", "here")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--who", "0x1000", "--format", "folded")[0] == 2


lab.run_tests()
