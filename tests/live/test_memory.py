#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a process's memory is. The truth is what the programs have made themselves, the C library's own count, and what the
kernel counts for them (VmRSS, VmSize, smaps_rollup), while they do nothing."""
import contextlib
import json
import os
import re
import signal
import sys
import tempfile
import time

import lab

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "render"))
import check_memory  # pylint: disable=wrong-import-position

# The kernel may bring in, or take back, a few pages of files meanwhile.
SLACK = 256 << 10


def kilobytes(pid, name, key):
    with open("/proc/%d/%s" % (pid, name), encoding="ascii", errors="replace") as file:
        return int(re.search(r"^%s:\s+(\d+)" % key, file.read(), re.M).group(1)) * 1024


def look(*arguments):
    status, output, errors = lab.run("memory", *lab.PATIENT, "-j", *arguments)
    assert status == 0 and not errors, (status, errors)
    reports = [json.loads(line) for line in output.splitlines()]
    for report in reports:
        check_memory.check_report(report)
    return reports


def part(report, purpose, key="rss_bytes"):
    return sum(row[key] for row in report["parts"] if row["purpose"] == purpose)


def resident(pid, path):
    """Bytes that the kernel counts in memory of the mappings of a path."""
    with open("/proc/%d/smaps" % pid, encoding="utf-8", errors="replace") as file:
        return sum(int(size) << 10 for size in re.findall(r"^[0-9a-f]+-[0-9a-f]+ .* %s.*\n(?:\w+: .*\n)*?Rss: +(\d+) kB" % re.escape(path),
                                                         file.read(), re.M))


def check_shared(pid, purpose, path, size):
    """So much of a file is mapped, and of it in memory what the kernel counts: it may take pages of files from a process at any time."""
    found = []

    def is_right():
        report = look("-p", pid)[0]
        found[:] = [part(report, purpose, "mapped_bytes"), part(report, purpose), resident(pid, path)]
        return found[1] == found[2]
    lab.wait_for(is_right, "%s is in memory as the kernel has it: %s" % (purpose, found))
    assert found[0] == size and 0 < found[1] <= size, (purpose, found)


def add_up(report, key):
    return sum(row[key] for row in report["parts"])


def pss_of(pids):
    return sum(kilobytes(pid, "smaps_rollup", "Pss") for pid in pids)


def has_pss(report, least, most):
    """Is a PSS between these in the report, and is it the sum of its parts?"""
    return all(least - SLACK <= found <= most + SLACK for found in (add_up(report, "pss_bytes"), report["process"]["pss_bytes"]))


def look_with_pss(pids, *options):
    """A look that has the PSS of these processes, as the kernel has it before or after: others begin, and end, to share pages of files, and a
    look takes long where others need the CPU."""
    reports = []

    def is_right():
        before = pss_of(pids)
        reports.append(look(*options)[0])
        return has_pss(reports[-1], *sorted((before, pss_of(pids))))
    lab.wait_for(is_right, "a look at %s has their PSS" % pids)
    return reports[-1]


def slack_of(pid, field):
    """How far the kernel's own figure may be off."""
    # Until 6.2 each thread kept up to 64 pages for itself before it added them to the process's sum.
    old = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2]) < (6, 2)
    return SLACK + (64 * 4096 * len(os.listdir("/proc/%d/task" % pid)) if old and field == "VmRSS" else 0)


def look_at_rest(pid):
    """A look before and after which the kernel counts the same: it may take pages of files from a process at any time."""
    def counted():
        return [kilobytes(pid, "status", field) for field in ("VmRSS", "VmSwap")] + [kilobytes(pid, "smaps_rollup", "Rss")]
    found = []

    def is_at_rest():
        before = counted()
        found[:] = look("-p", pid)
        return counted() == before
    lab.wait_for(is_at_rest, "the process is at rest")
    return found[0]


