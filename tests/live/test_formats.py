#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of other tools, each read by the tool that owns it. All are made of one recording of a program that counts what its sites
hold; the figures must be those of the JSON report of the same recording."""
import contextlib
import functools
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import tempfile

import browser
import lab
import speedscope_page

FIGURES = ("alloc_objects", "alloc_bytes", "inuse_objects", "inuse_bytes")
FOLDER = tempfile.TemporaryDirectory(prefix="tracer-formats-")


def path_of(name):
    return os.path.join(FOLDER.name, name)


def read_by(*command, **options):
    """What a reader prints. It must find nothing wrong with the file."""
    lab.need(command[0])
    result = subprocess.run(command, capture_output=True, timeout=lab.PATIENCE, check=False, cwd=FOLDER.name,
                            env=dict(os.environ, HOME=FOLDER.name, LC_ALL="C"), **options)
    output, errors = result.stdout.decode("utf-8"), result.stderr.decode("utf-8", "replace")
    assert result.returncode == 0, errors
    return output, errors


@functools.lru_cache(maxsize=None)
def recorded():
    """A recording with a mark after each of three phases; the program's account of what each site holds in the end."""
    path = path_of("x.db")
    process = lab.start([lab.target("generations")])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    recorder = lab.Tracer("record", "-q", "-o", path, "-p", process.pid, "3600")
    for phase in range(3):
        held = lab.work(process)
        status, _, errors = lab.run("mark", path, "after%d" % (phase + 1))
        assert status == 0, errors
    recorder.stop()
    lab.end(process)
    return path, {name: [sum(born[i] for born in births) for i in (0, 1)] for name, births in held.items()}


def report(output_format, name, *options):
    """A report of the recording in a format; the file."""
    path, _ = recorded()
    status, output, errors = lab.run("report", path, "--format", output_format, "-o", path_of(name), *options)
    assert status == 0 and not output and not errors, errors
    return path_of(name)


def figures_of(*options):
    """By JSON: the figures of each of the program's sites, and all."""
    with open(report("json", "x.json", "-n", "0", *options), encoding="utf-8") as file:
        found = json.load(file)
    sites = {}
    for site in found["sites"]:
        sums = sites.setdefault(lab.function_of(site), [0] * len(FIGURES))
        for i, key in enumerate(FIGURES):
            sums[i] += site[key]
    return sites, [found["totals"][key] for key in FIGURES]


def check_truth(sites):
    """What the program has counted, as (blocks, bytes)."""
    _, held = recorded()
    assert {name: sites.get(name, [0] * 4)[2:] for name in held} == held, (sites, held)


def test_json():
    """What the others are compared with is what the program has counted."""
    sites, totals = figures_of()
    check_truth(sites)
    assert [sum(figures[i] for figures in sites.values()) for i in range(4)] == totals


# pprof


class Pprof:
    """What `go tool pprof -raw` shows of a profile."""
    def __init__(self, *arguments):
        self.text, _ = read_by("go", "tool", "pprof", "-raw", *arguments)
        head, _, rest = self.text.partition("\nSamples:\n")
        samples, _, rest = rest.partition("\nLocations\n")
        locations, _, mappings = rest.partition("\nMappings\n")
        self.comments = re.findall(r"^Comment: (.*)$", head, re.M)
        self.types = samples.splitlines()[0].split()
        self.locations, self.files = {}, {}
        for line in locations.splitlines():
            match = re.match(r"\s*(\d+): 0x([0-9a-f]+)(?: M=(\d+))? ?(.*)$", line)
            if match:
                number = int(match[1])
                self.locations[number] = [match[4]]
                self.files[number] = (int(match[2], 16), int(match[3] or 0))
            else:
                self.locations[number].append(line.strip())
        self.mappings = {int(match[0]): match[1:] for match in re.findall(
            r"^(\d+): 0x([0-9a-f]+)/0x([0-9a-f]+)/0x([0-9a-f]+) (\S*) ([0-9a-f]*) ", mappings, re.M)}
        self.samples = []
        for match in re.finditer(r"^ *((?:-?\d+ +)*-?\d+): ([\d ]*)\n((?: {16}.*\n?)*)", samples, re.M):
            labels = dict(re.findall(r"(\w+):\[([^\]]*)\]", match[3]))
            self.samples.append((list(map(int, match[1].split())), list(map(int, match[2].split())), labels))

    def function(self, location):
        """Of the innermost line: its function, and its place."""
        match = re.match(r"(.*) (\S+):(\d+) s=0(?:\(.*\))?$", self.locations[location][0])
        return match and match.groups()

    def sums(self):
        found = {}
        for values, stack, _ in self.samples:
            name = self.function(stack[0])[0]
            sums = found.setdefault(name, [0] * 4)
            for i, value in enumerate(values):
                sums[i] += value
        return found


