#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that publish samples by the USDT probes otel_memory:alloc and otel_memory:free.

The truth is the program's own account: tests/targets/usdt.c adds up what its allocator, tests/targets/sampled.c, has
published each sample to represent. Where probes and their arguments are, readelf prints.
"""
import contextlib
import ctypes
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile

import lab

BUILDS = ("usdt-listened", "usdt-plain", "usdt-memory", "usdt-stripped", "usdt-static", "usdt-within")


def program(name):
    path = lab.target(name)
    if not os.path.exists(path):
        raise lab.Skip("%s could not be built (sys/sdt.h is missing?)" % name)
    return path


def library(name):
    return os.path.join(lab.TARGETS, "lib%s.so" % name)


def check_sampled(account, report, named=True, allowed=(), starting=False):
    """The account of the samples is that of the report; and the report says that it is an estimate."""
    lab.check_sums(report)
    lab.check_losses(report, allowed)
    asked = account.pop("asked")
    truth = {name: figures for name, figures in account.items() if any(figures)}
    sites = [site for site in report["sites"] if site.get("sampled")]
    assert sites, report
    # In code that was mapped an instant before, the walk ends in the allocator itself.
    named = named and not (starting and report["loss"]["stack_unmapped"])
    if named:
        assert lab.sums(report, set(truth)) == truth, (lab.sums(report, set(truth)), truth)
    for site in sites:
        assert (site["function"], site["source"]) == ("otel_memory:alloc", "heap"), site
        assert site["samples"] > 0, site
        assert not named or lab.function_of(site) in truth, site
    for i, key in enumerate(("alloc_bytes", "alloc_objects", "free_bytes", "free_objects")):
        assert sum(site[key] for site in sites) == sum(figures[i] for figures in truth.values()), key
    assert report["totals"]["sampled"] is True
    assert report["totals"]["sampled_inuse_bytes"] == sum(site["inuse_bytes"] for site in sites)
    assert report["loss"]["free_untracked"] == 0, report["loss"]
    return asked


def check_build(name, *options):
    command = [program(name), "count", 3]
    check_sampled(*lab.command_report(command, *options), starting=True)
    check_sampled(*lab.attached_report(command, *options))


def test_probes_with_semaphores():
    check_build("usdt-listened")


def test_probes_without_semaphores():
    check_build("usdt-plain")


def test_arguments_in_memory():
    check_build("usdt-memory")


def test_stripped_library():
    check_build("usdt-stripped")


def test_static_program():
    check_build("usdt-static")


def test_probes_within_the_program():
    check_build("usdt-within")


def check_backend(name):
    lab.need_backend(name)
    check_build("usdt-listened", "--backend", name)
    check_sampled(*lab.attached_report([program("usdt-memory"), "count", 2], "--backend", name))


def test_session_probes():
    check_backend("session")


def test_multi_probes():
    check_backend("multi")


def test_perf_probes():
    check_backend("perf")


def test_ioctl_probes():
    check_backend("ioctl")


def test_frame_pointers():
    # The library has none: its caller cannot be seen.
    check_sampled(*lab.attached_report([program("usdt-listened"), "count", 2], "--call-graph", "fp"), named=False)


def test_weights_are_near_what_was_asked_for():
    account, report = lab.command_report([program("usdt-listened"), "near", 20])
    asked, fired = check_sampled(account, report, starting=True)[:2]
    sampled = sum(site["alloc_bytes"] for site in report["sites"] if site.get("sampled"))
    assert fired > 10000 and abs(sampled - asked) < asked / 20, (sampled, asked)


def test_sizes():
    """The size of a block decides, not what it represents."""
    account, report = lab.attached_report([program("usdt-listened"), "count", 3], "-z", "100000")
    assert lab.sums(report, set(account)) == {"site_large": account["site_large"]}, (account, report["sites"])
    account, report = lab.attached_report([program("usdt-listened"), "count", 3], "-Z", "15")
    assert not any(site.get("sampled") for site in report["sites"]), report["sites"]
    assert report["loss"]["free_untracked"] > 0, report["loss"]


def test_ages():
    """All is younger than that."""
    _, report = lab.attached_report([program("usdt-listened"), "count", 3], "--min-age", "10h")
    lab.check_sums(report)
    assert report["totals"]["inuse_bytes"] == report["totals"]["inuse_objects"] == 0, report["totals"]
    assert report["totals"]["free_bytes"] > 0 and report["totals"]["sampled"], report["totals"]


def test_full_table():
    account, report = lab.attached_report([program("usdt-listened"), "near", 2], "--max-blocks", "100")
    lab.check_sums(report)
    lost = report["loss"]
    assert lost["blocks_full"] > 0 and lost["bytes_unattributed"] > 0, lost
    published = sum(figures[0] for name, figures in account.items() if name != "asked")
    kept = sum(site["alloc_bytes"] for site in report["sites"] if site.get("sampled"))
    assert kept + lost["bytes_unattributed"] == published, (kept, lost, published)


def test_senseless_weights():
    account, report = lab.attached_report([program("usdt-listened"), "wrong"])
    assert report["loss"]["samples_senseless"] == 3, report["loss"]
    check_sampled(account, report, allowed=("samples_senseless",))


def test_library_opened_later():
    program("usdt-listened")
    process = lab.start([program("usdt-opened"), "dlopen", library("usdt-listened"), "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-v", "-j", "-n", "0", "-p", process.pid)
    lab.release(process)
    assert process.stdout.readline() == b"opened\n"
    lab.wait_for(lambda: re.search(r"libusdt-listened\.so are probed in process %d " % process.pid, tracer.stderr()), "the library is probed")
    account = lab.work(process)
    check_sampled(account, json.loads(tracer.stop().splitlines()[-1]), allowed=("files_late",))


def test_child():
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        status, output, errors = lab.run("-q", "-j", "-n", "0", "--keep-exited", "-o", file.name, "--",
                                         program("usdt-listened"), "fork")
        report = json.loads(file.read())
    assert status == 0, errors
    lab.check_losses(report)
    lab.check_sums(report)
    child, parent = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    for account, ended in ((child, True), (parent, False)):
        account.pop("asked")
        # Of what has ended, only sites are kept that hold something.
        truth = [sum(figures[i] - figures[i + 2] for figures in account.values()) for i in (0, 1)]
        sites = [site for site in report["sites"] if site["ended"] == ended and site.get("sampled")]
        found = [sum(site[key] for site in sites) for key in ("inuse_bytes", "inuse_objects")]
        assert found == truth and all(truth), (ended, found, truth)
    assert report["ended"]["sampled"] is True and report["totals"]["sampled"] is True


def semaphores(process):
    process.stdin.write(b"?")
    process.stdin.flush()
    return int(process.stdout.readline())


def check_semaphores(backend, name="usdt-listened"):
    lab.need_backend(backend)
    process = lab.start([program(name), "spin"])
    assert process.stdout.readline() == b"ready\n"
    assert semaphores(process) == 0
    for number in (signal.SIGINT, signal.SIGKILL):
        tracer = lab.Tracer("-q", "-j", "--backend", backend, "-p", process.pid)
        assert semaphores(process) > 0
        lab.end(tracer.process, number)
        # The kernel takes its time to take probes out.
        lab.wait_for(lambda: semaphores(process) == 0, "the semaphores are as they were")
    process.stdin.close()
    assert process.wait(lab.PATIENCE) == 0


def test_semaphores_of_session_probes():
    check_semaphores("session")
    check_semaphores("session", "usdt-static")


def test_semaphores_of_multi_probes():
    check_semaphores("multi")


def test_semaphores_of_perf_probes():
    check_semaphores("perf")


def test_semaphores_of_ioctl_probes():
    check_semaphores("ioctl")


def test_only():
    account, report = lab.attached_report([program("usdt-listened"), "count", 3], "--usdt", "only")
    check_sampled(account, report)
    assert all(site.get("sampled") for site in report["sites"]), report["sites"]
    status, output, errors = lab.run("plan", "-u", "root", "--usdt", "only", "--", program("usdt-within"))
    assert status == 0 and "otel_memory:alloc" in output and "mmap" not in output, (output, errors)


def test_only_where_there_are_none():
    for command in (["plan", "-u", "root"], []):
        status, _, errors = lab.run(*command, "--usdt", "only", "--", lab.target("known"), "calls")
        assert status == 5 and "none of these files carries the USDT probes otel_memory:alloc" in errors, (status, errors)
        assert "/known" in errors and "libc" in errors, errors


def test_off():
    """The functions of the library are counted, each call of them."""
    _, report = lab.attached_report([program("usdt-plain"), "near", 1], "--usdt", "off")
    lab.check_sums(report)
    lab.check_losses(report)
    assert "sampled" not in report["totals"] and not any(site.get("sampled") for site in report["sites"])
    # 2000 blocks, of which a quarter is allocated twice.
    found = lab.sums(report, {"site_malloc", "site_other", "site_large", "site_calloc", "site_realloc"})
    assert sum(figures[1] for figures in found.values()) == 2500, found


def test_one_probe_alone():
    """Without otel_memory:free nothing would ever be freed."""
    process = lab.start([program("usdt-alloc"), "near", 1, "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid)
    lab.release(process)
    process.stdout.readline()
    report = json.loads(tracer.stop().splitlines()[-1])
    assert "has no otel_memory:free, so its functions are probed" in tracer.stderr(), tracer.stderr()
    found = lab.sums(report, {"site_malloc", "site_other", "site_large", "site_calloc", "site_realloc"})
    assert sum(figures[1] for figures in found.values()) == 2500, found
    status, _, errors = lab.run("--usdt", "only", "--", program("usdt-alloc"), "near", "1")
    assert status == 5 and "libusdt-alloc.so" in errors, (status, errors)


def test_samples_of_what_is_counted():
    """An allocator on top of malloc publishes addresses that malloc has handed out: each block counts once, exactly."""
    _, report = lab.attached_report([program("usdt-shim"), "near", 2])
    lab.check_sums(report)
    lab.check_losses(report)
    assert not any(site.get("sampled") for site in report["sites"]), report["sites"]
    assert report["loss"]["free_untracked"] == 0, report["loss"]
    found = [site for site in report["sites"] if lab.function_of(site) in ("je_malloc", "je_calloc", "je_realloc")]
    assert sum(site["alloc_objects"] for site in found) == 5000, found
    # Nothing else counts them where malloc is not probed.
    check_sampled(*lab.attached_report([program("usdt-shim"), "near", 2], "--usdt", "only"))


def test_library_functions_that_call_the_sampler():
    """What the C library makes by calling the sampler is freed by the sampler, which does not publish each block."""
    _, report = lab.attached_report([program("usdt-replaced")])
    lab.check_sums(report)
    found = [site for site in report["sites"] if "array" in [frame["function"] for frame in site["frames"]]]
    assert found and all(site.get("sampled") for site in found), report["sites"]
    assert not sum(site["inuse_objects"] for site in found), found


def test_calls_within_a_counted_one():
    """A named function that calls the allocator: what it hands out counts, once."""
    account, report = lab.attached_report([program("usdt-listened"), "near", 1], "--alloc",
                                          "usdt-listened:site_malloc:size=arg1")
    named = [site for site in report["sites"] if site["allocator"] == "named"]
    assert sum(site["alloc_objects"] for site in named) == 1000 and not any(site.get("sampled") for site in named), named
    found = lab.sums(report, {"site_other", "site_large", "site_calloc", "site_realloc"})
    assert {name: figures for name, figures in account.items() if name in found} == found, (account, found)
    assert not lab.sums(report, {"site_malloc"}), report["sites"]


def test_whole_machine():
    process = lab.start([program("usdt-listened"), "count", 3, "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-a", "--usdt", "only")
    account = lab.work(process)
    report = json.loads(tracer.stop().splitlines()[-1])
    account.pop("asked")
    found = {"sites": [site for site in report["sites"] if site["pid"] == process.pid]}
    assert lab.sums(found, set(account)) == {name: figures for name, figures in account.items() if any(figures)}


def test_interpreter_frames():
    lab.need("python3")
    program("usdt-plain")
    code = ("import ctypes, sys\n"
            "library = ctypes.CDLL(%r)\n"
            "library.je_malloc.restype = ctypes.c_void_p\n"
            "def leaking_line():\n"
            "    for _ in range(50):\n"
            "        library.je_malloc(ctypes.c_size_t(100000))\n"
            "print('ready', flush=True)\n"
            "sys.stdin.readline()\n"
            "leaking_line()\n"
            "print('done', flush=True)\n"
            "sys.stdin.readline()\n" % library("usdt-plain"))
    process = lab.start(["python3", "-c", code])
    process.stdout.readline()
    # The interpreter of a process that runs it is found before the tracer is ready.
    lab.wait_for(lambda: lab.is_reading(process), "the script waits for a line")
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid)
    process.stdin.write(b"\n")
    process.stdin.flush()
    process.stdout.readline()
    report = json.loads(tracer.stop().splitlines()[-1])
    sites = [site for site in report["sites"] if site.get("sampled")]
    assert sites, (report, tracer.stderr())
    if "cannot be shown" in tracer.stderr():
        raise lab.Skip("this Python's frames cannot be read")
    for site in sites:
        frames = [(frame["kind"], frame["function"]) for frame in site["frames"]]
        assert ("python", "leaking_line") in frames, frames
        assert frames[0][1] != "je_malloc", frames


def test_code_whose_end_is_not_seen():
    """Ruby code stands where other code stood that was freed meanwhile; with samples only, no such free is seen."""
    lab.need("ruby")
    program("usdt-plain")
    code = ("require 'fiddle'\n"
            "give = Fiddle::Function.new(Fiddle.dlopen('%s')['je_malloc'], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP)\n"
            "puts 'ready'; $stdout.flush; gets\n"
            "200.times do |i|\n"
            "  give.call(16)\n"
            "  eval(\"def self.method_#{i}(give, i); give.call(200_000 + 100 * i); end\")\n"
            "  send(\"method_#{i}\", give, i)\n"
            "  singleton_class.send(:remove_method, \"method_#{i}\")\n"
            "  GC.start\n"
            "end\n"
            "puts 'done'; $stdout.flush; gets\n" % library("usdt-plain"))
    process = lab.start(["ruby", "--disable=gems", "-e", code])
    if process.stdout.readline() != b"ready\n":
        raise lab.Skip("this Ruby has no fiddle")
    lab.wait_for(lambda: lab.is_reading(process), "the script waits for a line")
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "--usdt", "only")
    process.stdin.write(b"\n")
    process.stdin.flush()
    process.stdout.readline()
    report = json.loads(tracer.stop().splitlines()[-1])
    if "cannot be shown" in tracer.stderr():
        raise lab.Skip("this Ruby's frames cannot be read")
    found = set()
    for site in report["sites"]:
        names = [frame["function"] for frame in site["frames"] if frame["kind"] == "ruby"]
        wanted = [int(name.split("_")[-1]) for name in names if re.fullmatch(r".*method_\d+", name or "")]
        if wanted:
            assert site["alloc_bytes"] == 200000 + 100 * wanted[0], (names, site["alloc_bytes"])
            found.add(wanted[0])
    assert found == set(range(200)), sorted(set(range(200)) - found)


def runs_of(pid):
    """How often the programs of a process have run, by the kernel's own account."""
    runs = {}
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        try:
            with open("/proc/%d/fdinfo/%s" % (pid, name), encoding="ascii", errors="replace") as file:
                text = file.read()
        except FileNotFoundError:
            # It opens and closes other files meanwhile.
            continue
        program_id, count = re.search(r"^prog_id:\s*(\d+)", text, re.M), re.search(r"^run_cnt:\s*(\d+)", text, re.M)
        if program_id and count:
            runs[program_id.group(1)] = int(count.group(1))
    return sum(runs.values())


