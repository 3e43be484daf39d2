#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks JSON reports of `tracer memory`, one a line on standard input: the members that each object has, of which kind they are,
and that the manual page names each. Shares no code with the writer."""
import json
import os
import re
import sys

MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/tracer.8")
COUNT, SIGNED, TEXT, REAL, BOOL = "count", "signed", "text", "real", "bool"
KINDS = {COUNT: lambda value: type(value) is int and value >= 0, SIGNED: lambda value: type(value) is int,
         TEXT: lambda value: type(value) is str, REAL: lambda value: type(value) in (int, float) and value >= 0,
         BOOL: lambda value: type(value) is bool}


class Maybe:
    """null where it is not known."""

    def __init__(self, kind):
        self.kind = kind


def fields(names, kind):
    return {name: kind for name in names.split()}


FIGURES = {**fields("rss_bytes swap_bytes threads mapped_bytes mappings rss_after_bytes", COUNT),
           **fields("pss_bytes huge_bytes huge_zero_bytes", Maybe(COUNT))}
HEAP = fields("live_bytes live_blocks mapped_bytes mapped_blocks overhead_bytes free_bytes live_resident_bytes bins_resident_bytes "
              "fast_resident_bytes caches_resident_bytes top_resident_bytes trim_bytes stuck_bytes shared_pages_bytes unknown_bytes",
              Maybe(COUNT))
KIND = {"kind": TEXT, **fields("name holder sample", Maybe(TEXT)), "size": Maybe(COUNT), "blocks": COUNT, "bytes": COUNT}
CLASS = {"name": Maybe(TEXT), **fields("live newborn garbage old slot_bytes other_bytes native_bytes retained", COUNT),
         **fields("growth_objects growth_bytes", Maybe(SIGNED)), "holders": [TEXT]}
REPORT = {
    "schema": COUNT, "tool": TEXT, "command": TEXT, "version": TEXT, "time": TEXT, "duration_s": REAL, "since_s": Maybe(REAL),
    "targets": [{"pid": COUNT, "comm": TEXT, "start_ticks": Maybe(COUNT), "malloc_free_bytes": COUNT, **FIGURES}],
    "process": FIGURES,
    "parts": [{"purpose": TEXT, **fields("rss_bytes swap_bytes mapped_bytes count", COUNT), "pss_bytes": Maybe(COUNT),
               "growth_bytes": Maybe(SIGNED)}],
    "malloc": [{"allocator": TEXT, "version": Maybe(TEXT), "arenas": Maybe(COUNT), **HEAP, "counts_only": BOOL, "remarks": [TEXT]}],
    "kinds": [{**KIND, **fields("blocks_error bytes_error", COUNT),
               **fields("born gone unchanged written retained", Maybe(COUNT)),
               **fields("growth_blocks growth_bytes", Maybe(SIGNED))}],
    "copies": [{**KIND, "same_bytes": COUNT, "address": TEXT}],
    "objects": [{"runtime": TEXT, "version": Maybe(TEXT), **fields("pages page_bytes sparse_pages free_bytes", COUNT),
                 **fields("slots free_slots minor_gcs major_gcs", Maybe(COUNT)), "gc_thresholds": [COUNT], "gc_s": Maybe(REAL),
                 "after_major": BOOL, "blocks_known": BOOL, "classes": [CLASS],
                 "longest": [{"kind": TEXT, "length": COUNT, "bytes": COUNT, "sample": Maybe(TEXT), "holder": Maybe(TEXT)}],
                 "code": [{"file": TEXT, "pieces": COUNT, "bytes": COUNT}], "remarks": [TEXT]}],
    "kernel": fields("page_table_bytes stack_bytes hugetlb_bytes sockets queued_bytes pipes files other_files", Maybe(COUNT)),
    "cgroup": Maybe(fields("usage_bytes limit_bytes anon_bytes file_bytes shmem_bytes kernel_bytes slab_bytes socket_bytes",
                           Maybe(COUNT))),
    "verdict": [{"cause": TEXT, "bytes": COUNT, "text": TEXT, "remedy": Maybe(TEXT)}],
    "read_bytes": COUNT, "reads": COUNT, "cut_short": [TEXT], "remarks": [TEXT],
}


def check(value, wanted, where):
    """Raises ValueError where a value is not as it should be."""
    if isinstance(wanted, Maybe):
        if value is not None:
            check(value, wanted.kind, where)
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            raise ValueError("%s is no array: %r" % (where, value))
        for item in value:
            check(item, wanted[0], where + "[]")
    elif isinstance(wanted, dict):
        if not isinstance(value, dict) or set(value) != set(wanted):
            raise ValueError("%s has %s" % (where, sorted(set(value) ^ set(wanted)) if isinstance(value, dict) else repr(value)))
        for name, kind in wanted.items():
            check(value[name], kind, where + "." + name)
    elif not KINDS[wanted](value):
        raise ValueError("%s is no %s: %r" % (where, wanted, value))


def names_of(wanted):
    if isinstance(wanted, Maybe):
        return names_of(wanted.kind)
    if isinstance(wanted, list):
        return names_of(wanted[0])
    return set(wanted).union(*map(names_of, wanted.values())) if isinstance(wanted, dict) else set()


def undocumented():
    """Names that the manual page does not have behind "The JSON of tracer memory"."""
    with open(MANUAL, encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("The JSON of\n.Nm Cm memory"):]
    words = set(re.findall(r"\w+", " ".join(re.findall(r"^\.(?:It |Pq )?Li (.*)$", text[:text.index(".El")], re.M))))
    return sorted(names_of(REPORT) - words)


def check_report(report):
    check(report, REPORT, "report")
    if report["schema"] != 1 or report["command"] != "memory":
        raise ValueError("schema %r, command %r" % (report["schema"], report["command"]))


if __name__ == "__main__":
    if undocumented():
        sys.exit("the manual page does not name " + ", ".join(undocumented()))
    for line in sys.stdin:
        check_report(json.loads(line))