def test_pprof():
    """Figures, labels, files and places. The address of a call is in its mapping, which is of its file by build ID."""
    sites, totals = figures_of()
    profile = Pprof(report("pprof", "x.pb.gz"))
    assert profile.types == ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes[dflt]"]
    assert profile.sums() == sites, (profile.text, sites)
    assert [sum(values[i] for values, _, _ in profile.samples) for i in range(4)] == totals
    target = lab.target("generations")
    notes = subprocess.run(["readelf", "-n", target], capture_output=True, text=True, check=True).stdout
    for values, stack, labels in profile.samples:
        assert labels["comm"] == "generations" and int(labels["pid"]) > 0 and labels["allocator"], labels
        function, source, line = profile.function(stack[0])
        expected = {"site_mapped": "mmap", "site_once": "calloc", "site_moved": "realloc"}.get(function, "malloc")
        assert (labels["function"], labels["source"]) == (expected, "mmap" if expected == "mmap" else "heap"), labels
        assert source.endswith("generations.c") and int(line) > 0
        assert ("age" in labels) == (values[2] > 0) and labels.get("age", "1 nanoseconds").endswith(" nanoseconds")
        address, mapping = profile.files[stack[0]]
        start, limit, offset, name, build_id = profile.mappings[mapping]
        assert int(start, 16) <= address < int(limit, 16) and name == target, profile.text
        assert build_id and build_id in notes, (build_id, notes)
        assert int(offset, 16) % 4096 == 0
    # main calls a function that is inlined into it: two lines of one location.
    assert any(lines[0].startswith("work ") and lines[1].startswith("main ") for lines in profile.locations.values()
               if len(lines) == 2), profile.text
    assert any(comment.startswith("tracer ") and "generations" in comment for comment in profile.comments), profile.comments


def top(*arguments):
    """{function: bytes} as `-top` shows them, which are of their own."""
    text, _ = read_by("go", "tool", "pprof", "-top", "-unit=B", "-nodecount=10000", *arguments)
    return {match[1]: int(match[0]) for match in re.findall(r"^ *(-?\d+)B? +\S+ +\S+ +\S+ +\S+  (\S+)", text, re.M) if int(match[0])}


def test_pprof_top():
    """The default is what is in use, and other values by name; -base shows what has grown."""
    sites, _ = figures_of()
    last = report("pprof", "x.pb.gz")
    assert top(last) == {name: figures[3] for name, figures in sites.items() if figures[3]}
    assert top("-sample_index=alloc_space", last) == {name: figures[1] for name, figures in sites.items()}
    assert top("-sample_index=inuse_objects", last) == {name: figures[2] for name, figures in sites.items() if figures[2]}
    before, _ = figures_of("--at", "after1")
    grown = {name: sites[name][3] - before.get(name, [0] * 4)[3] for name in sites}
    grown = {name: bytes for name, bytes in grown.items() if bytes}
    assert top("-base", report("pprof", "first.pb.gz", "--at", "after1"), last) == grown
    # As does a difference of the tracer's own, which is a profile, too.
    path, _ = recorded()
    difference = path_of("difference.pb.gz")
    status, _, errors = lab.run("diff", path + "@after1", "@after3", "--format", "pprof", "-o", difference)
    assert status == 0, errors
    assert top(difference) == grown