@contextlib.contextmanager
def counted_runs():
    """The kernel counts how often programs run, for as long as somebody holds this descriptor."""
    number, enable_stats = {"x86_64": 321, "aarch64": 280}[os.uname().machine], 32
    attributes = (ctypes.c_uint32 * 32)(0)  # BPF_STATS_RUN_TIME
    descriptor = ctypes.CDLL(None).syscall(number, enable_stats, attributes, 128)
    if descriptor < 0:
        raise lab.Skip("the kernel does not count how often programs run")
    try:
        yield
    finally:
        os.close(descriptor)


def test_nothing_but_samples_traps():
    with counted_runs():
        process = lab.start([program("usdt-listened"), "pairs", 200000, "wait"])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        tracer = lab.Tracer("-q", "-j", "-p", process.pid, "--usdt", "only")
        lab.release(process)
        fired = json.loads(process.stdout.readline())["asked"][1]
        runs = runs_of(tracer.process.pid)
    # 64 bytes of 4096, twice: its allocation and its end.
    assert 0 < fired < 20000 and runs == fired, (fired, runs)


def test_text():
    process = lab.start([program("usdt-listened"), "count", 1, "wait"])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-p", process.pid)
    lab.release(process)
    process.stdout.readline()
    text = tracer.stop()
    assert re.search(r"traced for .*: ~[0-9.]+ [KM]iB in use", text), text
    assert "otel_memory:alloc (jemalloc, heap, estimated from samples)" in text, text
    assert re.search(r"^ +~.* total$", text, re.M) and " published by the program" in text, text
    assert "libusdt-listened.so: otel_memory, 6 sites (sampled by the program)" in tracer.stderr(), tracer.stderr()
    assert tracer.stderr().count("counts twice, unless the pointers are equal") == 1, tracer.stderr()


