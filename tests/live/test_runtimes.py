#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers and runtimes with allocators, threads and processes of their own: traced, they answer as they do untraced."""
import glob
import json
import os
import pwd
import shutil
import subprocess
import tempfile

import lab

RUST = """
use std::io::{BufRead, Write};

#[inline(never)]
fn site_vector(size: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(size);
    block.push(1);
    block
}

#[inline(never)]
fn site_box(value: u8) -> Box<[u8; 48]> {
    Box::new([value; 48])
}

#[inline(never)]
fn site_grown(mut block: Vec<u8>, size: usize) -> Vec<u8> {
    block.reserve_exact(size - block.len());
    block
}

fn main() {
    let mut account = [[0usize; 4]; 3];
    let mut kept: Vec<Vec<u8>> = Vec::with_capacity(1000);
    let mut boxes = Vec::with_capacity(1000);
    let input = std::io::stdin();
    let mut line = String::with_capacity(100);
    if std::env::args().nth(2).is_some() {
        input.lock().read_line(&mut line).unwrap();
    }
    for n in 1..=100usize {
        kept.push(site_vector(n));
        drop(site_vector(2 * n));
        account[0] = [account[0][0] + 3 * n, account[0][1] + 2, account[0][2] + 2 * n, account[0][3] + 1];
        boxes.push(site_box(n as u8));
        account[1] = [account[1][0] + 48, account[1][1] + 1, 0, 0];
        kept.push(site_grown(site_vector(n), 10 * n));
        account[0] = [account[0][0] + n, account[0][1] + 1, account[0][2] + n, account[0][3] + 1];
        account[2] = [account[2][0] + 10 * n, account[2][1] + 1, 0, 0];
    }
    println!("{{\\"site_vector\\": {:?}, \\"site_box\\": {:?}, \\"site_grown\\": {:?}}}",
             account[0], account[1], account[2]);
    std::io::stdout().flush().unwrap();
    if std::env::args().nth(2).is_some() {
        input.lock().read_line(&mut line).unwrap();
    }
    std::mem::forget((kept, boxes));
}
"""


def named_site(site):
    """The innermost frame that is a site of the Rust program: what is between it and malloc is Rust's library."""
    for frame in site["frames"]:
        name = (frame["function"] or "").split("::")
        for part in name:
            if part.startswith("site_"):
                return part
    return None


def test_rust():
    """The truth is the account that the program keeps."""
    rustc = shutil.which("rustc") or shutil.which("rustc", path=os.path.expanduser("~/.cargo/bin"))
    if not rustc:
        raise lab.Skip("rustc is not installed")
    with tempfile.TemporaryDirectory(prefix="tracer-rust-") as folder:
        with open(folder + "/sites.rs", "w", encoding="ascii") as file:
            file.write(RUST)
        subprocess.run([rustc, "-O", "-g", "-o", folder + "/sites", folder + "/sites.rs"], check=True,
                       capture_output=True, timeout=lab.PATIENCE * 2)
        account, report = lab.attached_report([folder + "/sites", "all"])
        lab.check_sums(report)
        lab.check_losses(report)
        found = {}
        for site in report["sites"]:
            figures = found.setdefault(named_site(site), [0, 0, 0, 0])
            for i, key in enumerate(("alloc_bytes", "alloc_objects", "free_bytes", "free_objects")):
                figures[i] += site[key]
        found.pop(None, None)
        assert found == account, (found, account)


NODE = """
const crypto = require('crypto');
function work() {
    const hash = crypto.createHash('sha256');
    for (let i = 0; i < 400; i++) {
        const rows = [];
        for (let j = 0; j < 300; j++) rows.push({id: j, text: 'x'.repeat(j % 50), list: [i, j]});
        hash.update(JSON.stringify(rows));
        hash.update(Buffer.alloc(20000, i));
    }
    return hash.digest('hex');
}
process.stdin.once('data', () => {
    console.log(work());
    process.stdin.once('end', () => process.exit(0));
});
"""

JAVA = """
import java.util.*;
import java.nio.*;
public class Work {
    public static void main(String[] arguments) throws Exception {
        System.in.read();
        long sum = 0;
        for (int i = 0; i < 300; i++) {
            Map<String, List<Integer>> map = new HashMap<>();
            for (int j = 0; j < 500; j++) map.computeIfAbsent("k" + j % 97, k -> new ArrayList<>()).add(i * j);
            for (List<Integer> list : map.values()) for (int value : list) sum = sum * 31 + value;
            ByteBuffer buffer = ByteBuffer.allocateDirect(100000);
            buffer.putLong(8, sum);
            sum ^= buffer.getLong(8);
        }
        Thread[] threads = new Thread[8];
        long[] parts = new long[8];
        for (int t = 0; t < 8; t++) {
            final int n = t;
            threads[t] = new Thread(() -> { for (int i = 0; i < 100000; i++) parts[n] += new int[n + 1].length; });
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        for (long part : parts) sum += part;
        System.out.println(sum);
        System.out.flush();
        while (System.in.read() >= 0) ;
    }
}
"""


