#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of call, by a program that keeps its own account: equal to the byte, at every site.

The truth is the program's: tests/targets/known.c counts what it asks for by itself.
"""
import ctypes

import lab

# A call that a signal or the end of its thread has cut off cannot be distinguished from one that succeeded.
CUT_OFF = {"heal": ("returns_unmatched",), "jumps": ("returns_unmatched",),
           "jumps-beside": ("returns_unmatched",), "exits": ("returns_unmatched",)}


def check(scenario):
    command = [lab.target("known"), scenario]
    account, report = lab.command_report(command)
    lab.check_account(account, report, CUT_OFF.get(scenario, ()))
    # A program that starts under the tracer has nothing from before.
    assert report["loss"]["free_untracked"] == 0 or scenario in CUT_OFF, report["loss"]
    account, report = lab.attached_report(command)
    lab.check_account(account, report, CUT_OFF.get(scenario, ()))


def test_calls():
    check("calls")


def test_pvalloc():
    check("pvalloc")


def test_zero():
    check("zero")


def test_nested():
    check("nested")


def test_realloc():
    check("realloc")


def test_realloc_to_nothing():
    check("realloc-zero")


def test_failed():
    check("failed")


def test_cross():
    check("cross")


def test_arenas_are_the_allocator_s():
    check("free-first")
    _, report = lab.command_report([lab.target("known"), "free-first"])
    for site in report["sites"]:
        functions = [frame["function"] for frame in site["frames"]]
        assert site["source"] != "mmap" or not site["inuse_bytes"] or "cross_free" not in functions, site


def test_mappings():
    check("mappings")


def test_heal():
    check("heal")


def test_jumps():
    check("jumps")


def test_jumps_while_mappings_change():
    check("jumps-beside")


def test_exits():
    check("exits")


def test_signals():
    check("signals")


def test_address_comes_again():
    for get in (lab.command_report, lab.attached_report):
        account, report = get([lab.target("known"), "reused"])
        again = account["site_malloc"][3]
        assert again > 0, account
        lab.check_account(account, report, ("address_reused",))
        assert report["loss"]["address_reused"] == again, (report["loss"], again)


def test_blocks_from_before():
    account, report = lab.attached_report([lab.target("known"), "early"])
    lab.check_account(account, report)
    assert report["loss"]["free_untracked"] == 500, report["loss"]
    account, report = lab.command_report([lab.target("known"), "early"])
    lab.check_account(account, report)
    assert report["loss"]["free_untracked"] == 0, report["loss"]


def test_mapping_storm():
    check("mapstorm")


def names_at(name, aliases):
    """The names by which the C library has the same function: reports prefer the first."""
    libc = ctypes.CDLL(None)
    address = ctypes.cast(getattr(libc, name), ctypes.c_void_p).value
    return [alias for alias in aliases if ctypes.cast(getattr(libc, alias), ctypes.c_void_p).value == address]


def test_sources():
    _, report = lab.command_report([lab.target("known"), "mappings"])
    for site in report["sites"]:
        if (lab.function_of(site) or "").startswith("site_m"):
            assert site["source"] == "mmap" and site["function"] in ("mmap", "mremap"), site
    # One function until glibc 2.38.
    memalign = names_at("memalign", ["aligned_alloc", "memalign"])[0]
    _, report = lab.command_report([lab.target("known"), "calls"])
    for site in report["sites"]:
        name = lab.function_of(site) or ""
        if name.startswith("site_"):
            assert site["source"] == "heap", site
            assert site["function"] == {"site_realloc_null": "realloc", "site_memalign": memalign}.get(
                name, name[len("site_"):]), site


lab.run_tests()