def test_pprof_names_by_build_id():
    """A program without symbols: pprof names its functions by the offsets once it has the file with symbols."""
    strip = lab.need("strip")
    program, profile = path_of("program"), path_of("stripped.pb.gz")
    shutil.copy(lab.target("generations"), program)
    subprocess.run([strip, program], check=True)
    process = lab.start([program])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "--format", "pprof", "-o", profile, "-p", process.pid)
    held = {name: births[0][1] for name, births in lab.work(process).items() if births[0][1]}
    tracer.stop()
    lab.end(process)
    assert top(profile) == {"[program]": sum(held.values())}
    os.unlink(program)
    shutil.copy(lab.target("generations"), program)
    assert top(profile) == held


PYTHON = """import sys
kept = []
def keeps(size):
    kept.append(bytearray(size))
sys.stdin.readline()
for _ in range(10):
    keeps(500000)
print('done', flush=True)
sys.stdin.readline()
"""


def test_pprof_interpreter():
    """A function of Python is a function with its file and line."""
    script = path_of("keeps.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON)
    process = lab.start([lab.need("python3"), script])
    lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
    tracer = lab.Tracer("-q", "--format", "pprof", "-z", "500000", "-o", path_of("python.pb.gz"), "-p", process.pid)
    lab.release(process)
    process.stdout.readline()
    tracer.stop()
    lab.end(process)
    profile = Pprof(path_of("python.pb.gz"))
    places = {number: lines[0] for number, lines in profile.locations.items()}
    keeps = [number for number, line in places.items() if line == "keeps %s:4 s=0()" % script]
    assert len(keeps) == 1, profile.text
    held = sum(values[3] for values, stack, _ in profile.samples if keeps[0] in stack)
    assert held // 500000 == 10, profile.text
    # pprof takes what is in <> for a part of a C++ name, and cuts it off.
    text, _ = read_by("go", "tool", "pprof", "-top", "-cum", path_of("python.pb.gz"))
    assert re.search(r" <module>$", text, re.MULTILINE), text


def difference(output_format, name):
    """What has changed between the first mark and the last one; the file."""
    path, _ = recorded()
    status, _, errors = lab.run("diff", path + "@after1", "@after3", "--format", output_format, "-o", path_of(name))
    assert status == 0, errors
    return path_of(name)


def changes():
    """By JSON, of each site: bytes and blocks that it has grown by, and that it has shrunk by."""
    before, _ = figures_of("--at", "after1")
    sites, _ = figures_of()
    found = {}
    for name, figures in sites.items():
        grown = [now - then for now, then in zip(figures[:1:-1], before.get(name, [0] * 4)[:1:-1])]
        found[name] = [max(0, number) for number in grown] + [max(0, -number) for number in grown]
    return {name: numbers for name, numbers in found.items() if any(numbers)}


def in_use_first(sites):
    """The order of figures in formats that have bytes and blocks in use, and allocated."""
    return {name: [figures[i] for i in (3, 2, 1, 0)] for name, figures in sites.items()}


# speedscope


def speedscope_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def speedscope(found):
    """What speedscope shows of each function's own, by its file's specification: {function: [weight in each profile]}."""
    frames = [frame["name"] for frame in found["shared"]["frames"]]
    sums = {}
    for i, profile in enumerate(found["profiles"]):
        for stack, weight in by_events(profile) if profile["type"] == "evented" else zip(profile["samples"], profile["weights"]):
            sums.setdefault(frames[stack[-1]], [0] * 4)[i] += weight
    return sums


def by_events(profile):
    """The stacks of a profile that says where frames begin and end, as speedscope saves them."""
    stack, at = [], profile["startValue"]
    for event in profile["events"]:
        if event["at"] > at:
            yield list(stack), event["at"] - at
        at = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
    assert not stack and at == profile["endValue"]


def test_speedscope():
    found = speedscope_json(report("speedscope", "x.speedscope.json"))
    sums = speedscope(found)
    assert sums == in_use_first(figures_of()[0]), sums
    assert [profile["unit"] for profile in found["profiles"]] == ["bytes", "none"] * 2
    places = {frame["name"]: frame for frame in found["shared"]["frames"]}
    assert places["site_kept"]["file"].endswith("generations.c") and places["site_kept"]["line"] > 0
    assert speedscope(speedscope_json(difference("speedscope", "difference.speedscope.json"))) == changes()


def test_speedscope_reader():
    """speedscope itself, in a browser, has the same figures, names and units of what it was given."""
    speedscope_page.need()
    with browser.Browser() as page:
        path = report("speedscope", "x.speedscope.json")
        found = speedscope_page.open_file(page, path)
        assert speedscope(found) == in_use_first(figures_of()[0]), found
        given = speedscope_json(path)
        assert [(profile["name"], profile["unit"]) for profile in found["profiles"]] == [
            (profile["name"], profile["unit"]) for profile in given["profiles"]], found
        # It has a list of frames of each profile.
        frames = [{json.dumps(frame, sort_keys=True) for frame in each["shared"]["frames"]} for each in (found, given)]
        assert frames[0] == frames[1], frames
        assert speedscope(speedscope_page.open_file(page, difference("speedscope", "difference.speedscope.json"))) == changes()


def test_speedscope_schema():
    """Each file is one of speedscope's own schema."""
    speedscope_page.need()
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise lab.Skip("python3-jsonschema is not installed") from error
    for path in (report("speedscope", "x.speedscope.json"), difference("speedscope", "difference.speedscope.json")):
        jsonschema.validate(speedscope_json(path), speedscope_page.schema())


# callgrind


def annotated(path, *options):
    """{function: [its figures]} as callgrind_annotate shows them."""
    text, errors = read_by("callgrind_annotate", "--threshold=100", "--auto=no", *options, path)
    assert not errors, errors
    names = re.search(r"^Events recorded: +(.*)$", text, re.M)[1].split()
    found = {}
    for numbers, name in re.findall(r"^((?: *[\d,]+ (?:\( *[\d.]+%\))?)+) +(\S.*)$", text, re.M):
        numbers = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) ", re.sub(r"\([^)]*\)", " ", numbers))]
        found[re.sub(r" \[.*\]$", "", name).rpartition(":")[2]] = numbers
    return names, found