def answer(process):
    lab.release(process)
    return process.stdout.readline()


def check_same_answer(command):
    """What a runtime computes untraced is the truth."""
    untraced = lab.start(command)
    truth = answer(untraced)
    untraced.stdin.close()
    lab.wait_for(lambda: untraced.poll() is not None, "the untraced program ends")
    if untraced.returncode or not truth:
        raise lab.Skip("%s does not run here" % command[0])
    process = lab.start(command)
    lab.wait_for(lambda: len(os.listdir("/proc/%d/task" % process.pid)) > 3, "its threads are there")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    assert answer(process) == truth
    report = json.loads(tracer.stop())
    process.stdin.close()
    lab.wait_for(lambda: process.poll() is not None, "the program ends")
    assert process.returncode == 0, process.returncode
    lab.check_sums(report)
    assert report["totals"]["alloc_objects"] > 50, report["totals"]
    return report


def test_node():
    report = check_same_answer([lab.need("node"), "-e", NODE])
    assert report["loss"]["blocks_full"] == 0, report["loss"]


def test_java():
    with tempfile.TemporaryDirectory(prefix="tracer-java-") as folder:
        with open(folder + "/Work.java", "w", encoding="ascii") as file:
            file.write(JAVA)
        check_same_answer([lab.need("java"), folder + "/Work.java"])


def postgres_programs():
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if os.path.exists(folder + "/initdb") and os.path.exists(folder + "/pgbench"):
            return folder
    raise lab.Skip("postgresql is not installed")


def as_postgres():
    """It refuses to run as root."""
    try:
        user = pwd.getpwnam("postgres")
    except KeyError as missing:
        raise lab.Skip("there is no user postgres") from missing
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/"}


class Connection:
    """A psql that stays connected, and so has a server process of its own."""

    def __init__(self, command, user):
        self.process = lab.start(command + ["-At"], **user)
        self.pid = int(self.ask("select pg_backend_pid();"))

    def ask(self, query):
        self.process.stdin.write(query.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().strip()


VALUE_BYTES = 100000


def test_postgresql():
    """
    A process for each connection. All of them are traced, and the numbers in the tables are right. A setting of the
    session is a copy of its value by malloc (guc_strdup in the server's source), with the NUL behind it.
    """
    programs, user = postgres_programs(), as_postgres()
    with tempfile.TemporaryDirectory(prefix="tracer-postgres-") as folder:
        os.chown(folder, user["user"], user["group"])
        at = ["-h", folder, "-p", str(lab.free_port())]
        subprocess.run([programs + "/initdb", "-D", folder + "/data", "-A", "trust", "--no-sync"], check=True,
                       capture_output=True, timeout=lab.PATIENCE * 2, **user)
        server = lab.start([programs + "/postgres", "-D", folder + "/data", "-p", at[3], "-k", folder,
                            "-c", "listen_addresses=", "-c", "fsync=off"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, **user)
        lab.wait_for(lambda: subprocess.run([programs + "/pg_isready", "-q"] + at, check=False,
                                            **user).returncode == 0, "the server answers")
        tracer = lab.Tracer("-v", "-j", "-n", "0", "--follow-fork", "-p", server.pid, "3600")
        sessions = [Connection([programs + "/psql"] + at + ["postgres"], user) for _ in range(4)]
        for session in sessions:
            lab.wait_for(lambda session=session: "libc.so.6 are probed in process %d (" % session.pid in tracer.stderr(), "it is followed")
        for session in sessions:
            assert session.ask("select length(set_config('my.value', repeat('x', %d), false));" % VALUE_BYTES) == \
                str(VALUE_BYTES)
        for command in (["-i", "-q", "-s", "1"], ["-c", "4", "-j", "2", "-t", "50", "-n"]):
            load = subprocess.run([programs + "/pgbench"] + command + at + ["postgres"], check=True, text=True,
                                  capture_output=True, timeout=lab.PATIENCE, **user).stdout
        assert "number of transactions actually processed: 200/200" in load, load
        # pgbench keeps its tables in step: each balance is the sum of all that was moved.
        sums = sessions[0].ask("select (select sum(abalance) from pgbench_accounts) = (select sum(bbalance) from "
                               "pgbench_branches), (select count(*) from pgbench_history);")
        assert sums == "t|200", sums
        report = json.loads(tracer.stop().splitlines()[-1])
        assert server.poll() is None and sessions[0].ask("select 1;") == "1"
        lab.end_all()
        lab.check_sums(report)
        for session in sessions:
            held = [site for site in report["sites"] if site["pid"] == session.pid and
                    any((frame["function"] or "").startswith("set_config") for frame in site["frames"]) and
                    site["inuse_bytes"] >= VALUE_BYTES + 1]
            assert held, (session.pid, [site for site in report["sites"] if site["pid"] == session.pid])


lab.run_tests()
