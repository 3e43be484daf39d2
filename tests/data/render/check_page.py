#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads an HTML page and the JSON report that should be in it: check_page.py PAGE JSON. By a parser of HTML of its own: the page has
the elements of its template and no other, whatever names there are; it loads nothing; its policy has the hashes of its script and
style; and the JSON in it is that report. Prints the number of sites, and what else the page has as JSON on a second line."""
import base64
import hashlib
import html.parser
import json
import re
import sys

TEMPLATE = "user/render/html/page.html"


class Reader(html.parser.HTMLParser):
    """The elements of a page, and the text of those that have scripts, styles or data."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.tags, self.texts, self.policy = [], {}, None
        self.inside = None

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, tuple(sorted(attributes))))
        for name in attributes:
            assert not name.startswith("on") and name not in ("src", "href", "style", "srcdoc"), (tag, name)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag in ("script", "style"):
            self.inside = attributes.get("id", tag)
            assert self.inside not in self.texts, "twice: " + self.inside
            self.texts[self.inside] = ""

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside] += data


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


def hash_of(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check(page, report):
    """Returns the report in the page, and what else there is."""
    reader = read(page)
    with open(TEMPLATE, encoding="utf-8") as file:
        assert reader.tags == read(file.read()).tags, reader.tags
    texts = reader.texts
    assert set(texts) == {"style", "script", "report", "more"}, set(texts)
    for name in ("report", "more"):
        assert not re.search("[<>&\u2028\u2029\0]", texts[name]), name
    rules = dict(rule.strip().split(" ", 1) for rule in reader.policy.split(";"))
    assert rules == {"default-src": "'none'", "script-src": hash_of(texts["script"]), "style-src": hash_of(texts["style"]),
                     "base-uri": "'none'", "form-action": "'none'"}, rules
    for word in ("http:", "https:", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(",
                 "XMLHttpRequest", "WebSocket", "import("):
        assert word not in texts["script"].replace("http://www.w3.org/2000/svg", "") and word not in texts["style"], word
    embedded = json.loads(texts["report"])
    assert embedded == json.loads(report), "the report is another one"
    return embedded, json.loads(texts["more"])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as page_file, open(sys.argv[2], encoding="utf-8") as report_file:
        found, more = check(page_file.read(), report_file.read())
    print(len(found["sites"]) if "sites" in found else 0)
    print(json.dumps(more))
