#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""PostgreSQL, which has a process for each connection: each is traced while it is there, and answers are right."""
import glob
import json
import os
import pwd
import re
import signal
import subprocess
import tempfile

import lab

CLIENTS = 4
# The sum is that of the numbers from 1 to n.
QUERY = "select sum(n)::text || ' ' || count(distinct md5(n::text)) from generate_series(1, 20000) as n;"
ANSWER = "%d %d" % (20000 * 20001 // 2, 20000)


def need(program):
    """Debian keeps the server's programs in a folder of their own, of which there is one for each version."""
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if os.access(os.path.join(folder, program), os.X_OK):
            return os.path.join(folder, program)
    return lab.need(program)


class Server:
    def __init__(self, folder):
        try:
            self.user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            raise lab.Skip("there is no user postgres")
        self.folder = folder
        os.chmod(folder, 0o777)
        data = os.path.join(folder, "data")
        made = self.run(need("initdb"), "-D", data, "-N", "-A", "trust", "--locale=C")
        assert made.returncode == 0, made.stderr
        self.process = lab.start(self.command(need("postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-F"),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lab.wait_for(lambda: self.run(lab.need("psql"), "-h", folder, "-c", "select 1").returncode == 0,
                     "the server answers")
        with open(os.path.join(data, "postmaster.pid"), encoding="ascii") as file:
            self.pid = int(file.readline())

    def command(self, *words):
        return [lab.need("setpriv"), "--reuid=" + self.user, "--regid=" + self.user, "--clear-groups", *words]

    def run(self, *words):
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False, timeout=lab.PATIENCE,
                              cwd=self.folder)

    def connect(self):
        client = lab.start(self.command(lab.need("psql"), "-h", self.folder, "-X", "-A", "-t", "-q"), cwd=self.folder)
        return client, int(ask(client, "select pg_backend_pid();"))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(lab.PATIENCE) == 0


def ask(client, query):
    client.stdin.write(query.encode() + b"\n")
    client.stdin.flush()
    return client.stdout.readline().decode().strip()


def report_now(tracer):
    tracer.process.send_signal(signal.SIGUSR1)
    return json.loads(tracer.process.stdout.readline())


def test_a_process_for_each_connection():
    with tempfile.TemporaryDirectory(prefix="tracer-postgres-") as folder:
        server = Server(folder)
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--follow-fork", "-p", server.pid, "3600")
        clients = [server.connect() for _ in range(CLIENTS)]
        pids = {pid for _, pid in clients}
        lab.wait_for(lambda: pids <= {int(pid) for pid in re.findall(r"libc\.so\.6 are probed in process (\d+) \(",
                                                                     tracer.stderr())}, "the connections are traced")
        for client, _ in clients:
            assert ask(client, QUERY) == ANSWER
        report = report_now(tracer)
        lab.check_sums(report)
        lab.check_losses(report)
        for target in report["targets"]:
            if target["pid"] in pids:
                assert target["alloc_objects"] > 100, target
        assert pids <= {target["pid"] for target in report["targets"]}, report["targets"]
        for client, _ in clients:
            client.stdin.close()
            assert client.wait(lab.PATIENCE) == 0
        lab.wait_for(lambda: all(lab.has_ended(pid) for pid in pids), "the connections have ended")
        reports = []
        lab.wait_for(lambda: reports.append(report_now(tracer)) or not pids & {target["pid"] for target in reports[-1]["targets"]},
                     "the ends are noticed")
        report = reports[-1]
        lab.check_sums(report)
        assert not pids & {site["pid"] for site in report["sites"]}
        # The server lives, and so does the next connection.
        client, _ = server.connect()
        assert ask(client, QUERY) == ANSWER
        client.stdin.close()
        client.wait(lab.PATIENCE)
        server.end()
        last = json.loads(tracer.finish().splitlines()[-1])
        lab.check_sums(last)
        assert tracer.process.returncode == 0, tracer.stderr()


lab.run_tests()