def check_sums(report, pid):
    """The parts are the process, without a remainder, as the kernel counts it."""
    assert report["command"] == "memory" and report["schema"] == 1, report
    if not has_pss(report, *[pss_of([pid])] * 2):
        look_with_pss([pid], "-p", pid)
    if abs(add_up(report, "rss_bytes") - kilobytes(pid, "smaps_rollup", "Rss")) > SLACK:
        report = look_at_rest(pid)
    for key, field in (("rss_bytes", "VmRSS"), ("swap_bytes", "VmSwap")):
        truth = kilobytes(pid, "status", field)
        slack = slack_of(pid, field)
        assert abs(add_up(report, key) - truth) <= slack, (key, add_up(report, key), truth, report["parts"])
        assert abs(report["process"][key] - truth) <= slack, (key, report["process"], truth)
    truth = kilobytes(pid, "smaps_rollup", "Rss")
    assert abs(add_up(report, "rss_bytes") - truth) <= SLACK, (add_up(report, "rss_bytes"), truth, report["parts"])
    assert add_up(report, "mapped_bytes") == kilobytes(pid, "status", "VmSize"), report["parts"]
    assert report["verdict"] and all(row["text"] and row["bytes"] >= 0 for row in report["verdict"]), report


def start_known():
    process = lab.start([lab.target("memory")])
    truth = json.loads(process.stdout.readline())
    # Until then, threads bring in pages of the C library.
    lab.wait_for(lambda: lab.all_wait(process.pid), "all threads wait")
    return process, truth


def test_known():
    process, truth = start_known()
    report = look("-p", process.pid)[0]
    check_sums(report, process.pid)
    # Only --thp reads huge pages.
    assert report["process"]["huge_zero_bytes"] is None, report["process"]
    assert report["process"]["threads"] == truth["running"] + 1, report["process"]
    assert part(report, "thread_stack", "count") == truth["running"], report["parts"]
    assert part(report, "ended_stack", "count") == truth["ended"], report["parts"]
    check_shared(process.pid, "shared", "/dev/zero", truth["shared"])
    assert abs(part(report, "unknown") - truth["mapped"]) <= SLACK, report["parts"]
    assert part(report, "malloc_main") >= truth["free"], report["parts"]
    causes = [row["cause"] for row in report["verdict"]]
    assert causes[0] == "fragmentation" and "stacks" in causes, report["verdict"]
    # mallinfo2 takes what threads keep for themselves for used.
    heap = report["malloc"][0]
    assert heap["free_bytes"] - heap["caches_resident_bytes"] == truth["free"], (heap, truth)
    assert heap["trim_bytes"] > truth["free"] // 2 and not heap["unknown_bytes"] and not heap["remarks"], heap


def test_exact_report():
    """The last report of a trace names what the process has and nothing uses."""
    process, truth = start_known()
    status, output, errors = lab.run("-q", "-d", "300ms", "-p", process.pid)
    assert status == 0, errors
    size = re.search(r"^RSS \d+\.\d MiB, \d+ threads?\n(\d+\.\d) MiB of RSS is free in malloc: tracer memory -p %d$" % process.pid, output, re.M)
    assert size and abs(float(size.group(1)) - truth["free"] / (1 << 20)) < 0.5, (output, truth)


def test_interpreters():
    for command, purpose in ((["/usr/bin/python3", "-c", "import sys; x = [str(i) for i in range(100000)]; print(len(x), flush=True); "
                               "sys.stdin.read()"], "python_arena"),
                             (["ruby", "-e", "x = 100000.times.map { |i| [i] }; puts x.size; $stdout.flush; $stdin.read"], "ruby_heap")):
        lab.need(command[0])
        process = lab.start(command)
        assert process.stdout.readline().strip() == b"100000"
        report = look("-p", process.pid)[0]
        check_sums(report, process.pid)
        assert part(report, purpose) > 2 << 20, (purpose, report["parts"])
        lab.end(process)


