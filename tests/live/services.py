# SPDX-License-Identifier: GPL-2.0-or-later
"""Services of Ruby and Python with a leak, or what looks like one, at each route: tests/live/services."""
import http.client
import os
import shutil
import socket
import threading

import lab

SOURCES = os.path.join(lab.TOP, "tests/live/services")
# Where package managers put packages, below an application's directory.
PACKAGES = {".rb": "vendor/bundle/ruby/3.1.0/gems/quickparse-1.0/lib/quickparse.rb",
            ".py": "venv/lib/python3.11/site-packages/quickparse/__init__.py"}


def install_package(folder, suffix):
    """Put the package that leaks into an application's directory."""
    path = os.path.join(folder, PACKAGES[suffix])
    os.makedirs(os.path.dirname(path))
    shutil.copy(os.path.join(SOURCES, "quickparse" + suffix), path)
    shutil.copy(lab.target("quickparse.so"), os.path.dirname(path))


class Connection(http.client.HTTPConnection):
    """To a server at a socket of the file system."""

    def __init__(self, path):
        super().__init__("localhost", timeout=lab.PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Peer:
    """What the services' connections lead to: it greets, and keeps them open."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(100)
        self.connections = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
                self.connections[-1].sendall(b"hello\n")
            except OSError:
                return

    def close(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()


class Service:
    """One of the services, in a directory of its own. `pid` is the process that answers, `slots` what its plain objects are in."""

    def __init__(self, folder, name, command, files, slots):
        self.name, self.slots = name, slots
        self.socket = os.path.join(folder, "socket")
        self.peer = Peer(os.path.join(folder, "peer"))
        install_package(folder, os.path.splitext(name)[1])
        for file in files:
            shutil.copy(os.path.join(SOURCES, file), folder)
        self.log = open(os.path.join(folder, "log"), "wb")
        self.process = lab.start([word.replace("SOCKET", self.socket) for word in command], cwd=folder, stdout=self.log,
                                 stderr=self.log, env=dict(os.environ, SHOP_PEER=self.peer.path, RACK_ENV="production"))
        lab.wait_for(self.answers, "the service answers")
        self.pid = int(self.request("ping"))

    def answers(self):
        assert self.process.poll() is None, lab.written(open(self.log.name, "rb"))
        try:
            return self.request("ping")
        except OSError:
            return False

    def request(self, route, times=1):
        """Ask so often; the last answer."""
        connection = Connection(self.socket)
        for _ in range(times):
            connection.request("GET", "/" + route)
            answer = connection.getresponse()
            body = answer.read().decode()
            assert answer.status == 200, (route, answer.status, body)
        connection.close()
        return body

    def has_threads(self, count):
        """Has the pool all of its threads? One more starts when a request finds the others at work."""
        askers = [threading.Thread(target=self.request, args=("ping", 5)) for _ in range(count)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        return len(os.listdir("/proc/%d/task" % self.pid)) > count

    def line(self, route):
        """The culprit of a route, as reports write it."""
        with open(os.path.join(SOURCES, self.name), encoding="utf-8") as file:
            return "%s:%d" % (self.name, next(number for number, line in enumerate(file, 1) if line.endswith("# %s\n" % route)))

    def end(self):
        lab.end(self.process, number=15)
        self.peer.close()
        self.log.close()


def ruby(folder):
    return Service(folder, "shop.rb", [lab.need("puma"), "-t", "2:2", "-b", "unix://SOCKET", "config.ru"], ["shop.rb", "config.ru"],
                   "Ruby heap pages")


def python(folder):
    service = Service(folder, "shop.py", [lab.need("gunicorn"), "--threads", "2", "-b", "unix:SOCKET", "shop:app"], ["shop.py"],
                      "CPython arenas")
    lab.wait_for(lambda: service.has_threads(2), "all threads of the service run")
    return service
