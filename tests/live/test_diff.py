#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between moments. Truth: a program that counts what each of its sites holds of each phase of its work."""
import json
import os
import sqlite3
import tempfile

import lab


class Recorded:
    """A recording of the program, with a mark after each of its phases; `held` is its account after each."""
    def __init__(self, folder, name, phases=3):
        self.path = os.path.join(folder, name)
        self.held = []
        process = lab.start([lab.target("generations")])
        lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
        recorder = lab.Tracer("record", "-q", "-o", self.path, "-p", process.pid, "3600")
        for phase in range(phases):
            self.held.append(lab.work(process))
            status, _, errors = lab.run("mark", self.path, "after%d" % (phase + 1))
            assert status == 0, errors
        recorder.stop()
        lab.end(process)

    def at(self, phase):
        return "%s@after%d" % (self.path, phase)

    def in_use(self, phase):
        """Of each site: [blocks, bytes] after a phase."""
        return {name: [sum(born[i] for born in births) for i in (0, 1)] for name, births in self.held[phase - 1].items()}


def diff(*arguments):
    status, output, errors = lab.run("diff", "-j", "-n", "0", *arguments)
    assert status == 0 and not errors, errors
    return json.loads(output)


def growth(difference):
    """Of each site of the program that differs or holds something: [blocks, bytes]."""
    found = {}
    for site in difference["sites"]:
        name = lab.function_of(site)
        if name and name.startswith("site_"):
            sums = found.setdefault(name, [0, 0])
            sums[0] += site["growth_objects"]
            sums[1] += site["growth_bytes"]
    return found


def grown(before, after):
    return {name: [after[name][i] - before[name][i] for i in (0, 1)] for name in after if before[name][0] or after[name][0]}


def changes(difference):
    return {lab.function_of(site): site["change"] for site in difference["sites"]}


def test_moments_of_a_recording():
    """Each site has grown by what the program has counted; the words follow from that. JSON reports of the moments differ by the same."""
    with tempfile.TemporaryDirectory(prefix="tracer-diff-") as folder:
        run = Recorded(folder, "x.db")
        for first, last in ((1, 2), (2, 3), (1, 3)):
            found = diff(run.at(first), "@after%d" % last)
            assert growth(found) == grown(run.in_use(first), run.in_use(last)), (first, last, found)
            assert sum(site["growth_bytes"] for site in found["sites"]) == found["growth_bytes"]
            assert sum(found["changes"].values()) == len(found["sites"])
        assert changes(found) == {"site_kept": "grown", "site_replaced": "shrunk", "site_once": "new", "site_gone": "gone",
                                  "site_moved": "new", "site_mapped": "grown"}, changes(found)
        names = []
        for mark, schema in (("after1", "1"), ("after3", "2")):
            names.append(os.path.join(folder, mark + ".json"))
            status, _, errors = lab.run("report", run.path, "--at", mark, "-j", "-n", "0", "--schema", schema, "-o", names[-1])
            assert status == 0, errors
        read = diff(*names)
        for key in ("growth_bytes", "growth_objects", "changes"):
            assert read[key] == found[key], (key, read[key], found[key])
        assert growth(read) == growth(found) and changes(read) == changes(found)
        assert [(site["change"], site["growth_bytes"], site["frames"]) for site in read["sites"]] == [
            (site["change"], site["growth_bytes"], site["frames"]) for site in found["sites"]]
        status, text, _ = lab.run("diff", run.at(1), "@after3")
        assert status == 0 and "site_once" in text and " new " in text and "generations.c:" in text, text
        status, folded, _ = lab.run("diff", "-f", run.at(1), "@after3")
        lines = dict(line.rsplit(" ", 1) for line in folded.splitlines())
        assert status == 0 and sum(map(int, lines.values())) == sum(max(0, site["growth_bytes"]) for site in found["sites"]), folded


def test_base():
    """A report less its base is the difference: of a moment, of another recording, of a report in JSON."""
    with tempfile.TemporaryDirectory(prefix="tracer-diff-") as folder:
        run = Recorded(folder, "x.db")
        name = os.path.join(folder, "base.json")
        status, _, errors = lab.run("report", run.path, "--at", "after1", "-j", "-n", "0", "-o", name)
        assert status == 0, errors
        wanted = diff(run.at(1), run.at(3))
        for base in ("after1", "@after1", run.at(1), name):
            for options in (("--at", "after3"), ()):
                status, output, errors = lab.run("report", run.path, "--base", base, "-j", "-n", "0", *options)
                assert status == 0 and not errors, errors
                assert growth(json.loads(output)) == growth(wanted) and changes(json.loads(output)) == changes(wanted)
        for arguments, wanted in ((("--from", "0"), "--from"), (("-s", "age"), "--sort"), (("-j", "--schema", "2"), "--schema")):
            status, output, errors = lab.run("report", run.path, "--base", "after1", *arguments)
            assert status == 2 and wanted in errors, errors
        status, output, errors = lab.run("report", run.path, "--base", "absent")
        assert status == 2 and "no mark 'absent'" in errors, errors
        assert lab.run("report", run.path, "--base", "after1", "--fail-over", "1k")[0] == 1


