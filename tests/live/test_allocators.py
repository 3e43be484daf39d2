#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every allocator, however a program came by it: equal to the byte, at every site, every call counted once.

The truth is the programs' own account: tests/targets/known.c, operators.cc and jemalloc.c count what they ask for by
themselves.
"""
import glob
import json
import os
import re
import subprocess
import sys

import lab

# musl has no unwind tables.
WITHOUT_TABLES = ("calls_unclear", "stack_no_rows", "stack_guessed")


def variant(name):
    path = lab.target(name)
    if not os.path.exists(path):
        raise lab.Skip("%s could not be built here" % name)
    try:
        status = subprocess.run([path, "plain"], capture_output=True, check=False, timeout=lab.PATIENCE).returncode
    except FileNotFoundError:
        status = 127
    if status == 127:
        raise lab.Skip("%s has not all its libraries here" % name)
    return path


def library(name):
    """The path of a library whatever its version, or of exactly this one."""
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        found = sorted(glob.glob(os.path.join(folder, name)) + glob.glob(os.path.join(folder, name + ".[0-9]*")))
        if found:
            return found[-1]
    raise lab.Skip("%s is not installed" % name)


def allocators_of(report):
    """The allocators that the program's own sites have come to."""
    return {site["allocator"] for site in report["sites"] if (lab.function_of(site) or "").startswith("site_")}


def check_guesses(report):
    """
    Static programs of newer compilers register their unwind tables, which allocates, in the compiler's own code, which
    has none: frame_dummy of crtbeginT.o. What is behind that is guessed, and nothing else is.
    """
    guessed = [site for site in report["sites"] if "guessed" in (site["frames"][-1]["function"] or "")]
    assert all("frame_dummy" in [frame["function"] for frame in site["frames"]] for site in guessed), guessed
    assert report["loss"]["stack_guessed"] == sum(site["alloc_objects"] for site in guessed), report["loss"]


def check(command, allocators, preload=None, allowed=(), attach=False, static=False):
    """
    Attached to where something is preloaded, otherwise started by the tracer; or both, with `attach`. "glibc" is among the allocators also
    where another one leaves a function to it: reallocarray. "c++" is the C++ library, or the program, where the aligned
    forms of operator new, or all of them, are probed there.
    """
    environment = dict(os.environ, LD_PRELOAD=preload) if preload else None
    reports = []
    if preload or attach:
        reports.append(lab.attached_report(command, environment=environment))
    if not preload:
        reports.append(lab.command_report(command))
    for account, report in reports:
        if static:
            check_guesses(report)
        lab.check_account(account, report, (*allowed, *["stack_guessed"] * static))
        assert report["loss"]["free_untracked"] == 0, report["loss"]
        assert allocators_of(report) == set(allocators), allocators_of(report)


def known(name, *allocators, **options):
    check([variant("known-" + name), "all"], allocators, **options)


def preloaded(name, *allocators):
    preload = library(name)
    check([lab.target("known"), "all"], allocators, preload)
    check([variant("operators"), "plain"], [allocators[0]] + ["c++"] * (name == "libtbbmalloc_proxy.so.2"), preload)


def test_jemalloc_preloaded():
    preloaded("libjemalloc.so.2", "jemalloc", "glibc")


def test_tcmalloc_preloaded():
    preloaded("libtcmalloc_minimal.so.4", "tcmalloc", "glibc")


def test_mimalloc_preloaded():
    preloaded("libmimalloc.so", "mimalloc")


def test_tbb_preloaded():
    preloaded("libtbbmalloc_proxy.so.2", "tbb", "glibc")


def test_jemalloc():
    known("jemalloc", "jemalloc", "glibc")


def test_tcmalloc():
    known("tcmalloc", "tcmalloc", "glibc")
    check([variant("known-tcmalloc"), "pvalloc"], ["tcmalloc"])


def test_mimalloc():
    known("mimalloc", "mimalloc")
    check([variant("known-mimalloc"), "pvalloc"], ["mimalloc"])


def test_tbb():
    known("tbb", "tbb", "glibc")


def test_jemalloc_static():
    known("jemalloc-static", "jemalloc", "glibc")


def test_tcmalloc_static():
    known("tcmalloc-static", "tcmalloc", "glibc")


def test_glibc_static():
    known("static", "glibc", attach=True, static=True)


def test_stripped_with_debug_file():
    known("debuglink", "glibc", static=True)


def test_stripped_with_debug_data():
    known("debugdata", "glibc", static=True)


def test_musl():
    check([variant("known-musl"), "all"], ["musl"], allowed=WITHOUT_TABLES, attach=True)


def test_musl_without_tables_is_said_once():
    status, output, errors = lab.run("-j", "-n", "0", "--", variant("known-musl"), "calls")
    assert status == 0, errors
    report = lab.last_object(output)
    cut = [site for site in report["sites"] if any(frame["kind"] == "error" for frame in site["frames"])]
    calls = sum(site["alloc_objects"] for site in cut)
    # Twice at most for a site: two threads can be the first.
    assert 0 < report["loss"]["stack_no_rows"] + report["loss"]["stack_guessed"] <= 2 * len(report["sites"]) < calls, (
        "%s, %d sites, %d calls" % (report["loss"], len(report["sites"]), calls))
    assert errors.count("stacks end in ") == 1 and "/libc.so: " in errors, errors