def test_growth():
    """What grows ranks first; the parts before it add up, too."""
    process = lab.start(["/usr/bin/python3", "-c", "import mmap, sys\nkept = []\nfor line in sys.stdin:\n"
                         "    kept.append(mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE)); kept[-1].write(b'x' * (8 << 20))\n"
                         "    print('done', flush=True)\n"])
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-j", "-p", process.pid, "1h"])
    first = json.loads(tracer.stdout.readline())
    process.stdin.write(b"more\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"done\n"
    tracer.send_signal(signal.SIGINT)
    second = json.loads(tracer.stdout.readline())
    assert tracer.wait(timeout=lab.PATIENCE) == 0
    assert first["since_s"] is None and first["parts"][0]["growth_bytes"] is None, first
    assert second["since_s"] > 0 and second["verdict"][0]["cause"] == "growth", second["verdict"]
    grown = part(second, "unknown", "growth_bytes")
    assert abs(grown - (8 << 20)) <= SLACK, (grown, second["parts"])
    lab.end(process)


def test_since():
    """Growth since a report in a file, which only root may read; another process and another kind of file are named."""
    process = lab.start(["/usr/bin/python3", "-c", "import mmap, sys\nsys.stdin.readline()\nkept = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE)\n"
                         "kept.write(b'x' * (8 << 20))\nprint('done', flush=True)\nsys.stdin.read()\n"])
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "report")
        lab.wait_for(lambda: lab.is_reading(process), "the program")
        status, _, errors = lab.run("memory", *lab.PATIENT, "-j", "-p", process.pid, "-o", name)
        assert status == 0, errors
        process.stdin.write(b"more\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"done\n"
        report = look("-p", process.pid, "--since", name)[0]
        assert report["since_s"] > 0 and report["verdict"][0]["cause"] == "growth", report["verdict"]
        assert abs(part(report, "unknown", "growth_bytes") - (8 << 20)) <= SLACK, report["parts"]
        assert not any("another process" in remark for remark in report["remarks"]), report["remarks"]
        report = look("-p", os.getpid(), "--since", name)[0]
        assert any("another process, python3 (%d)" % process.pid in remark for remark in report["remarks"]), report["remarks"]
        with open(name, "w", encoding="utf-8") as file:
            file.write('{"schema": 1}')
        for path in (name, folder + "/none", folder, "/dev/null"):
            status, output, errors = lab.run("memory", *lab.PATIENT, "-p", process.pid, "--since", path)
            assert status == 2 and not output and "--since" in errors, (path, status, output, errors)


def test_since_cut_short():
    """What a look without time has not seen has no growth since, and a remark says so: the program's memory is the same."""
    script = "import sys\nkept = [str(i) for i in range(300000)]\nprint('ready', flush=True)\nsys.stdin.read()\n"
    process = lab.start(["/usr/bin/python3", "-c", script])
    assert process.stdout.readline() == b"ready\n"
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "report")
        status, _, errors = lab.run("memory", "--deadline", "1us", "-j", "-p", process.pid, "-o", name)
        assert status == 0, errors
        with open(name, encoding="utf-8") as file:
            assert "runtimes" in json.loads(file.read())["cut_short"]
        report = look("-p", process.pid, "--since", name)[0]
    assert not report["cut_short"], report["cut_short"]
    assert part(report, "python_arena") > 8 << 20, report["parts"]
    assert not [row for row in report["verdict"] if row["cause"] == "growth"], report["verdict"]
    grown = [row for row in report["parts"] if row["growth_bytes"] is not None and abs(row["growth_bytes"]) > SLACK]
    assert not grown, grown
    assert [row["growth_bytes"] for row in report["parts"] if row["purpose"] == "python_arena"] == [None], report["parts"]
    assert all(row["growth_bytes"] is None for row in report["kinds"]), report["kinds"]
    assert any("has not seen all of this: " in remark and "runtimes" in remark for remark in report["remarks"]), report["remarks"]
    lab.end(process)


def test_interrupted():
    """A signal gives the last report at once; what was growth until then is in it."""
    process, _ = start_known()
    for number in (signal.SIGINT, signal.SIGTERM):
        tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-j", "-p", process.pid, "1h"])
        assert json.loads(tracer.stdout.readline())["since_s"] is None
        tracer.send_signal(number)
        last = json.loads(tracer.stdout.readline())
        assert last["since_s"] > 0 and last["parts"][0]["growth_bytes"] is not None, last
        assert tracer.wait(timeout=lab.PATIENCE) == 0 and not tracer.stdout.read()


def check_sentences(report):
    """What they share is in the RSS of each: a sentence that names the sum of RSS names that of PSS beside it."""
    mebibytes = tuple("%.1f" % (report["process"][key] / (1 << 20)) for key in ("rss_bytes", "pss_bytes"))
    found = [row["text"] for row in report["verdict"] if " MiB RSS" in row["text"]]
    assert found and all("of %s MiB RSS (%s MiB PSS)" % mebibytes in text for text in found), (mebibytes, report["verdict"])