def test_callgrind():
    path = report("callgrind", "callgrind.out.x")
    sites, totals = figures_of()
    names, own = annotated(path)
    assert names == ["inuse_bytes", "inuse_objects", "alloc_bytes", "alloc_objects"]
    assert own.pop("PROGRAM TOTALS") == [totals[i] for i in (3, 2, 1, 0)], own
    assert own == in_use_first(sites), own
    # All of it comes through main, which allocates nothing itself.
    _, inclusive = annotated(path, "--inclusive=yes")
    assert inclusive["main"] == inclusive["work"] == [totals[i] for i in (3, 2, 1, 0)], inclusive
    names, own = annotated(difference("callgrind", "callgrind.out.difference"))
    assert names == ["grown_bytes", "grown_objects", "shrunk_bytes", "shrunk_objects"]
    own.pop("PROGRAM TOTALS")
    assert own == changes(), (own, changes())


def test_callgrind_recursion():
    """What came through a function twice counts once in it: by callgrind_annotate, too, nothing holds more than all."""
    script = path_of("recursion.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import sys\ndef down(n):\n    return down(n - 1) if n else bytearray(300000)\nsys.stdin.readline()\n"
                   "kept = down(5)\nprint('done', flush=True)\nsys.stdin.readline()\n")
    process = lab.start([lab.need("python3"), script])
    lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
    tracer = lab.Tracer("-q", "--format", "callgrind", "-z", "300000", "-o", path_of("callgrind.out.recursion"), "-p", process.pid)
    lab.release(process)
    process.stdout.readline()
    tracer.stop()
    lab.end(process)
    _, inclusive = annotated(path_of("callgrind.out.recursion"), "--inclusive=yes")
    held = inclusive["PROGRAM TOTALS"]
    assert held[1] == 1 and 300000 <= held[0] < 301000, inclusive
    for name in ["down"] + ["down'%d" % level for level in range(2, 7)]:
        assert inclusive[name] == held, (name, inclusive)
    assert "down'7" not in inclusive


