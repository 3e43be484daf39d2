#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads JSON reports, one per line, and checks them against schema 1 as documented: every key there, every
type right, alloc - free = in use everywhere. A report of schema 2 that follows one of schema 1 must be the same one. A parser of its own, so that it does not share the writer's
mistakes. Prints the number of reports; the exit status tells whether all are right."""
import json
import sys

import schema2

COUNTERS = ["inuse_bytes", "inuse_objects", "alloc_bytes", "alloc_objects", "free_bytes", "free_objects"]
LOSS = ["free_untracked", "blocks_full", "blocks_refused", "stacks_full", "bytes_unattributed"]
KINDS = ["native", "ruby", "python", "php", "jit", "kernel", "error", "thread"]
REGIONS = [None, "ruby_heap", "python_arena", "php_heap", "v8_heap", "jit", "thread_stack"]


def reject(value):
    raise ValueError("no JSON number: " + value)


def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def check(thing, **types):
    assert list(thing) == list(types), (list(thing), list(types))
    for key, kinds in types.items():
        assert type(thing[key]) in kinds, (key, thing[key])


def check_counters(thing):
    for key in COUNTERS:
        assert type(thing[key]) is int and thing[key] >= 0, key
    for what in ["bytes", "objects"]:
        assert thing["alloc_" + what] - thing["free_" + what] == thing["inuse_" + what], thing


def check_frame(frame):
    none = type(None)
    check(frame, kind=[str], function=[str, none], module=[str, none], build_id=[str, none],
          offset=[int, none], file=[str, none], line=[int, none], inlined=[bool])
    assert frame["kind"] in KINDS


def check_sampled(thing, *more):
    """What is estimated says so, and how much is; of what is exact nothing is said. Returns the keys for it."""
    if "sampled" not in thing:
        return []
    assert thing["sampled"] is True
    for key in more:
        assert type(thing[key]) is int and thing[key] >= 0, key
    return ["sampled", *more]


def check_line(site):
    """A row by line of the application has leaves, with no more than it holds. Returns the keys for it."""
    if "via" not in site and "processes" in site:
        assert type(site["processes"]) is int and site["processes"] > 1, site
        assert type(site["of_processes"]) is int and site["of_processes"] >= site["processes"], site
        return ["processes", "of_processes"]
    if "via" not in site:
        return []
    assert type(site["stacks"]) is int and type(site["processes"]) is int and site["stacks"] >= site["processes"] >= 1
    assert len(site["frames"]) == 1, site["frames"]
    for leaf in site["via"]:
        check(leaf, inuse_bytes=[int], inuse_objects=[int], frame=[dict])
        check_frame(leaf["frame"])
    assert sum(leaf["inuse_bytes"] for leaf in site["via"]) <= site["inuse_bytes"]
    assert type(site["of_processes"]) is int and site["of_processes"] >= site["processes"], site
    return ["stacks", "processes", "of_processes", "via"]


def check_hint(site):
    """Only where there is code without a name. Returns the key for it."""
    if "hint" not in site:
        return []
    assert type(site["hint"]) is str and site["hint"]
    native = [frame for frame in site["frames"] if frame["kind"] == "native"]
    assert "via" in site or any(not frame["function"] for frame in native), site["frames"]
    return ["hint"]


def check_container(site):
    """What its blocks are part of, if that is known. Returns the key for it."""
    assert type(site.get("container", "")) is str
    return ["container"] if "container" in site else []


def check_realloc(site):
    """What realloc has done with blocks in use, if anything. Returns the key for it."""
    if "realloc" not in site:
        return []
    check(site["realloc"], grown_objects=[int], grown_times=[int], added_objects=[int], unknown_bytes=[int], unknown_objects=[int])
    assert any(site["realloc"].values()), site
    return ["realloc"]


def check_interval(estimate):
    """Three whole numbers in order; a limit that is not known is null."""
    check(estimate, value=[int], mid=[int], low=[int, type(None)], high=[int, type(None)])
    assert estimate["mid"] == estimate["value"]
    assert estimate["low"] is None or estimate["low"] <= estimate["value"], estimate
    assert estimate["high"] is None or estimate["high"] >= estimate["value"], estimate


def check_tail(tail):
    check(tail, shape=[str], value=[float], low=[float], high=[float], from_age_s=[float], until_age_s=[float])
    assert 0 <= tail["low"] <= tail["value"] <= tail["high"] <= 1 and tail["shape"] in ("flat", "falling", "unknown"), tail


def check_curve(points):
    last = {"age_s": -1, "share": 1}
    for point in points:
        check(point, age_s=[float], value=[float], low=[float], high=[float], at_risk=[int])
        assert point["age_s"] > last["age_s"] and 0 <= point["low"] <= point["value"] <= point["high"] <= 1, point
        last = point


def check_ages(estimate):
    """From the youngest on; they are all of those that are in use."""
    last = -1
    for age in estimate["ages"]:
        check(age, from_s=[float], unchanged=[int], written=[int])
        assert age["from_s"] > last, estimate
        last = age["from_s"]
    for key in ("unchanged", "written"):
        assert sum(age[key] for age in estimate["ages"]) == estimate[key], estimate


def check_estimate(site):
    """Only with --budget: what the figures of the row were estimated from. Returns the key for it."""
    if "estimate" not in site:
        return []
    assert site["sampled"] is True, site
    estimate = site["estimate"]
    if estimate is None:
        return ["estimate"]
    check(estimate, growth_bytes_per_s=[dict], grown_bytes=[dict], written_bytes_per_s=[dict], lower_bound=[bool], recorded=[int], followed=[int], unchanged=[int],
          written=[int], freed=[int], lost=[int], mean_age_s=[float], ages=[list], seen_blocks=[int], survivors=[int], verdict=[str],
          never_freed=[dict, type(None)], tail=[dict], survival=[list])
    check_interval(estimate["growth_bytes_per_s"])
    check_interval(estimate["grown_bytes"])
    check_interval(estimate["written_bytes_per_s"])
    assert abs(estimate["grown_bytes"]["value"] - site["inuse_bytes"]) <= 2, site
    tail = estimate["tail"]
    check_tail(tail)
    never = estimate["never_freed"]
    assert (never is not None) == (tail["shape"] == "flat"), estimate
    if never:
        check(never, low=[float], mid=[float], high=[float])
        assert [never["low"], never["mid"], never["high"]] == [tail["low"], tail["value"], tail["high"]], estimate
    assert estimate["seen_blocks"] == estimate["followed"] and estimate["survivors"] == estimate["unchanged"] + estimate["written"], estimate
    grows = not estimate["lower_bound"] and estimate["growth_bytes_per_s"]["low"] is not None and estimate["growth_bytes_per_s"]["low"] >= 0
    assert {"leak": tail["shape"] == "flat" and grows, "cache": tail["shape"] == "falling", "unknown": tail["shape"] != "falling"}[estimate["verdict"]], estimate
    check_ages(estimate)
    check_curve(estimate["survival"])
    return ["estimate"]


def check_budget(budget):
    check(budget, percent=[float], cost_percent=[float], spent_percent=[float], cost_assumed=[bool], windows=[int], windows_s=[float], windows_lost=[int], windows_over=[int], window_longest_s=[float], hits=[int],
          edge_hits=[int], recorded=[int], weight=[int], counted=[bool], growth_bytes_per_s=[dict], written_bytes_per_s=[dict], unattributed_bytes_per_s=[dict],
          old_s=[float], processes=[dict], heaps=[list])
    check(budget["processes"], running=[int], looked_at_once=[int], not_looked_at=[int], oldest_look_s=[float])
    for key in ("growth", "written", "unattributed"):
        check_interval(budget[key + "_bytes_per_s"])
    for heap in budget["heaps"]:
        check(heap, allocator=[str, type(None)], censuses=[int], reason=[str, type(None)])


def check_classes(site):
    """Of heaps of runtimes: what has filled them. Returns the key for it."""
    if site["region"] not in ["ruby_heap", "python_arena"]:
        assert "grown_classes" not in site, site
        return []
    for row in site["grown_classes"] or []:
        check(row, name=[str, type(None)], objects=[int])
        assert row["objects"] > 0, row
    return ["grown_classes"]


def check_lives(site):
    """How long blocks live, if that is known of any. Returns the keys for it."""
    if "lifespan" not in site:
        return []
    life = site["lifespan"]
    none = type(None)
    check(life, objects=[int], untimed_objects=[int], mean_s=[float, none], max_s=[float, none], histogram=[list], ages=[list],
          tail=[dict], survival=[list])
    assert type(site["temporary_objects"]) in [int, none] and bool(life["objects"]) == (life["mean_s"] is not None), site
    assert sum(count for _, count in life["histogram"]) == life["objects"] <= site["free_objects"], site
    for name in ("histogram", "ages"):
        ends = [end for end, _ in life[name] if end is not None]
        assert all(abs(after / before - 2) < 1e-6 for before, after in zip(ends, ends[1:])), life
    check_tail(life["tail"])
    check_curve(life["survival"])
    return ["temporary_objects", "lifespan"]


def check_verdict(thing):
    """What becomes of the blocks, where that is judged. Returns the key for it."""
    if "verdict" not in thing:
        return []
    verdict, none = thing["verdict"], type(None)
    evidence = {"growth_before_bytes_per_s": [int, none], "level_bytes": [int, none], "level_s": [float, none], "nothing_freed": [bool],
                "births": [int], "gained_objects": [int], "others_s": [float, none], "survivors": [int], "early_share": [float, none],
                "time_s": [float]} if "births" in verdict else {}
    check(verdict, word=[str], never_freed=[dict, none], growth_bytes_per_s=[dict], r2=[float, none], wait_s=[float, none], **evidence, text=[str])
    assert verdict["word"] in ("leak", "growing", "filling", "cache", "warm-up", "steady", "temporary", "unknown"), verdict
    check_interval(verdict["growth_bytes_per_s"])
    never = verdict["never_freed"]
    if never:
        check(never, low=[float], mid=[float], high=[float])
        assert 0 <= never["low"] <= never["mid"] <= never["high"] <= 1, verdict
    return ["verdict"]


def check_peak(site):
    """What it held at the peak, where one was looked for. Returns the keys for it."""
    if "peak_bytes" not in site:
        return []
    assert type(site["peak_bytes"]) in [int, type(None)] and type(site["alloc_bytes_per_s"]) in [int, type(None)], site
    return ["peak_bytes", "alloc_bytes_per_s"]


def check_peak_of_all(report):
    """No moment held more, nor any site more than all. Returns the type of the key for it."""
    none = type(None)
    if "peak" not in report:
        assert not any("peak_bytes" in site for site in report["sites"])
        return {}
    peak = report["peak"]
    check(peak, inuse_bytes=[int, none], time_s=[float, none], spacing_s=[float, none])
    if peak["inuse_bytes"] is not None:
        assert peak["inuse_bytes"] >= report["totals"]["inuse_bytes"] and peak["time_s"] <= report["duration_s"] + 1e-9, peak
        assert sum(site["peak_bytes"] or 0 for site in report["sites"] if not site["ended"]) <= peak["inuse_bytes"], peak
    return {"peak": [dict]}


def check_site(site, rank):
    assert list(site) == ["rank", "id", "pid", "source", "allocator", "function", "ended", *COUNTERS,
                          *check_sampled(site, "samples"), "growth_bytes", *check_estimate(site), "oldest_s", "mean_age_s", *check_lives(site), *check_verdict(site), *check_peak(site), "region",
                          *check_classes(site), "resident_bytes", "gcs", *check_container(site), *check_realloc(site), *check_hint(site), "frames", *check_line(site)], list(site)
    assert len(site["id"]) == 16 and int(site["id"], 16) >= 0, site["id"]
    assert site["rank"] == rank and type(site["pid"]) is int
    assert type(site["source"]) is str
    for name in ["allocator", "function"]:
        assert type(site[name]) in [str, type(None)], name
    assert type(site["ended"]) is bool
    check_counters(site)
    assert type(site["growth_bytes"]) in [int, type(None)], site["growth_bytes"]
    held = site["inuse_bytes"] or site["inuse_objects"]
    assert type(site["oldest_s"]) is (float if held else type(None)), site["oldest_s"]
    assert site["region"] in REGIONS, site["region"]
    assert type(site["resident_bytes"]) in [int, type(None)], site["resident_bytes"]
    assert site["resident_bytes"] is None or site["source"] == "mmap"
    assert type(site["gcs"]) in [int, type(None)] and (held or site["gcs"] is None), site["gcs"]
    for frame in site["frames"]:
        check_frame(frame)


def check_late(late):
    if late is None:
        return
    check(late, files=[list], files_unlisted=[int], child_s=[float, type(None)], memory_shared=[int])
    for file in late["files"]:
        check(file, file=[str], seconds=[float])


def check_price(price):
    none = type(None)
    check(price, trap_ns=[int, none], calls_per_s=[int, none], percent=[float, none], window_s=[float, none],
          calls=[int, none], threads=[int, none], busiest_percent=[float, none], slowdown=[float, none])
    if price["percent"] is not None and price["calls"]:
        whole = price["calls"] * price["trap_ns"] / price["window_s"] / 1e7
        assert abs(whole - price["percent"]) <= 0.002 + price["calls"] / price["window_s"] / 1e7, price
        assert price["busiest_percent"] <= price["percent"], price


def check_tables(report):
    """Everything in the tables is referred to, and nothing is there twice."""
    for name in ("strings", "modules", "calls", "frames", "stacks"):
        items = [json.dumps(item) for item in report[name]]
        assert len(items) == len(set(items)), name
    used = {number for frame in report["frames"] for number in (frame[0], frame[1], frame[4])}
    used |= {number for record in report["modules"] + report["calls"] for number in record}
    assert used - {None} == set(range(len(report["strings"]))), "strings"
    assert {frame[2] for frame in report["frames"]} - {None} == set(range(len(report["modules"]))), "modules"


def check_report(line, before):
    report = json.loads(line, parse_constant=reject, object_pairs_hook=unique)
    if report["schema"] == 2:
        check_tables(report)
        report = schema2.expand(report)
        assert before is None or report == before, "schema 2 is another report"
    left_out = {"left_out": [dict]} if "left_out" in report else {}
    budget = {"budget": [dict]} if "budget" in report else {}
    verdict = {"verdict": [dict]} if check_verdict(report) else {}
    check(report, schema=[int], tool=[str], command=[str], version=[str], time=[str, type(None)], duration_s=[float], targets=[list],
          totals=[dict], ended=[dict], **left_out, loss=[dict], price=[dict], **budget, **verdict, **check_peak_of_all(report), sites=[list])
    if budget:
        check_budget(report["budget"])
    assert report["schema"] == 1 and report["tool"] == "tracer" and report["command"] == "trace"
    for target in report["targets"]:
        assert list(target) == ["pid", "comm", "exe", "cwd", "exited", *COUNTERS, *check_sampled(target), "late", "open_files",
                                "open_files_at_attach", "process"], list(target)
        check_late(target["late"])
        for key in ("open_files", "open_files_at_attach"):
            assert type(target[key]) in [int, type(None)], key
        for key, kinds in {"pid": [int], "comm": [str], "exe": [str, type(None)], "cwd": [str, type(None)], "exited": [bool]}.items():
            assert type(target[key]) in kinds, (key, target[key])
        none = type(None)
        check(target["process"], rss_bytes=[int, none], pss_bytes=[int, none], swap_bytes=[int, none], threads=[int, none])
        check_counters(target)
    for sums, more in ((report["totals"], ("sampled_inuse_bytes", "sampled_inuse_objects")), (report["ended"], ())):
        assert list(sums) == [*COUNTERS, *check_sampled(sums, *more)]
        check_counters(sums)
    for sums in left_out and [report["left_out"]]:
        assert list(sums) == [*COUNTERS, "sites"] and sums["sites"] > 0, list(sums)
        check_counters(sums)
    for name in LOSS:
        assert type(report["loss"][name]) is int, name
    check_price(report["price"])
    for rank, site in enumerate(report["sites"], 1):
        check_site(site, rank)
    return report


reports = sys.stdin.buffer.read().decode("utf-8", errors="strict").split("\n")
assert reports.pop() == "", "the last line is not ended"
last = None
for report in reports:
    last = check_report(report, last)
print(len(reports))