def test_tree():
    """Pages that a parent and its child share count once in the sum by PSS."""
    process = lab.start(["/usr/bin/python3", "-c", "import mmap, os, sys\nm = mmap.mmap(-1, 16 << 20, mmap.MAP_PRIVATE); m.write(b'x' * "
                         "(16 << 20))\nif os.fork(): print('ready', flush=True); sys.stdin.read()\nelse: sys.stdin.read()\n"])
    assert process.stdout.readline() == b"ready\n"
    pids = [process.pid] + list(lab.children_of(process.pid))
    # A child that has not come so far yet still copies pages.
    lab.wait_for(lambda: all(lab.all_wait(pid) for pid in pids), "both wait")
    anonymous = sum(kilobytes(pid, "smaps_rollup", "Pss_Anon") for pid in pids)
    report = look_with_pss(pids, "--tree", process.pid)
    alone = [look("-p", pid)[0] for pid in pids]
    blocks = sum(row["blocks"] for row in report["kinds"])
    assert blocks == sum(row["blocks"] for one in alone for row in one["kinds"]) > 0, report["kinds"]
    assert sorted(row["pid"] for row in report["targets"]) == sorted(pids), report["targets"]
    assert report["process"]["rss_bytes"] >= 32 << 20, report["process"]
    check_sentences(report)
    # Looking has copied nothing of what they share; pages of files others may share, too.
    after = sum(kilobytes(pid, "smaps_rollup", "Pss_Anon") for pid in pids)
    assert abs(after - anonymous) <= SLACK, (anonymous, after)
    for pid in pids[1:]:
        os.kill(pid, 9)


# Of a group: what two processes share since a fork, and files that were written.
SHARED, WRITTEN = 8 << 20, 50 << 20
GROUP = """
import mmap, os, sys
shared = mmap.mmap(-1, %d, mmap.MAP_PRIVATE)
shared.write(b"x" * %d)
file = open(sys.argv[1], "wb", buffering=0)
for _ in range(%d >> 20): file.write(b"y" * (1 << 20))
child = os.fork()
if child: print(child, flush=True)
os.read(0, 1)
""" % (SHARED, SHARED, WRITTEN)


def check_group(report, pids, group):
    """Truth: smaps_rollup of the two, and the files of the group; what the kernel counts there, it adds up by and by."""
    assert [row["pid"] for row in sorted(report["targets"], key=lambda row: row["pid"])] == sorted(pids), report["targets"]
    account = group.account()
    for key, truth in zip(("usage_bytes", "anon_bytes", "file_bytes"), account):
        assert abs(report["cgroup"][key] - truth) <= 4 << 20, (key, report["cgroup"], account)
    assert report["cgroup"]["anon_bytes"] >= SHARED and report["cgroup"]["file_bytes"] >= WRITTEN // 10 * 9, report["cgroup"]
    # The look is at the group: what most of that is comes first.
    assert [row["cause"] for row in report["verdict"]].index("page-cache") == 0, report["verdict"]
    text = report["verdict"][0]["text"]
    found = re.match(r"([\d.]+) MiB of the ([\d.]+) MiB that its control group is charged with is page cache of files", text)
    assert abs(float(found[1]) * (1 << 20) - account[2]) <= 4 << 20 and abs(float(found[2]) * (1 << 20) - account[0]) <= 4 << 20, text


def test_group():
    container = ("%08x" % os.getpid()) * 8
    with lab.Group("docker-%s.scope" % container, account=True) as group, tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        process = lab.start(["/usr/bin/python3", "-c", GROUP, folder + "/file"], preexec_fn=lambda: group.enter(os.getpid()))
        pids = [process.pid, int(process.stdout.readline())]
        for options in (("--cgroup", "/" + group.name), ("--cgroup", group.path), ("--container", container[:12])):
            check_group(look_with_pss(pids, *options), pids, group)