# massif


def printed(path):
    """What ms_print shows: [(time, bytes)], and the trees of detailed snapshots, each as [(depth, bytes, name)]."""
    text, errors = read_by("ms_print", "--threshold=0", path)
    assert not errors, errors
    moments = [(int(time.replace(",", "")), int(size.replace(",", "")))
               for time, size in re.findall(r"^ *\d+ +([\d,]+) +([\d,]+) +[\d,]+ +0 +0$", text, re.M)]
    trees = re.findall(r"^\d\d\.\d\d%|^100\.00%", text, re.M)
    nodes = [(len(indent), int(size.replace(",", "")), name) for indent, size, name in re.findall(
        r"^([ |]*)->\d+\.\d+% \(([\d,]+)B\) 0x0: (\S+)", text, re.M)]
    return text, moments, trees, nodes


def test_massif():
    """A snapshot for each interval of the recording; the tree of the last one, where nothing before held more."""
    path, held = recorded()
    text, moments, trees, nodes = printed(report("massif", "massif.out.x"))
    sites, totals = figures_of()
    assert "Command:            %s\n" % lab.target("generations") in text
    assert moments[-1][1] == totals[3] == max(size for _, size in moments), moments
    for name in ("after1", "after2"):
        _, before = figures_of("--at", name)
        assert before[3] in [size for _, size in moments], (name, moments)
    assert len(trees) == 1, text
    # What is less than a hundredth of all is added up.
    large = {name: figures[1] for name, figures in held.items() if figures[1] >= totals[3] / 100}
    assert {name: size for depth, size, name in nodes if not depth} == large, (nodes, large)
    assert sum(large.values()) + sum(int(size.replace(",", "")) for size in re.findall(
        r"^->\d+\.\d+% \(([\d,]+)B\) in \d+ place", text, re.M)) == totals[3]
    assert len(sites) >= len(large)


# heaptrack


def by_heaptrack(path, cost):
    """{function that allocated: what heaptrack_print has of it} and all, by a cost type of its."""
    stacks = path + ".stacks"
    _, errors = read_by("heaptrack_print", path, "-F", stacks, "--flamegraph-cost-type", cost, "-p", "0", "-a", "0", "-T", "0",
                        "--disable-builtin-suppressions")
    assert not [line for line in errors.splitlines() if not line.startswith(("reading file", "Debuggee", "finished"))], errors
    sums = {}
    with open(stacks, encoding="utf-8") as file:
        for line in file:
            stack, _, value = line.rstrip("\n").rpartition(" ")
            name = re.sub(r" .*", "", [part for part in stack.split(";") if part.strip()][-1].strip())
            sums[name] = sums.get(name, 0) + int(value)
    return {name: value for name, value in sums.items() if value}, sum(sums.values())


def test_heaptrack():
    """Blocks, what leaked and the peak of each site; the peak is the last moment of this recording."""
    path = report("heaptrack", "x.heaptrack")
    sites, totals = figures_of()
    for cost, i in (("allocations", 0), ("leaked", 3), ("peak", 3)):
        found, total = by_heaptrack(path, cost)
        assert found == {name: figures[i] for name, figures in sites.items() if figures[i]}, (cost, found, sites)
        assert total == totals[i], (cost, total, totals)


