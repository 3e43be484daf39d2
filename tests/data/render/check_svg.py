#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a flame graph from stdin with Python's parser of XML (expat), and checks it: only elements that draw, nothing that is loaded or
run, all frames within the picture, and the frames of a row beside each other. Prints the bytes of the lowest row, and its frames."""
import re
import sys
import xml.etree.ElementTree

SPACE = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg": {"width", "height", "viewBox", "role"}, "title": set(), "style": set(), "text": {"class", "x", "y"},
           "g": {"class"}, "rect": {"x", "y", "width", "height", "rx"}}
TITLE = re.compile(r": ~?[0-9.]+ \w+ \((\d+) bytes, [0-9.]+ %\)\Z", re.S)


def frames(root):
    """(y, x, width, bytes) of each."""
    for group in root.iter(SPACE + "g"):
        rect = group.find(SPACE + "rect")
        size = TITLE.search(group.find(SPACE + "title").text)
        assert size, group.find(SPACE + "title").text[-100:]
        yield (float(rect.get("y")), float(rect.get("x")), float(rect.get("width")), int(size.group(1)))


def check(text):
    assert "<!" not in text and "<?" not in text
    root = xml.etree.ElementTree.fromstring(text)
    width, height = float(root.get("width")), float(root.get("height"))
    for element in root.iter():
        tag = element.tag.replace(SPACE, "")
        assert tag in ALLOWED and set(element.attrib) <= ALLOWED[tag], (element.tag, element.attrib)
    rows = {}
    for top, left, size, count in frames(root):
        assert 0 <= left and left + size <= width + 0.1 and 0 <= top < height, (left, size, top)
        rows.setdefault(top, []).append((left, size, count))
    for row in rows.values():
        row.sort()
        for one, other in zip(row, row[1:]):
            assert one[0] + one[1] <= other[0] + 0.03, (one, other)
    return rows[max(rows)] if rows else []


if __name__ == "__main__":
    lowest = check(sys.stdin.buffer.read().decode())
    print(sum(count for _, _, count in lowest), len(lowest))