def test_tree_changes():
    """Processes of a tree that come and go between looks: each report has those that are there then, also once their parent has ended."""
    script = ("import os, sys\ndef child():\n    pid = os.fork()\n    if not pid: os.read(end, 1); os._exit(0)\n    return pid\n"
              "end, keep = os.pipe()\nfirst = child()\nprint(first, flush=True); sys.stdin.readline()\nsecond = child()\nos.kill(first, 9)\n"
              "os.waitpid(first, 0)\nprint(second, flush=True); sys.stdin.read()\n")
    process = lab.start(["/usr/bin/python3", "-c", script])
    first = int(process.stdout.readline())
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-j", "--tree", process.pid, "300ms"])
    remarks = []

    def read_until(wanted):
        for _ in range(100):
            report = json.loads(tracer.stdout.readline())
            remarks.extend(report["remarks"])
            # What a child that has just been forked brings in comes between the figures of a look; a later one has it.
            if sorted(row["pid"] for row in report["targets"]) == sorted(wanted) and \
                    abs(add_up(report, "rss_bytes") - report["process"]["rss_bytes"]) <= SLACK:
                return
        raise AssertionError("no report has %s, with all parts: %s" % (wanted, report))
    read_until([process.pid, first])
    assert not remarks, remarks
    process.stdin.write(b"more\n")
    process.stdin.flush()
    second = int(process.stdout.readline())
    read_until([process.pid, second])
    # The child has its output, too.
    process.kill()
    process.wait()
    read_until([second])
    os.kill(second, 9)
    assert tracer.wait(timeout=lab.PATIENCE) == 0
    text = " ".join(remarks)
    assert "there came: python3 (%d)." % second in text, remarks
    assert "there went: python3 (%d)." % first in text and "there went: python3 (%d)." % process.pid in text, remarks