def test_heaptrack_temporary():
    """Temporary blocks are those that the program has counted."""
    process = lab.start([lab.target("lives"), "temporary", "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    path = path_of("lives.heaptrack")
    tracer = lab.Tracer("-q", "--format", "heaptrack", "-o", path, "-p", process.pid)
    account = lab.work(process)
    tracer.stop()
    lab.end(process)
    found, _ = by_heaptrack(path, "temporary")
    assert found and found == {name: count for name, count in account.items() if count}, (found, account)


# jeprof


def by_jeprof(*arguments):
    """{function: [bytes of its own, with what it calls]} as jeprof shows them."""
    text, errors = read_by("jeprof", "--text", "--show_bytes", *arguments)
    assert not [line for line in errors.splitlines() if not line.startswith("Using local file")], errors
    return {name: [int(own), int(inclusive)] for own, inclusive, name in re.findall(
        r"^ *(-?\d+) +\S+ +\S+ +(-?\d+) +\S+ (.*?)(?: \(inline\))?$", text, re.M)}


def own_of(found):
    return {name: own for name, (own, _) in found.items() if own}


def test_jeprof():
    """Figures are not scaled; names need no program."""
    path = report("jeprof", "x.heap")
    sites, totals = figures_of()
    for i, option in enumerate(("--alloc_objects", "--alloc_space", "--inuse_objects", "--inuse_space")):
        found = by_jeprof(option, path)
        assert own_of(found) == {name: figures[i] for name, figures in sites.items() if figures[i]}, (option, found)
        assert found["main"] == [0, totals[i]], found
    # Equal code has equal addresses in another profile, which can be subtracted.
    first = report("jeprof", "first.heap", "--at", "after1")
    before, _ = figures_of("--at", "after1")
    grown = {name: sites[name][3] - before.get(name, [0] * 4)[3] for name in sites}
    assert own_of(by_jeprof("--base=" + first, path)) == {name: size for name, size in grown.items() if size}


def test_jeprof_files():
    """Without its names, jeprof looks them up in the program: addresses and mappings are right."""
    with open(report("jeprof", "x.heap"), encoding="utf-8") as file:
        _, _, rest = file.read().partition("\n---\n")
    with open(path_of("plain.heap"), "w", encoding="utf-8") as file:
        file.write(rest)
    sites, totals = figures_of()
    found = by_jeprof(lab.target("generations"), path_of("plain.heap"))
    assert own_of(found) == {name: figures[3] for name, figures in sites.items() if figures[3]}, found
    assert found["main"] == [0, totals[3]], found
    # By lines, too, which the debugging information has.
    lines, _ = read_by("jeprof", "--text", "--lines", lab.target("generations"), path_of("plain.heap"))
    assert re.search(r" site_kept \S*generations\.c:\d+", lines), lines


def test_jeprof_names():
    """jeprof cuts off what is in brackets, and splits names at two dashes; names of an interpreter stay whole."""
    script = path_of("names.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PYTHON)
    process = lab.start([lab.need("python3"), script])
    lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
    tracer = lab.Tracer("-q", "--format", "jeprof", "-z", "500000", "-o", path_of("python.heap"), "-p", process.pid)
    lab.release(process)
    process.stdout.readline()
    tracer.stop()
    lab.end(process)
    found = by_jeprof("--inuse_objects", path_of("python.heap"))
    assert [found[name][1] for name in ("keeps", "\uff1cmodule\uff1e", "python3 \uff08%d\uff09" % process.pid)] == [10] * 3, found


# Names that want to be something else


LONG = 1 << 20
HOSTILE = {
    "site_kept": "<script>window.pwned=1</script><img src=x onerror=window.pwned=2>&amp;\"'",
    "site_replaced": "\x1b]0;title\x07\x1b[31mred\r\n\tfn=(1) \u202ebackwards\u2028calls=1 0\n100 100",
    "site_once": "a;b # c -- d\\ {} (x) [y] @z $(id) `id` %s %n ../../etc/passwd",
    "site_moved": "long" * (LONG // 4),
}


@functools.lru_cache(maxsize=None)
def hostile():
    """The recording, with the names of a target that means no good."""
    path = path_of("hostile.db")
    shutil.copy(recorded()[0], path)
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        for old, new in HOSTILE.items():
            assert base.execute("UPDATE symbol SET function = ? WHERE function = ?", (new, old)).rowcount > 0, old
        base.execute("UPDATE symbol SET file = '/src/<b>' || char(10) || char(27) || '.c' WHERE function = 'site_gone'")
        base.execute("UPDATE target SET comm = '<i>' || char(10) || char(27) || '[0m'")
    return path


def hostile_report(output_format):
    path = path_of("hostile." + output_format)
    status, output, errors = lab.run("report", hostile(), "--format", output_format, "-o", path)
    assert status == 0 and not output and not errors, errors
    return path


def test_hostile_names():
    """No name changes a figure for any reader, none ends up on a terminal, and no reader fails."""
    sites, totals = figures_of()
    in_use = sorted(figures[3] for figures in sites.values() if figures[3])
    profile = Pprof(hostile_report("pprof"))
    assert [sum(values[i] for values, _, _ in profile.samples) for i in range(4)] == totals
    assert sorted(figures[3] for figures in profile.sums().values() if figures[3]) == in_use
    found = speedscope(speedscope_json(hostile_report("speedscope")))
    assert sorted(figures[0] for figures in found.values() if figures[0]) == in_use
    _, own = annotated(hostile_report("callgrind"))
    assert own.pop("PROGRAM TOTALS") == [totals[i] for i in (3, 2, 1, 0)]
    assert sorted(figures[0] for figures in own.values() if figures[0]) == in_use, own
    text, moments, _, _ = printed(hostile_report("massif"))
    assert moments[-1][1] == totals[3], moments
    heaptrack, total = by_heaptrack(hostile_report("heaptrack"), "leaked")
    assert total == totals[3] and sorted(heaptrack.values()) == in_use, heaptrack
    jeprof = by_jeprof(hostile_report("jeprof"))
    assert sorted(own_of(jeprof).values()) == in_use, jeprof
    for shown in (profile.text, text):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]", shown)


def test_hostile_pages():
    """In a browser, no name is HTML or a script: in the page, in the flame graph, and in speedscope."""
    _, totals = figures_of()
    with browser.Browser() as page:
        for name in ("html", "svg"):
            path = hostile_report(name)
            shutil.copy(path, path + "." + name)
            page.ask("POST", "/url", {"url": "file://%s.%s" % (path, name)})
            if name == "html":
                lab.wait_for(lambda: page.run("return document.documentElement.dataset.drawn"), "the page is drawn")
                assert browser.embedded(path)["totals"]["inuse_bytes"] == totals[3]
            assert page.run("return window.pwned === undefined && document.images.length === 0")
            assert "onerror=window.pwned" in page.run("return document.documentElement.textContent")
            assert page.complaints() == []
        speedscope_page.need()
        found = speedscope_page.open_file(page, hostile_report("speedscope"))
        assert sum(figures[0] for figures in speedscope(found).values()) == totals[3]
        names = [frame["name"] for frame in found["shared"]["frames"]]
        assert HOSTILE["site_kept"] in names and max(map(len, names)) >= LONG, [name[:100] for name in names]
        assert page.run("return window.pwned === undefined && document.images.length === 0")


def test_binary_and_terminals():
    """No terminal is filled with bytes; one file holds one report."""
    path, _ = recorded()
    master, slave = pty.openpty()
    process = lab.start([lab.TRACER, "report", path, "--format", "pprof"], stdout=slave)
    _, errors = process.communicate(timeout=lab.PATIENCE)
    os.close(slave)
    os.close(master)
    assert process.returncode == 2 and b"not for a terminal: -o FILE" in errors, errors
    status, _, errors = lab.run("--format", "pprof", "-p", "1", "5")
    assert status == 2 and "one report of the format pprof" in errors, errors


if __name__ == "__main__":
    lab.run_tests()
