#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Stacks: whole in real programs, equal to gdb's where they are hard to walk, and honest where they cannot be whole."""
import collections
import contextlib
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import lab

CUT = ("stack_unreadable", "stack_unmapped", "stack_jit", "stack_no_rows", "stack_guessed", "stack_broken",
       "stack_no_table", "stack_truncated")


def check_whole(report, least, ends=None):
    """At least 99.9 % of the stacks of so many calls or more end at the root, which is a function of `ends`."""
    calls = report["totals"]["alloc_objects"]
    partial = {name: report["loss"][name] for name in CUT if report["loss"][name]}
    print("# %d calls at %d sites, not whole: %s" % (calls, len(report["sites"]), partial))
    assert calls >= least and sum(partial.values()) <= calls / 1000, (calls, partial)
    lab.check_sums(report)
    roots = collections.Counter()
    for site in report["sites"]:
        # Pages of Ruby's heap and the like are a row without a stack.
        assert bool(site["frames"]) != (site["region"] in ("ruby_heap", "python_arena")), site
        root = site["frames"][-1] if site["frames"] else None
        if root and root["kind"] != "error":
            # Without libc's debug file its clone3, which it does not export, has no name.
            roots[root["function"] or os.path.basename(root["module"] or "")] += site["alloc_objects"]
    if ends:
        assert sum(roots[name] for name in ends) >= 0.999 * calls, roots


@contextlib.contextmanager
def traced(pid, *options):
    """While a process works; the report is in the dict, and the tracer until then."""
    tracer = lab.Tracer("-q", "-j", "-n", "0", *options, "-p", pid, "3600")
    result = {"tracer": tracer}
    yield result
    result.clear()
    result.update(json.loads(tracer.stop().splitlines()[-1]))


def ask(process, line):
    process.stdin.write((line + "\n").encode())
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, "it has ended"
    return answer.decode().strip()


RUBY = """
require 'json'
require 'erb'
$stdout.sync = true
def deep(depth, &block) = depth == 0 ? block.call : deep(depth - 1, &block)
while (line = $stdin.gets)
  line.to_i.times do |i|
    deep(i % 20) { JSON.parse(JSON.generate((0..50).map { |j| { "key #{j}" => "value " * (j % 9) } })) }
    ERB.new("<% 10.times do |k| %> row <%= k * #{i} %> <% end %>").result
    Thread.new { Fiber.new { Fiber.yield (0..99).map { |j| "string number #{j} that is rather long" }.sort }.resume }.join
    [3, 1, 2].sort_by { |x| -x }.map(&:to_s).inspect
  end
  puts 'done'
end
"""
PYTHON = """
import json, re, sys, threading, xml.dom.minidom
def work(rounds):
    for i in range(rounds):
        rows = [{"id": j, "name": "row %d" % j, "parts": list(range(j))} for j in range(60)]
        json.loads(json.dumps(rows))
        re.sub(r"(\\d+)", lambda match: match.group(1) * 300, "a 1 b 22 c 333" * 20)
        xml.dom.minidom.parseString("<a>" + "<b c='1'>text</b>" * 20 + "</a>").toxml()
for line in sys.stdin:
    thread = threading.Thread(target=work, args=(int(line),))
    thread.start()
    work(int(line))
    thread.join()
    print('done', flush=True)
"""


def check_script(command, rounds, least):
    process = lab.start(command, env={**os.environ, "PYTHONMALLOC": "malloc"})
    assert ask(process, "2") == "done"
    with traced(process.pid) as report:
        assert ask(process, str(rounds)) == "done"
    check_whole(report, least)


def test_ruby():
    check_script([lab.need("ruby"), "-e", RUBY], 80, 5000)


def test_python():
    check_script([lab.need("/usr/bin/python3"), "-c", PYTHON], 5, 5000)


# Where glibc starts programs and threads (at clone before 2.34).
ROOTS = ("_start", "clone3", "clone", "__clone3", "__clone", "libc.so.6")


def test_cpp():
    process = lab.start([lab.target("stacks")])
    ask(process, "work 4")
    with traced(process.pid) as report:
        ask(process, "work 40")
    check_whole(report, 5000, ROOTS)


def test_redis():
    redis, benchmark = lab.need("redis-server"), lab.need("redis-benchmark")
    with tempfile.TemporaryDirectory(prefix="tracer-redis-") as folder:
        port = lab.free_port()
        server = lab.start([redis, "--port", port, "--save", "", "--dir", folder], stdout=subprocess.DEVNULL)
        lab.wait_for(lambda: lab.answers(port), "redis answers")
        with traced(server.pid) as report:
            subprocess.run([benchmark, "-p", str(port), "-n", "3000", "-t", "set,lpush,hset,zadd", "-q"],
                           stdout=subprocess.DEVNULL, check=True, timeout=lab.PATIENCE)
        check_whole(report, 5000)


