#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that are named on the command line count like those that are known, and never twice.

The truth is the program's own account (tests/targets/pools.c).
"""
import lab

POOLS = ["--alloc", "pools:pool_get:size=48", "--free", "pools:pool_put:ptr=arg2",
         "--alloc", "pools:take:count=arg1,size=arg2,ptr=arg3", "--alloc", "pools:ints:count=arg1/32,size=arg2/32"]
WRAPPERS = ["--alloc", lab.target("pools") + ":xmalloc:size=arg1,ret", "--free", "*:xfree",
            "--alloc", "pools:xgrow:size=arg1,old=arg2,ptr=ret"]


def check(account, report):
    lab.check_account(account, report)
    assert report["loss"]["free_untracked"] == 0, report["loss"]
    for site in report["sites"]:
        name = lab.function_of(site) or ""
        if name in ("site_pool", "site_take", "site_ints", "site_xmalloc", "site_xgrow"):
            expected = {"site_pool": "pool_get"}.get(name, name[len("site_"):])
            assert (site["allocator"], site["function"]) == ("named", expected), site


def test_everything_is_named():
    command = [lab.target("pools"), "all"]
    check(*lab.command_report(command, *POOLS, *WRAPPERS))
    check(*lab.attached_report(command, *POOLS, *WRAPPERS))


def test_only_the_pools():
    """Without names, the wrappers are callers of malloc like any other."""
    account, report = lab.attached_report([lab.target("pools"), "all"], *POOLS)
    # What the wrappers hand out belongs to them.
    account = {name: figures for name, figures in account.items() if name in ("site_pool", "site_take", "site_ints", "site_malloc")}
    lab.check_account(account, report)
    assert lab.sums(report, {"xmalloc", "xgrow"}), report["sites"]


def refused(status, *words, command=(), options=()):
    code, _, errors = lab.run(*options, "--", *(command or [lab.target("pools"), "all"]))
    assert code == status, (code, errors)
    for word in words:
        assert word in errors, (word, errors)


def test_wrong_names():
    refused(2, "--alloc 'pools:pool_get'", "size", options=["--alloc", "pools:pool_get"])
    refused(2, "arg1 to arg5", options=["--free", "pools:pool_put:ptr=arg6"])
    refused(5, "pools defines no function pool_gte", "nm", options=["--alloc", "pools:pool_gte:size=1"])


def test_stacks_that_move():
    """A program with the mark of Go, and functions with names as Go and as C give them."""
    command = [lab.target("moving")]
    refused(5, "moves its stacks", "main.get", command=command, options=["--alloc", "moving:main.get:size=arg1"])
    account, report = lab.command_report(command, "--alloc", "moving:c_get:size=arg1", "--free", "moving:main.put:ptr=arg1")
    lab.check_account(account, report)


def test_file_that_is_not_there():
    status, _, errors = lab.run("--alloc", "libmissing.so:get:size=8", "--", lab.target("pools"), "all")
    assert status == 0 and "no file of the name libmissing.so is mapped so far" in errors, errors


def test_plan():
    status, output, errors = lab.run("plan", "-u", "root", *POOLS, "--", lab.target("pools"))
    assert status == 0, errors
    for name in ("pool_get", "pool_put", "take", "malloc"):
        assert any(line.split()[:1] == [name] for line in output.splitlines()), output


lab.run_tests()