def test_musl_static():
    check([variant("known-musl-static"), "all"], ["musl"], allowed=WITHOUT_TABLES, attach=True)


def test_jemalloc_interface():
    check([variant("jemalloc-plain"), "all"], ["jemalloc"])


def test_jemalloc_with_prefix():
    """Two allocators in one process: the C library's own is used as well."""
    check([variant("jemalloc-je"), "all"], ["jemalloc", "glibc"])


def test_jemalloc_of_rust():
    check([variant("jemalloc-rjem"), "all"], ["jemalloc", "glibc"])


def test_interfaces_of_their_own():
    """By their own names. tcmalloc and mimalloc are the C library's malloc as well, TBB and a prefixed jemalloc are not."""
    check([variant("interface-tc"), "all"], ["tcmalloc"])
    check([variant("interface-mi"), "all"], ["mimalloc"])
    check([variant("interface-scalable"), "all"], ["tbb", "glibc"])
    check([variant("interface-je"), "all"], ["jemalloc", "glibc"])


def test_heaps_of_mimalloc():
    check([variant("heaps"), "all"], ["mimalloc"])


def test_operators_libstdcxx():
    check([variant("operators"), "all"], ["glibc", "c++"], attach=True)


def test_operators_libstdcxx_static():
    check([variant("operators-libstdc++-static"), "all"], ["glibc", "c++"])


def test_operators_static():
    check([variant("operators-static"), "all"], ["glibc"], static=True)


def test_operators_libcxx():
    check([variant("operators-libc++"), "all"], ["glibc", "c++"])


def test_operators_jemalloc():
    check([variant("operators-jemalloc"), "all"], ["jemalloc"], attach=True)


def test_exceptions_by_every_back_end():
    for backend in ("session", "multi", "perf"):
        if not lab.has_backend(backend):
            continue
        account, report = lab.command_report([variant("operators-jemalloc"), "all"], "--backend", backend)
        lab.check_account(account, report)
        assert report["loss"]["calls_thrown"] == 100, report["loss"]


def test_exceptions_of_two_processes():
    """Each is probed for itself; what the one wants of a probe must not harm the other."""
    command = [variant("operators-jemalloc"), "all", "wait"]
    targets = [lab.start(command) for _ in range(2)]
    for process in targets:
        lab.wait_for(lambda process=process: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", ",".join(str(process.pid) for process in targets))
    for process in targets:
        lab.release(process)
    accounts = [json.loads(process.stdout.readline()) for process in targets]
    report = json.loads(tracer.stop().splitlines()[-1])
    lab.check_losses(report)
    for process, account in zip(targets, accounts):
        own = dict(report, sites=[site for site in report["sites"] if site["pid"] == process.pid])
        assert lab.sums(own, set(account)) == account, (lab.sums(own, set(account)), account)


def test_operators_tcmalloc():
    check([variant("operators-tcmalloc"), "all"], ["tcmalloc"])


def test_operators_mimalloc():
    """mimalloc ends the program where memory cannot be had, so nothing fails here."""
    check([variant("operators-mimalloc"), "plain"], ["mimalloc"])


def test_operators_tbb():
    check([variant("operators-tbb"), "all"], ["tbb", "c++"])


def test_operators_of_the_program():
    check([variant("operators-own-malloc"), "all"], ["glibc", "c++"])
    check([variant("operators-own-arena"), "all"], ["c++"])


def test_what_was_found():
    """Said once, where people see it, and by the plan: how many functions of which file."""
    command = [variant("operators-jemalloc"), "plain"]
    status, _, errors = lab.run("--", *command)
    assert status == 0, errors
    plan = lab.run("plan", "-u", "root", "--", *command)[1]
    for text in (errors, plan):
        lines = [line for line in text.splitlines() if "libjemalloc.so.2: " in line and "functions" in line]
        assert len(lines) == 1, text
        assert re.search(r"\blibjemalloc\.so\.2: [12][0-9] functions \(jemalloc\)", lines[0]), lines
        assert re.search(r"\blibc\.so\.6: 1[0-9] functions \(glibc\), malloc present", lines[0]), lines
    assert lab.run("-q", "--", *command)[2].count("tracer: ") == 1


def test_what_is_opened_later():
    """An allocator that a program opens while it runs is said to have been found, then."""
    preload = library("libmimalloc.so")
    process = lab.start([sys.executable, "-c", "import ctypes, sys; sys.stdin.readline(); ctypes.CDLL(%r); "
                         "print('opened', flush=True); sys.stdin.readline()" % preload])
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    tracer = lab.Tracer("-p", process.pid, "3600")
    lab.release(process)
    process.stdout.readline()
    lab.wait_for(lambda: "mapped since: libmimalloc.so." in tracer.stderr(), "the new library is found")
    tracer.stop()


def test_nothing_is_found():
    path = variant("known-stripped")
    for arguments, expected in ((("-q",), 125), (("plan", "-u", "root"), 5)):
        status, _, errors = lab.run(*arguments, "--", path, "all")
        assert status == expected and "nothing to probe" in errors and path + " (stripped)" in errors, (status, errors)
        assert "tracer," not in errors and "libelf" not in errors, errors


lab.run_tests()
