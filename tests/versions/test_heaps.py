#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Censuses of the C library and the allocators of other releases, of programs that keep their own account of their live blocks, as
tests/live/test_memory_glibc.py and test_memory_allocators.py have them of this one. The programs run in roots of these releases (roots.py), and are
built with their C library. Parts of each process add up to what the kernel counts."""
import contextlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from roots import TOP, need_library, need_root, place_in  # noqa: E402  (finds tests/live)
import lab  # noqa: E402
import test_memory as memory  # noqa: E402
import test_memory_allocators as allocators  # noqa: E402
import test_memory_glibc as glibc  # noqa: E402

LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
LOADED = "/lib/x86_64-linux-gnu/"
# Programs read what the kernel counts of them.
WITH_PROC = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"']


@contextlib.contextmanager
def built(suite, name):
    """A program of tests/targets, with the C library of that root: what runs it there, with the program's place at the end."""
    with place_in(suite, "tracer-heaps-") as (folder, path, inside):
        libraries = need_root(suite) + LIBRARIES
        # By name: as the linker has them of a root, some are links to files outside of it.
        linked = [need_root(suite) + LOADED + name for name in ("libpthread.so.0", "libc.so.6")] + [libraries + "libc_nonshared.a"]
        subprocess.run([os.environ.get("CC", "gcc"), "--sysroot=" + need_root(suite), "-B", libraries, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g",
                        "-fno-builtin", "-Wl,--unresolved-symbols=ignore-in-shared-libs", "-nodefaultlibs", "-o", os.path.join(folder, name),
                        os.path.join(TOP, "tests/targets", name + ".c"), *linked, "-lgcc"], check=True)
        yield [*WITH_PROC, *inside[1:], os.path.join(path, name)]
        lab.end_all()


def check_sum(process):
    """Nothing that malloc has is left over, and all parts add up to the process."""
    report = memory.look("-p", process.pid)[0]
    memory.check_sums(report, process.pid)
    assert report["malloc"] and not any(row["remarks"] or row["unknown_bytes"] for row in report["malloc"]), report["malloc"]
    return report


def check_glibc(suite, version):
    with built(suite, "chunks") as inside:
        said = subprocess.run([*inside[:-1], "ldd", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        assert said.split()[-1].startswith(version), said
        for shape, threads, blocks in (("mixed", 5, 5000), ("small", 4, 20000), ("tail", 3, 10000), ("aligned", 3, 5000)):
            chunks = glibc.check_trim(shape, threads, blocks, inside=inside)
            check_sum(chunks.process)
            lab.end(chunks.process)
    print("# %s" % said)


def check_allocator(suite, check, library, *settings):
    with built(suite, "filled") as inside:
        need_library(suite, library)
        for threads in (1, 4, 16):
            filled = allocators.Filled("filled", threads, preload=library, inside=[*inside[:-1], *settings, inside[-1]])
            check(filled, threads)
            check_sum(filled.process)
            lab.end(filled.process)
    print("# %s: %s" % (suite, os.path.basename(os.path.realpath(need_root(suite) + library))))


def check_jemalloc(suite, version):
    # What 5.2 says that caches have is without large blocks: it reads their counts from behind the end. So then they have none.
    settings = ["MALLOC_CONF=lg_tcache_max:13"] if version == "5.2" else []
    check_allocator(suite, lambda filled, threads: allocators.check_jemalloc(filled, threads, version), LIBRARIES + "libjemalloc.so.2", *settings)
    if settings:
        check_allocator(suite, lambda filled, threads: allocators.check_quiet(filled, "jemalloc", threads), LIBRARIES + "libjemalloc.so.2")


def check_tcmalloc(suite):
    for name in ("libtcmalloc_minimal.so.4", "libtcmalloc.so.4"):
        check_allocator(suite, allocators.check_tcmalloc, LIBRARIES + name)


def need_target(name):
    if not os.path.exists(lab.target(name)):
        raise lab.Skip("%s could not be built here" % name)
    return lab.target(name)


def check_musl(suite):
    """A program that this machine has built, with that release's loader, which is musl itself."""
    need_library(suite, "/lib/ld-musl-x86_64.so.1")
    with place_in(suite, "tracer-heaps-") as (folder, path, inside):
        subprocess.run(["cp", need_target("filled-musl"), os.path.join(folder, "filled-musl")], check=True)
        for threads in (1, 4, 16):
            filled = allocators.Filled("filled-musl", threads, inside=[*inside, path + "/filled-musl"])
            allocators.check_musl(filled, threads)
            check_sum(filled.process)
            lab.end(filled.process)


def check_refused(suite, allocator, name):
    """One whose records are not known is not taken for another one, and the command says that it is there; the sum holds."""
    with built(suite, "filled") as inside:
        filled = allocators.Filled("filled", 4, preload=need_library(suite, LIBRARIES + name), inside=inside)
        found = filled.census(allocator)
        assert found["find"] < 0 and found["reason"], found
        report = memory.look("-p", filled.process.pid)[0]
        memory.check_sums(report, filled.process.pid)
        named = [line for line in report["remarks"] if allocator in line]
        assert named, report["remarks"]
    print("# %s: %s" % (suite, named))


def test_glibc_2_27():
    check_glibc("bionic", "2.27")


def test_glibc_2_31():
    check_glibc("bullseye", "2.31")


def test_glibc_2_35():
    check_glibc("jammy", "2.35")


def test_glibc_2_39():
    check_glibc("noble", "2.39")


def test_glibc_2_41():
    check_glibc("trixie", "2.41")


def test_glibc_newest():
    check_glibc("sid", "2.4")


def test_jemalloc_5_2():
    check_jemalloc("bullseye", "5.2")
    check_jemalloc("jammy", "5.2")


def test_jemalloc_5_3():
    check_jemalloc("noble", "5.3")
    check_jemalloc("sid", "5.3")


def test_jemalloc_of_57_bits():
    check_jemalloc("trixie", "5.3")


def test_tcmalloc_bullseye():
    check_tcmalloc("bullseye")


def test_tcmalloc_jammy():
    check_tcmalloc("jammy")


def test_tcmalloc_noble():
    check_tcmalloc("noble")


def test_tcmalloc_trixie():
    check_tcmalloc("trixie")


def test_tcmalloc_newest():
    check_tcmalloc("sid")


def check_mimalloc(filled, threads, version):
    allocators.check_mimalloc(filled, threads)
    assert filled.census("mimalloc")["version"] == version


def test_mimalloc_2_1():
    """2.1.2. This machine's is 2.0.9."""
    check_allocator("noble", lambda filled, threads: check_mimalloc(filled, threads, "2.1"), LIBRARIES + "libmimalloc.so.2")


def test_mimalloc_refused():
    """2.0.5 and 3: only 2.0.9 to 2.1.2 are understood."""
    check_refused("trixie", "mimalloc", "libmimalloc.so.3")
    check_refused("sid", "mimalloc", "libmimalloc.so.3")
    check_refused("jammy", "mimalloc", "libmimalloc.so.2")


def test_musl():
    for suite in ("bullseye", "trixie", "sid"):
        check_musl(suite)


lab.run_tests()