NGINX = """
daemon off; master_process off; pid {0}/pid; error_log {0}/error; events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0}; uwsgi_temp_path {0};
    scgi_temp_path {0}; server {{ listen 127.0.0.1:{1}; root {0}; }} }}
"""


def test_nginx():
    nginx = lab.shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not nginx:
        raise lab.Skip("nginx is not installed")
    wrk = lab.need("wrk")
    with tempfile.TemporaryDirectory(prefix="tracer-nginx-") as folder:
        os.chmod(folder, 0o755)
        port = lab.free_port()
        with open(folder + "/conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(folder, port))
        with open(folder + "/page", "w", encoding="ascii") as file:
            file.write("p" * 3000)
        server = lab.start([nginx, "-e", folder + "/error", "-c", folder + "/conf"], stdout=subprocess.DEVNULL)
        lab.wait_for(lambda: lab.answers(port), "nginx answers")
        with traced(server.pid) as report:
            def has_worked():
                subprocess.run([wrk, "-t1", "-c8", "-d2s", "http://127.0.0.1:%d/page" % port], check=True,
                               stdout=subprocess.DEVNULL, timeout=lab.PATIENCE)
                return report["tracer"].report_now()["totals"]["alloc_objects"] >= 1000
            lab.wait_for(has_worked, "nginx has allocated")
        check_whole(report, 1000)


def test_postgresql():
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    if not programs:
        raise lab.Skip("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="tracer-postgresql-") as folder:
        # It refuses to be run by root.
        os.chmod(folder, 0o777)
        subprocess.run([os.path.dirname(programs[-1]) + "/initdb", "-D", folder + "/data", "-A", "trust", "-N"],
                       user="nobody", check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=lab.PATIENCE)
        server = lab.start([programs[-1], "--single", "-D", folder + "/data", "postgres"], user="nobody", cwd=folder,
                           stderr=subprocess.DEVNULL)

        def query(text):
            server.stdin.write((text + ";\nselect 'all ' || 'done';\n").encode())
            server.stdin.flush()
            while b"all done" not in server.stdout.readline():
                assert server.poll() is None

        query("create table t as select i, repeat('x', i % 500) as text from generate_series(1, 20000) i")
        query("select count(*) from t")
        with traced(server.pid) as report:
            for i in range(100):
                query("select text, count(*), string_agg(i::text, ',') from t where i %% %d = 3 group by text "
                      "order by text desc limit 5" % (i + 4))
        check_whole(report, 1000)


TORTURE = (7000000, 7200000)  # the sizes by which unwind_torture names its stacks

# gdb's name of the register with a function's first argument.
ARGUMENT = {"aarch64": "$x0"}.get(os.uname().machine, "$rdi")
GDB_WALK = r"""
import gdb, json, re, sys
gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set debuginfod enabled off")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set backtrace limit 200")
gdb.execute("handle SIGUSR1 nostop noprint pass")
gdb.execute("set breakpoint pending on")
gdb.execute("break main")
gdb.execute("run wait 1 < %s")
gdb.execute("delete")
gdb.execute("break malloc if $argument >= %d && $argument < %d")
def place(pc):
    with open("/proc/%%d/maps" %% gdb.selected_inferior().pid) as maps:
        for line in maps:
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) \S+ \d+ +(/.*|\[vdso\])", line)
            if match and int(match[1], 16) <= pc - 1 < int(match[2], 16):
                return [match[4], pc - int(match[1], 16) + int(match[3], 16)]
    return ["?", pc]
stacks = {}
while True:
    gdb.execute("continue", to_string=True)
    if not gdb.selected_inferior().pid:
        break
    size, frame, pcs = int(gdb.parse_and_eval("$argument")), gdb.newest_frame().older(), []
    while frame:
        # It does not know where a fiber begins, and goes on to what is no code.
        if place(frame.pc())[0] == "?":
            break
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append(place(frame.pc()))
        frame = frame.older()
    stacks[size] = pcs
with open(%r, "w") as file:
    json.dump(stacks, file)
"""


def gdb_stacks():
    """{size: [(module, offset)]} of unwind_torture, from the caller of malloc outwards."""
    lab.need("gdb")
    with tempfile.TemporaryDirectory(prefix="tracer-gdb-") as folder:
        with open(folder + "/walk.py", "w", encoding="ascii") as file:
            file.write((GDB_WALK % (folder + "/line", *TORTURE, folder + "/stacks")).replace("$argument", ARGUMENT))
        with open(folder + "/line", "w", encoding="ascii") as file:
            file.write("go\n")
        run = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", folder + "/walk.py", lab.target("unwind_torture")],
                             capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                             timeout=2 * lab.PATIENCE)
        assert os.path.exists(folder + "/stacks"), run.stdout + run.stderr
        with open(folder + "/stacks", encoding="ascii") as file:
            stacks = {int(size): [tuple(place) for place in pcs] for size, pcs in json.load(file).items()}
        assert len(stacks) == 130, (len(stacks), run.stdout + run.stderr)
        return stacks


def check_torture(report, truth, needed=None):
    found = {}
    for site in report["sites"]:
        size = site["alloc_bytes"] // site["alloc_objects"]
        if site["function"] == "malloc" and TORTURE[0] <= size < TORTURE[1]:
            assert size not in found, (found[size], site)
            found[size] = [(frame["module"], frame["offset"]) for frame in site["frames"] if not frame["inlined"]]
    assert set(needed or truth) <= set(found) <= set(truth), set(found) ^ set(truth)
    for size, stack in found.items():
        same = os.path.commonprefix([stack, truth[size]])
        assert stack == truth[size], (size, len(same), stack[len(same):], truth[size][len(same):])
    print("# %d stacks, %d frames, as in gdb" % (len(found), sum(len(stack) for stack in found.values())))


def is_running(process):
    """Has it opened its libraries? Standard input keeps it where it is then."""
    with open("/proc/%d/wchan" % process.pid, encoding="ascii") as file:
        return "pipe" in file.read()


def torture_report(*others):
    process = lab.start([lab.target("unwind_torture"), "wait", "1"])
    lab.wait_for(lambda: is_running(process), "it runs")
    with contextlib.ExitStack() as stack:
        for other in others:
            stack.enter_context(other(process))
        with traced(process.pid) as report:
            process.stdin.write(b"go\n")
            process.stdin.close()
            process.wait(lab.PATIENCE)
    assert process.returncode == 0, process.returncode
    return report


def test_torture():
    # Alloca, realigned stacks, frames of 40 KB, recursion, a callback, signal handlers, a thread, a fiber.
    truth = gdb_stacks()
    report = torture_report()
    check_torture(report, truth)
    assert not any(report["loss"][name] for name in CUT), report["loss"]


@contextlib.contextmanager
def return_probes(process):
    """Another tool's, on a function that is on most of the stacks, up to 120 times."""
    script = "uretprobe:%s:recurse { @count = count(); } BEGIN { printf(\"ready\\n\"); }" % lab.target("unwind_torture")
    other = lab.start([lab.need("bpftrace"), "-p", process.pid, "-e", script])
    while True:
        line = other.stdout.readline()
        if b"ready" in line:
            break
        if not line:
            raise lab.Skip("bpftrace does not work here")
    yield
    other.send_signal(lab.signal.SIGINT)
    output = other.communicate(timeout=lab.PATIENCE)[0].decode()
    # It was there all the time.
    assert int(re.search(r"@count: (\d+)", output)[1]) > 1000, output


def test_hijacked_return_addresses():
    truth = gdb_stacks()
    report = torture_report(return_probes)
    # The kernel sets no more than 64 return probes one inside the other: deeper calls of malloc are not seen at all.
    check_torture(report, truth, [size for size in truth if size < TORTURE[0] + 100060])


@contextlib.contextmanager
def second_tracer(process):
    other = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    yield
    other.stop()


def test_two_tracers():
    check_torture(torture_report(second_tracer), gdb_stacks())


def test_frame_pointers():
    """As asked for: complete where code has them, and cut short, without a word of it, where it has none."""
    _, report = lab.command_report([lab.target("deep"), "12", "1"], "--call-graph", "fp")
    site = [site for site in report["sites"] if lab.function_of(site) == "site_deep"][0]
    names = [frame["function"] for frame in site["frames"] if not frame["inlined"]]
    assert names[:13] == ["site_deep"] * 12 + ["main"], names
    assert not report["loss"]["stack_no_table"], report["loss"]
    process = lab.start([lab.target("unwind_torture"), "wait", "1"])
    lab.wait_for(lambda: is_running(process), "it runs")
    with traced(process.pid, "--call-graph", "fp") as report:
        process.stdin.write(b"go\n")
        process.stdin.close()
        process.wait(lab.PATIENCE)
    sites = [site for site in report["sites"] if lab.function_of(site) == "take"]
    assert sum(site["alloc_objects"] for site in sites) == 130 and len(sites) < 130, sites
    assert all(len(site["frames"]) < 50 for site in sites), sites


def test_library_opened_later():
    process = lab.start([lab.target("stacks")])
    ask(process, "work 1")
    with traced(process.pid) as report:
        assert ask(process, "open %s" % lab.target("plugin.so")) == "opened"
        # A report comes after all records of before: the library's mapping has been read.
        report["tracer"].report_now()
        for _ in range(100):
            ask(process, "call 4321")
    sites = [site for site in report["sites"] if lab.function_of(site) == "plugin_leak"]
    assert len(sites) == 1 and sites[0]["inuse_bytes"] == 432100, sites
    names = [frame["function"] for frame in sites[0]["frames"]]
    assert names[:2] == ["plugin_leak", "main"] and names[-1] == "_start", names


def test_many_processes():
    with tempfile.TemporaryDirectory(prefix="tracer-many-") as folder:
        name = "stacks%d" % (os.getpid() % 100000)
        lab.shutil.copy(lab.target("stacks"), os.path.join(folder, name))
        processes = [lab.start([os.path.join(folder, name)]) for _ in range(40)]
        for process in processes:
            lab.wait_for(lambda process=process: lab.is_reading(process), "the process waits")
        tracer = lab.Tracer("-q", "-j", "-n", "0", "--comm", name, "3600")
        for process in processes:
            ask(process, "work 1")
        report = json.loads(tracer.stop().splitlines()[-1])
        assert len(report["targets"]) == len(processes), len(report["targets"])
        check_whole(report, 5000, ROOTS)


def test_ends_are_marked():
    """A stack that is cut says why, in the site, in the counters and in the coverage line."""
    status, output, errors = lab.run("-n", "3", "--stack-depth", "2", "--", lab.target("deep"), "30", "1")
    coverage = re.search(r"coverage: .*(?:\n  .*)*", output)[0]
    count = re.search(r"; ([\d,]+) truncated stacks\s+\(stack_truncated\s+([\d,]+)\)", coverage)
    assert status == 0 and count and count[1] == count[2], (output, errors)
    _, report = lab.command_report([lab.target("deep"), "30", "1"], "--stack-depth", "2")
    site = [site for site in report["sites"] if lab.function_of(site) == "site_deep"][0]
    assert site["frames"][-1]["kind"] == "error" and "--stack-depth" in site["frames"][-1]["function"], site
    assert report["loss"]["stack_truncated"] >= 1, report["loss"]


def site_of(report, function):
    return [site for site in report["sites"] if lab.function_of(site) == function][0]


def test_code_without_tables():
    """With frame pointers its frames are guessed, and the stack says so; without, the stack ends there."""
    _, report = lab.command_report([lab.target("deep-without-tables"), "12", "1"])
    frames = site_of(report, "site_deep")["frames"]
    names = [frame["function"] for frame in frames if not frame["inlined"]]
    assert names[:13] == ["site_deep"] * 12 + ["main"] and "_start" in names, names
    assert frames[-1]["kind"] == "error" and "guessed" in frames[-1]["function"], frames
    assert report["loss"]["stack_guessed"] >= 1, report["loss"]
    _, report = lab.command_report([lab.target("deep-without-anything"), "12", "1"])
    frames = site_of(report, "site_deep")["frames"]
    assert frames[-1]["kind"] == "error" and "without unwind tables" in frames[-1]["function"], frames
    assert report["loss"]["stack_no_rows"] + report["loss"]["stack_guessed"] >= 1, report["loss"]


HOSTILE = """
import ctypes, mmap, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
maps = []
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        maps.append(mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE))
print("mapped", len(maps), flush=True)
for line in sys.stdin:
    for i in range(200):
        libc.malloc(54321)
    print("done", flush=True)
"""


def hostile_files(folder):
    """What no linker makes: cut short, with bytes changed all over, of a size that nobody has."""
    with open(os.path.realpath(lab.target("unwind_torture")), "rb") as file:
        program = file.read()
    generator = random.Random(20)
    for i in range(60):
        image = bytearray(program)
        if i % 3 == 0:
            del image[generator.randrange(4096, len(image)):]
        # Not the magic number; mostly headers and what comes after the code.
        for _ in range(generator.choice((1, 8, 300))):
            image[generator.randrange(16, min(len(image), generator.choice((1024, len(image)))))] = generator.randrange(256)
        with open("%s/%d" % (folder, i), "wb") as file:
            file.write(image)
    with open(folder + "/huge", "wb") as file:
        file.write(program)
        file.truncate(1 << 42)
    with open(folder + "/noise", "wb") as file:
        file.write(b"\x7fELF" + generator.randbytes(100000))
    return sorted(glob.glob(folder + "/*"))


def test_hostile_files():
    with tempfile.TemporaryDirectory(prefix="tracer-hostile-") as folder:
        files = hostile_files(folder)
        process = lab.start([sys.executable, "-c", HOSTILE, *files])
        assert process.stdout.readline().split() == [b"mapped", b"%d" % len(files)]
        with traced(process.pid) as report:
            assert ask(process, "go") == "done"
        sizes = [site for site in report["sites"] if site["alloc_bytes"] == 54321 * site["alloc_objects"]]
        assert sum(site["inuse_bytes"] for site in sizes) == 54321 * 200, sizes
        assert all(site["frames"][-1]["kind"] != "error" for site in sizes), sizes


lab.run_tests()
