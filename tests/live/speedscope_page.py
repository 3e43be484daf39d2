# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope itself, as it is published, in a browser: what it has understood of a file is what it saves again."""
import base64
import json
import os
import tempfile

import browser
import lab

PROGRAM = os.path.join(lab.TOP, "build/readers/speedscope/dist/release")

# The file that it would offer for download is kept.
KEEP = "URL.createObjectURL = (blob) => { window.kept = blob; return '#' }; HTMLAnchorElement.prototype.click = () => {}"
SAVE = "window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true})); return window.kept !== undefined"
KEPT = "const done = arguments[0]; window.kept.text().then(done)"


def need():
    """Skip a test where it is not installed."""
    if not os.path.exists(os.path.join(PROGRAM, "index.html")):
        raise lab.Skip("speedscope is not installed (scripts/install-readers build/readers)")


def open_file(page, path):
    """The file as speedscope has imported it: its JSON as saved again, without anything that it does not know. It must not complain."""
    with open(path, "rb") as file, tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write("speedscope.loadFileFromBase64('x.json', '%s')" % base64.b64encode(file.read()).decode("ascii"))
        script.flush()
        page.complaints()
        # Another address for each file: for an equal one the page is not loaded again.
        page.ask("POST", "/url", {"url": "file://%s/index.html?%s#localProfilePath=%s" % (
            PROGRAM, os.path.basename(script.name), script.name)})
        page.run(KEEP)
        lab.wait_for(lambda: page.run(SAVE), "speedscope has imported the file")
        said = [line for line in page.complaints() if "rror" in line]
        assert not said, said
        return json.loads(page.ask("POST", "/execute/async", {"script": KEPT, "args": []}))


def schema():
    """The schema of its files that it is published with."""
    with open(os.path.join(PROGRAM, "file-format-schema.json"), encoding="utf-8") as file:
        return json.load(file)