def test_another_process():
    """Two runs of a program have done the same: no site differs. What one has done more is what differs."""
    with tempfile.TemporaryDirectory(prefix="tracer-diff-") as folder:
        one, other = Recorded(folder, "one.db", 2), Recorded(folder, "other.db")
        same = diff(one.path, other.at(2))
        assert same["growth_bytes"] == 0 and set(changes(same).values()) == {"same"}, same["changes"]
        more = diff(one.path, other.path)
        assert growth(more) == grown(one.in_use(2), other.in_use(3)), more


def born(account, first, last):
    """Of each site: [blocks, bytes] that were born in the phases behind `first` up to `last`, and are held in an account."""
    return {name: [sum(phase[i] for phase in births[first:last]) for i in (0, 1)] for name, births in account.items()}


def retained(difference, limit):
    found = {}
    for site in difference["sites"]:
        name = lab.function_of(site)
        if name and name.startswith("site_"):
            found[name] = [site["retained_objects"][limit], site["retained_bytes"][limit]]
    return found


def test_retained():
    """Three moments: what was born between the first two and is held at the third is what the program retains, block by block. Reports of
    these moments have limits, between which that lies. A report of a mark has the births of all marks before."""
    with tempfile.TemporaryDirectory(prefix="tracer-diff-") as folder:
        run = Recorded(folder, "x.db", 4)
        names = []
        for phase in range(1, 5):
            names.append(os.path.join(folder, "%d.json" % phase))
            status, _, errors = lab.run("report", run.path, "--at", "after%d" % phase, "-j", "-n", "0", "-o", names[-1])
            assert status == 0, errors
        for first, second, third in ((1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4), (1, 3, 3), (2, 4, 4)):
            moments = run.at(first), "@after%d" % second, "@after%d" % third
            found, truth = diff(*moments), born(run.held[third - 1], first, second)
            assert found["births_known"]
            for limit in ("low", "mid", "high"):
                wanted = {name: truth[name] for name in retained(found, limit)}
                assert retained(found, limit) == wanted, (moments, limit, retained(found, limit), wanted)
            assert all(name in wanted for name in truth if truth[name][0]), (moments, wanted, truth)
            assert found["retained_objects"]["mid"] == sum(count for count, _ in truth.values())
            limits = diff(*(names[phase - 1] for phase in (first, second, third)))
            low, high = retained(limits, "low"), retained(limits, "high")
            assert not limits["births_known"]
            # What realloc has moved to a site was born before, but not allocated there.
            for name in set(low) - {"site_moved"}:
                assert all(low[name][i] <= truth[name][i] <= high[name][i] for i in (0, 1)), (moments, name, low, truth, high)
        with open(names[3], encoding="utf-8") as file:
            report = json.load(file)
        for site in report["sites"]:
            name = lab.function_of(site)
            if name in run.held[3]:
                assert [[birth["objects"], birth["bytes"]] for birth in site.get("births", [])] == [
                    phase for phase in run.held[3][name] if phase[0]], (name, site.get("births"), run.held[3][name])
        status, text, _ = lab.run("diff", run.at(1), "@after2", "@after4")
        assert status == 0 and "by the birth of each" in " ".join(text.split()) and "RETAINED" in text and "site_once" in text, text
        assert "site_gone" not in text, text
        with sqlite3.connect(run.path) as database:
            database.execute("DROP TABLE born")
        assert not diff(run.at(1), "@after2", "@after4")["births_known"]


def test_part_of_a_report():
    """What a report of the largest sites lacks is not known, and never new."""
    with tempfile.TemporaryDirectory(prefix="tracer-diff-") as folder:
        run = Recorded(folder, "x.db", 2)
        name = os.path.join(folder, "part.json")
        status, _, errors = lab.run("report", run.path, "--at", "after1", "-j", "-n", "1", "-o", name)
        assert status == 0, errors
        found = diff(name, run.at(2))
        assert [moment["complete"] for moment in found["moments"]] == [False, True]
        assert found["changes"]["new"] == 0 and found["changes"]["unknown"] == len(found["sites"]) - 1, found["changes"]
        assert all(site["growth_bytes"] is None and site["held"][0] is None for site in found["sites"] if site["change"] == "unknown")
        assert found["growth_bytes"] == diff(run.at(1), "@after2")["growth_bytes"]


def test_refusals():
    with tempfile.TemporaryDirectory(prefix="tracer-diff-") as folder:
        texts = {"list": "[]", "none": "{}", "memory": '{"schema":1,"command":"memory"}', "later": '{"schema":3,"command":"trace","sites":[]}',
                 "cut": '{"schema":1,"command":"trace","sites":[', "deep": '{"a":' * 5000}
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        for arguments, wanted in (
                ((), "needs A"), (("a",), "needs B"), (("a", "b", "c", "d"), "one argument too many"),
                (("absent.db", "none"), "No such file"), (("absent.db@1", "none"), "No such file"),
                (("none", "none"), "no report of 'tracer -j'"), (("memory", "none"), "--since"), (("later", "none"), "later version"),
                (("cut", "none"), "is no JSON"), (("deep", "none"), "is no JSON"), (("list", "none"), "cannot read the recording"),
                (("none", "@mark"), "only recordings"), (("none@", "none"), "a moment is missing"),
                (("--by", "module", "none", "none"), "--by"), (("--format", "x", "a", "b"), "x")):
            status, output, errors = lab.run("diff", *arguments, cwd=folder)
            assert status == 2 and not output and wanted in errors, (arguments, status, errors)


lab.run_tests()
