#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer leaks --save` and `--since`: what has become lost between two looks. Truth: the list of tests/targets/leak_since.c, in which each case has a size
of its own."""
import contextlib
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

NOTHING = {"blocks": 0, "bytes": 0}


def look(pid, *options):
    status, output, errors = lab.run("leaks", *lab.PATIENT, "-q", "-p", pid, "-n", "0", *options)
    assert status == 1, (status, errors)
    return output


def total(*cases):
    return {"blocks": sum(count for _, count in cases), "bytes": sum(size * count for size, count in cases)}


def two_looks(folder, *options):
    """The target's list, the first report, and the second one, by what the first has saved."""
    process, file = lab.start([lab.target("leak_since")], text=True), os.path.join(folder, "before")
    truth = json.loads(process.stdout.readline())
    first = json.loads(look(process.pid, "-j", "--save", file))
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()
    return process, truth, first, look(process.pid, "--since", file, *options), file


def test_what_was_reachable():
    """Blocks that the program has dropped were reachable, those behind them too; others were lost already, or are new."""
    with tempfile.TemporaryDirectory() as folder:
        process, truth, first, second, file = two_looks(folder, "-j")
        assert os.stat(file).st_mode & 0o777 == 0o600, oct(os.stat(file).st_mode)
        text = look(process.pid, "--since", file)
    assert first["before"] is None and first["lost"]["definite"] == total(truth["lost"]), first["lost"]
    second = json.loads(second)
    assert second["before"].pop("time") == first["time"], (second["before"], first["time"])
    assert second["before"] == {"reachable": total(truth["dropped"], truth["child"]), "lost": total(truth["lost"]),
                                "new": total(truth["born"]), "unsure": NOTHING}, second["before"]
    rows = {group["size"]: group["before"] for group in second["groups"]}
    assert rows[truth["dropped"][0]]["reachable"] == total(truth["dropped"], truth["child"]), rows
    assert rows[truth["lost"][0]]["lost"] == total(truth["lost"]) and rows[truth["born"][0]]["new"] == total(truth["born"]), rows
    text = " ".join(text.split())
    for words in r"now 22 blocks of 52\.\d KiB were reachable, 7 blocks of 7\.\d KiB were lost already, 5 blocks of 16\.\d KiB were not there\.", \
            r"of 3,336, definitely lost: \w+; before, 5 were not there", r"11 blocks only through them; before, 22 were reachable":
        assert re.search(words, text), text


def test_other_processes():
    """What was saved of one process means nothing for another one, nor for another program of the same one."""
    with tempfile.TemporaryDirectory() as folder:
        _, _, _, _, file = two_looks(folder)
        other = lab.start([lab.target("leak_since")], text=True)
        other.stdout.readline()
        status, _, errors = lab.run("leaks", *lab.PATIENT, "-p", other.pid, "--since", file)
        assert status == 2 and "the file of --since is of process" in errors, (status, errors)


def files_of(folder):
    found = {}
    for name in os.listdir(folder):
        # What stands beside a file may go meanwhile.
        with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def test_what_was_saved_stays():
    """A look that fails leaves the file of --save as it was, and nothing beside it; one that succeeds may have the file of --since."""
    with tempfile.TemporaryDirectory() as folder:
        process, _, _, _, file = two_looks(folder)
        before = files_of(folder)
        other = lab.start([lab.target("leak_since")], text=True)
        other.stdout.readline()
        status, _, errors = lab.run("leaks", *lab.PATIENT, "-p", other.pid, "--since", file, "--save", file)
        assert status == 2 and "the file of --since is of process" in errors, (status, errors)
        lab.wait_for(lambda: files_of(folder) == before, "nothing is beside the file")
        look(process.pid, "--since", file, "--save", file)
        after = files_of(folder)
        assert list(after) == list(before) and after != before, list(after)
        assert json.loads(look(process.pid, "-j", "--since", file))["before"]["reachable"] == NOTHING


def test_changed_files():
    """A file that was cut or changed is refused, with its name."""
    with tempfile.TemporaryDirectory() as folder:
        process, _, _, _, file = two_looks(folder)
        with open(file, "rb") as saved:
            whole = saved.read()
        middle = len(whole) // 2
        for changed in whole[:-1], whole[:10], b"", b"{}", whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:]:
            with open(file, "wb") as saved:
                saved.write(changed)
            status, _, errors = lab.run("leaks", *lab.PATIENT, "-p", process.pid, "--since", file)
            assert status == 2 and file in errors, (status, errors)
        os.remove(file)
        os.symlink("/dev/null", file)
        status, _, errors = lab.run("leaks", *lab.PATIENT, "-p", process.pid, "--save", file)
        assert status == 2 and file in errors, (status, errors)
        os.remove(file)
        with open(file, "wb") as saved:
            saved.write(whole)
        assert lab.run("leaks", "-p", process.pid, "--save", file, "-o", os.path.join(folder, "..", os.path.basename(folder), "before"))[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--save", "x", "-o", "x")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--since", "/nowhere/file")[0] == 2
    assert lab.run("leaks", "-p", os.getpid(), "--save", "x", "--who", "0x1000")[0] == 2
    assert lab.run("leaks", "--since", "x", "--", "true")[0] == 2


lab.run_tests()
