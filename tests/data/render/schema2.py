# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads reports of schema 2, by the manual page: expand() gives what schema 1 has for the same rows."""


def expand(report):
    """A report of schema 2, as its text was parsed, as one of schema 1; what was passed is left as it is."""
    report = dict(report)
    strings, modules, calls = (report.pop(name) for name in ("strings", "modules", "calls"))
    records, stacks = report.pop("frames"), report.pop("stacks")

    def text(position):
        return None if position is None else strings[position]

    def frame(position):
        kind, function, module, offset, file, line, inlined = records[position]
        path, build_id = (None, None) if module is None else modules[module]
        return {"kind": text(kind), "function": text(function), "module": text(path), "build_id": text(build_id),
                "offset": offset, "file": text(file), "line": line, "inlined": bool(inlined)}

    def frames(position):
        """From the innermost outwards: a stack is its innermost frame, and the stack that called it."""
        found = []
        while position is not None:
            position, innermost = stacks[position]
            found.append(frame(innermost))
        return found

    def row(compact):
        full = {}
        for key, value in compact.items():
            if key == "call":
                full.update(zip(("source", "allocator", "function"), map(text, calls[value])))
            elif key == "stack":
                full["frames"] = frames(value)
            elif key == "via":
                full[key] = [dict(leaf, frame=frame(leaf["frame"])) for leaf in value]
            else:
                full[key] = value
        return full

    report["schema"] = 1
    report["sites"] = [row(site) for site in report["sites"]]
    return report