def segments(path):
    """[(offset, address, size)] of what is loaded."""
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    return [(int(offset, 16), int(address, 16), int(size, 16))
            for offset, address, size in re.findall(r"^ +LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text, re.M)]


def notes(path):
    """{file offset: (name, arguments)}, as readelf prints."""
    text = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    found = {}
    for name, location, arguments in re.findall(
            r"Provider: otel_memory\s+Name: (\w+)\s+Location: (0x\w+),.*\s+Arguments: (.*)", text):
        for offset, address, size in segments(path):
            if address <= int(location, 16) < address + size:
                found[int(location, 16) - address + offset] = (name, arguments.strip())
    return found


def test_plan_is_what_readelf_says():
    lab.need("readelf")
    for name in BUILDS:
        file = library(name) if os.path.exists(library(name)) else program(name)
        status, output, errors = lab.run("plan", "-u", "root", "--usdt", "only", "--", program(name))
        assert status == 0, errors
        planned = {int(offset, 16): (kind, arguments) for kind, offset, arguments in re.findall(
            r"^  otel_memory:(\w+) +(0x\w+) .* arguments (.*?)(?:, semaphore)?$", output, re.M)}
        assert planned == notes(file) and len(planned) >= 5, (name, planned, notes(file))


def damaged_library(folder, change):
    """A copy of the library, with the content of its notes changed; and the program beside it."""
    path = os.path.join(folder, "libusdt-listened.so")
    os.chmod(folder, 0o755)  # libraries are looked for without privileges
    shutil.copy(program("usdt-listened"), os.path.join(folder, "usdt-listened"))
    with open(library("usdt-listened"), "rb") as file:
        whole = bytearray(file.read())
    text = subprocess.run(["readelf", "-SW", library("usdt-listened")], capture_output=True, text=True, check=True).stdout
    offset, size = [int(word, 16) for word in
                    re.search(r"\.note\.stapsdt +NOTE +\w+ (\w+) (\w+)", text).groups()]
    whole[offset:offset + size] = change(bytearray(whole[offset:offset + size]))
    with open(path, "wb") as file:
        file.write(whole)
    return os.path.join(folder, "usdt-listened")


def test_notes_that_lead_nowhere():
    """The name and 20 bytes of its head come before a note's place; its semaphore is two words further."""
    lab.need("readelf")

    def move(by, further=None):
        def change(content):
            at = 0
            while at < len(content):
                size = int.from_bytes(content[at + 4:at + 8], "little")
                place = int.from_bytes(content[at + 20 + by:at + 28 + by], "little")
                place = place + further if further else 0x7fffffff00
                content[at + 20 + by:at + 28 + by] = place.to_bytes(8, "little")
                at += 20 + (size + 3) // 4 * 4
            return content
        return change

    for change, words in ((move(0), "its place is not in the code"), (move(16), "its semaphore is not in the data"),
                          (move(0, 1), "no nop stands at its place"), (move(0, -2), "no nop stands at its place"),
                          (lambda content: content.replace(b"8@%r", b"8@%x"), "an argument is not where it could be read"),
                          (lambda content: content.replace(b"8@%r", b"8f@r"), "an argument is no whole number")):
        with tempfile.TemporaryDirectory(prefix="tracer-usdt-") as folder:
            path = damaged_library(folder, change)
            status, output, errors = lab.run("plan", "-u", "root", "--", path)
            assert status == 0 and words in output and "so its functions are probed" in output, (output[-600:], errors)
            account, report = lab.attached_report([path, "near", 1])
            assert not any(site.get("sampled") for site in report["sites"]), report["sites"]
            assert not any(figures[0] for name, figures in account.items() if name != "asked"), account


def test_random_notes():
    lab.need("readelf")
    choice = random.Random(7)

    def change(content):
        for _ in range(choice.choice((1, 3, 30))):
            content[choice.randrange(len(content))] = choice.randrange(256)
        return content

    for _ in range(40):
        with tempfile.TemporaryDirectory(prefix="tracer-usdt-") as folder:
            status, _, errors = lab.run("plan", "-u", "root", "--", damaged_library(folder, change))
            assert status == 0, errors


lab.run_tests()