def test_files():
    """Files of tmpfs are memory; those of /dev/shm, shared memory."""
    script = ("import mmap, os, sys, tempfile\nfor folder in sys.argv[1:]:\n    file = tempfile.TemporaryFile(dir=folder)\n"
              "    file.write(b'x' * (2 << 20)); file.flush()\n    globals()[folder] = mmap.mmap(file.fileno(), 2 << 20)\n"
              "    globals()[folder].read()\nprint('ready', flush=True)\nsys.stdin.read()\n")
    with open("/proc/mounts", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    folders = [row[1] for row in rows if row[2] == "tmpfs" and "rw" in row[3].split(",") and os.access(row[1], os.W_OK)
               and not row[1].startswith("/dev")]
    if not folders or not os.path.isdir("/dev/shm"):
        raise lab.Skip("there is no tmpfs that can be written to")
    process = lab.start(["/usr/bin/python3", "-c", script, "/dev/shm", folders[0]])
    assert process.stdout.readline() == b"ready\n"
    report = look("-p", process.pid)[0]
    check_shared(process.pid, "tmpfs", folders[0] + "/", 2 << 20)
    check_shared(process.pid, "shared", "/dev/shm/", 2 << 20)
    check_sums(report, process.pid)


def test_huge_pages():
    """A byte is written in each of 16 huge pages: the other 511 of 512 small ones have only zeroes."""
    script = ("import mmap, sys\nm = mmap.mmap(-1, 34 << 20, mmap.MAP_PRIVATE)\nm.madvise(mmap.MADV_HUGEPAGE)\n"
              "for i in range(17): m[i << 21] = 1\nprint('ready', flush=True); sys.stdin.read()\n")
    process = lab.start(["/usr/bin/python3", "-c", script])
    assert process.stdout.readline() == b"ready\n"
    huge = kilobytes(process.pid, "smaps_rollup", "AnonHugePages")
    if huge < 32 << 20:
        raise lab.Skip("the kernel gives no huge pages")
    before = kilobytes(process.pid, "status", "RssAnon")
    report = look("-p", process.pid, "--thp")[0]
    if report["process"]["huge_bytes"] is None:
        raise lab.Skip("the kernel does not show which pages are huge")
    assert report["process"]["huge_bytes"] == huge, (report["process"], huge)
    assert abs(report["process"]["huge_zero_bytes"] - huge // 512 * 511) <= SLACK, (report["process"], huge)
    assert "huge-pages" in [row["cause"] for row in report["verdict"]], report["verdict"]
    check_sums(report, process.pid)
    assert abs(kilobytes(process.pid, "status", "RssAnon") - before) <= SLACK


def test_deadline():
    """What is not reached is named, and what the kernel counts is there."""
    process, _ = start_known()
    report = look("-p", process.pid, "--deadline", "1us")[0]
    assert any("no time" in remark for remark in report["remarks"]), report["remarks"]
    assert report["process"]["pss_bytes"] is None and report["process"]["rss_bytes"] > 1 << 20, report["process"]


def test_remarks_of_a_tree():
    """A remark that each of three processes of one program has is there once, with their number; that of one names it."""
    script = "import os, sys\nfor i in range(2):\n    if not os.fork(): break\nelse: print('ready', flush=True)\nsys.stdin.read()\n"
    process = lab.start(["/usr/bin/python3", "-c", script])
    assert process.stdout.readline() == b"ready\n"
    remarks = look("--tree", process.pid, "--deadline", "1us")[0]["remarks"]
    found = [re.fullmatch(r"(?:(\d) of 3 processes|python3 \(\d+\)): (.*)", remark) for remark in remarks]
    assert all(found) and len(set(row[2] for row in found if row[1])) == sum(1 for row in found if row[1]), remarks
    assert any(row[1] == "3" and "no time" in row[2] for row in found), remarks
    for pid in lab.children_of(process.pid):
        os.kill(pid, 9)


def test_text():
    process, _ = start_known()
    status, output, errors = lab.run("memory", *lab.PATIENT, "-p", process.pid)
    assert status == 0 and not errors, errors
    lines = output.splitlines()
    assert re.match(r"\d\d:\d\d:\d\d memory \(%d\): RSS " % process.pid, lines[0]), lines[0]
    assert max(map(len, lines)) <= 80 and len(lines) <= 50, output
    assert any("8 threads have ended" in line for line in lines[2:12]), output


def test_max_memory():
    """With less memory than holders of two million blocks take, there is a report or a message, and the kernel lets it have no more."""
    process = lab.start(["/usr/bin/python3", "-c", "import sys\nkept = list(range(1000, 2001000))\nprint(len(kept), flush=True)\n"
                         "sys.stdin.read()"], env=os.environ | {"PYTHONMALLOC": "malloc"})
    assert process.stdout.readline() == b"2000000\n"
    with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as messages:
        tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-j", "--holders", "--max-memory", "64m", "-p", process.pid], stdout=report,
                           stderr=messages)
        peak = 0
        while tracer.poll() is None:
            with contextlib.suppress(AttributeError, OSError):  # it has ended
                peak = max(peak, kilobytes(tracer.pid, "status", "VmData"))
            time.sleep(0.01)
        output, errors = lab.written(report), lab.written(messages)
    assert 0 < peak <= 64 << 20, peak
    if tracer.returncode:
        assert tracer.returncode == 3 and not output and "--max-memory" in errors, (tracer.returncode, errors)
    else:
        assert json.loads(output)["malloc"][0]["live_blocks"] >= 2000000, output


def nice_of(process):
    with open("/proc/%d/stat" % process.pid, encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[16])


def test_progress():
    """What is looked at stands on a terminal after a second, and is wiped out; the target goes first then, too. A Ruby that does not
    collect makes the look wait."""
    process = lab.start([lab.need("ruby"), "-e", "puts 1; $stdout.flush; $stdin.gets; GC.start; $stdin.read"])
    assert process.stdout.readline() == b"1\n"
    master, slave = os.openpty()
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-j", "--objects", "--wait", "10m", "-p", process.pid], stderr=slave)
    os.close(slave)
    written = b""
    while b"tracer: looking at runtimes ...\r" not in written:
        written += os.read(master, 4096)
    assert nice_of(tracer) == 19
    lab.release(process)
    assert json.loads(tracer.stdout.readline())["objects"] and tracer.wait(timeout=lab.PATIENCE) == 0
    # What it has written comes in pieces, of which the last one may be late.
    written = b""
    with contextlib.suppress(OSError):  # nobody has the other end any more
        while True:
            written += os.read(master, 4096)
    os.close(master)
    assert written.endswith(b"\r\x1b[K") or written == b"\x1b[K", written


def test_refused():
    for arguments, wanted in ((["-p", "999999999"], 4), (["-p", "2"], 4), (["-p", str(os.getpid()), "-f"], 2), ([], 2)):
        status, output, errors = lab.run("memory", *lab.PATIENT, *arguments)
        assert status == wanted and not output and errors.startswith("tracer: "), (arguments, status, output, errors)


if __name__ == "__main__":
    lab.run_tests()
