# SPDX-License-Identifier: GPL-2.0-or-later
"""A browser without a screen: Chromium, driven by the WebDriver protocol of its chromedriver, with a profile of its own."""
import base64
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

import lab

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of the protocol
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
        "End": "\ue010", "Home": "\ue011"}
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
         "--force-device-scale-factor=1", "--window-size=1500,1300", "--hide-scrollbars")


TIMEOUTS = {"script": lab.PATIENCE * 1000, "pageLoad": lab.PATIENCE * 1000}  # what a busy machine takes


class Proxy(http.server.BaseHTTPRequestHandler):
    """Refuses what goes beyond this machine, and remembers that it was asked."""
    asked = []

    def refuse(self):
        Proxy.asked.append(self.requestline)
        try:
            self.send_error(403)
        except ConnectionError:
            pass  # a browser that ends does not wait for the answer

    do_GET = do_POST = do_CONNECT = do_HEAD = refuse

    def log_message(self, *_):
        pass


class Browser:
    """For `with`, which ends it however the test ends."""

    def __init__(self):
        driver = lab.need("chromedriver")
        lab.need("chromium")
        self.profile = tempfile.TemporaryDirectory(prefix="tracer-chromium-", ignore_cleanup_errors=True)
        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()
        self.log = tempfile.TemporaryFile("a+")
        self.driver = lab.start([driver, "--port=0"], stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                env={**os.environ, "HOME": self.profile.name, "TMPDIR": self.profile.name})
        self.url, self.session = None, None
        lab.wait_for(self.is_ready, "chromedriver is ready")
        flags = [*FLAGS, "--user-data-dir=" + self.profile.name, "--proxy-server=http://127.0.0.1:%d" % self.proxy.server_port,
                 "--proxy-bypass-list=<-loopback>"]
        options = {"args": flags, "binary": lab.need("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "timeouts": TIMEOUTS, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def is_ready(self):
        assert self.driver.poll() is None, lab.written(self.log)
        port = re.search(r"started successfully on port (\d+)", lab.written(self.log))
        if not port:
            return False
        self.url = "http://127.0.0.1:" + port.group(1)
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=lab.PATIENCE * 2) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError("%s %s: %s" % (method, path, error.read().decode()[:2000])) from error

    def ask(self, method, path, body=None):
        return self.call(method, "/session/%s%s" % (self.session, path), body)

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + path})
        lab.wait_for(lambda: self.run("return document.documentElement.dataset.drawn"), "the page is drawn")

    def run(self, script, *arguments):
        """The value of a script, which runs beside those of the page."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def keys(self, *keys):
        """Press keys, which go to the element with the focus: names of KEYS, or texts."""
        actions = []
        for key in keys:
            for letter in (KEYS[key],) if key in KEYS else key:
                actions += [{"type": "keyDown", "value": letter}, {"type": "keyUp", "value": letter}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def move(self, x, y, click=True):
        actions = [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def click(self, selector):
        """Click in the middle of an element."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.move(*self.middle(selector))

    def middle(self, selector):
        return self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                        "return [box.x + box.width / 2, box.y + box.height / 2]", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def media(self, dark):
        """What the user's system prefers."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def complaints(self):
        """What the console has had since the last call."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that the page has asked for since the last call."""
        found = []
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("DELETE", "/session/" + self.session)
        lab.end(self.driver, lab.signal.SIGTERM)
        self.proxy.shutdown()
        self.proxy.server_close()
        self.profile.cleanup()


def embedded(path, name="report"):
    """The JSON in a page."""
    with open(path, encoding="utf-8") as file:
        found = re.search(r'<script type="application/json" id="%s">(.*?)</script>' % name, file.read(), re.S)
    return json.loads(found.group(1))
