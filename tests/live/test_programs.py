#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone
"""Real programs under real work: they stay correct, known leaks are exact, and what was freed is not reported."""
import json
import os
import signal
import subprocess
import tempfile

import lab

FIDDLE = """
require 'fiddle'
$stdin.gets
kept = []
100_000.times { kept << Fiddle.malloc(1024) }
50_000.times { |i| Fiddle.free(kept[i]) }
puts 'done'
$stdout.flush
$stdin.gets
"""


def biggest(report, size):
    """The site whose blocks are all of one size."""
    sites = [site for site in report["sites"] if site["inuse_objects"] and
             site["inuse_bytes"] == size * site["inuse_objects"]]
    assert sites, "no site has blocks of %d bytes only" % size
    return max(sites, key=lambda site: site["inuse_bytes"])


def traced_script(command, *options, environment=None):
    """Attach to a script that waits for a line, works, says so, and waits for another."""
    process = lab.start(command, env={**os.environ, **(environment or {})})
    lab.wait_for(lambda: lab.is_reading(process), "the script waits for a line")
    tracer = lab.Tracer("-q", "-j", "-n", "0", *options, "-p", process.pid, "3600")
    lab.release(process)
    said = process.stdout.readline()
    report = json.loads(tracer.stop())
    process.stdin.write(b"end\n")
    process.stdin.close()
    lab.wait_for(lambda: process.poll() is not None, "the script ends")
    assert process.returncode == 0, process.returncode
    lab.check_sums(report)
    lab.check_losses(report)
    return said, report


def test_ruby_fiddle():
    said, report = traced_script([lab.need("ruby"), "-e", FIDDLE])
    assert said == b"done\n"
    # Fiddle.malloc is ruby_xmalloc, and that malloc: 50,000 blocks of 1024 bytes stay.
    site = biggest(report, 1024)
    assert (site["inuse_bytes"], site["inuse_objects"]) == (51200000, 50000), site
    assert (site["alloc_bytes"], site["alloc_objects"]) == (102400000, 100000), site


PYTHON = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
sys.stdin.readline()
for i in range(3000):
    libc.malloc(12345)
data = [{str(j): [j] * 50 for j in range(200)} for i in range(50)]
del data
print('done', flush=True)
sys.stdin.readline()
"""


def test_python_ctypes():
    said, report = traced_script(["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else lab.need("python3"),
                                  "-c", PYTHON], environment={"PYTHONMALLOC": "malloc"})
    assert said == b"done\n"
    site = biggest(report, 12345)
    assert (site["inuse_bytes"], site["inuse_objects"]) == (12345 * 3000, 3000), site
    others = report["totals"]["inuse_bytes"] - site["inuse_bytes"]
    freed = report["totals"]["free_bytes"]
    assert freed > 10 * others, (freed, others)


def test_sqlite():
    sqlite = lab.need("sqlite3")
    with tempfile.TemporaryDirectory(prefix="tracer-sqlite-") as folder:
        statements = "create table t (a integer, b text); begin; " + "".join(
            "insert into t values (%d, '%s');" % (i, "x" * 100) for i in range(5000)) + "commit; select sum(a) from t;"
        with open(folder + "/in.sql", "w", encoding="ascii") as file:
            file.write(statements)
        with open(folder + "/in.sql", encoding="ascii") as file:
            status, output, errors = lab.run("-q", "-j", "-o", folder + "/report", "--", sqlite, folder + "/db",
                                             stdin=file)
        assert status == 0 and output.strip() == str(sum(range(5000))), (output, errors)
        with open(folder + "/report", encoding="utf-8") as file:
            report = json.load(file)
        lab.check_sums(report)
        lab.check_losses(report)
        # One for each statement at least.
        assert report["totals"]["alloc_objects"] > 5000, report["totals"]
        assert report["totals"]["inuse_bytes"] < report["totals"]["alloc_bytes"] / 10, report["totals"]


NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error;
events {{ worker_connections 256; }}
http {{
    access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


def test_nginx():
    nginx = lab.shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not nginx:
        raise lab.Skip("nginx is not installed")
    wrk = lab.need("wrk")
    with tempfile.TemporaryDirectory(prefix="tracer-nginx-") as folder:
        os.chmod(folder, 0o755)
        port = lab.free_port()
        with open(folder + "/conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=folder, port=port))
        with open(folder + "/page", "w", encoding="ascii") as file:
            file.write("p" * 3000)
        server = lab.start([nginx, "-e", folder + "/error", "-c", folder + "/conf"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        lab.wait_for(lambda: lab.answers(port), "nginx answers")
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", server.pid, "3600")

        def has_worked():
            load = subprocess.run([wrk, "-t2", "-c16", "-d2s", "http://127.0.0.1:%d/page" % port], capture_output=True,
                                  text=True, check=True, timeout=lab.PATIENCE).stdout
            assert "requests in" in load and "Non-2xx" not in load and "Socket errors" not in load, load
            return tracer.report_now()["totals"]["alloc_objects"] > 1000
        lab.wait_for(has_worked, "nginx has allocated")
        report = json.loads(tracer.stop())
        assert server.poll() is None and lab.answers(port)
        server.send_signal(signal.SIGQUIT)
        lab.wait_for(lambda: server.poll() is not None, "nginx ends")
        lab.check_sums(report)
        lab.check_losses(report)
        totals = report["totals"]
        assert totals["alloc_objects"] > 1000, totals
        # Pools of requests and connections are given back.
        assert totals["inuse_objects"] < totals["alloc_objects"] / 10, totals


def test_redis():
    redis = lab.need("redis-server")
    benchmark = lab.need("redis-benchmark")
    with tempfile.TemporaryDirectory(prefix="tracer-redis-") as folder:
        port = lab.free_port()
        server = lab.start([redis, "--port", port, "--save", "", "--dir", folder], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        lab.wait_for(lambda: lab.answers(port), "redis answers")
        tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", server.pid, "3600")
        load = subprocess.run([benchmark, "-p", str(port), "-n", "5000", "-t", "set,get,lpush,lpop", "-q"],
                              capture_output=True, text=True, check=True, timeout=lab.PATIENCE).stdout
        report = json.loads(tracer.stop())
        assert "SET: " in load and "rror" not in load and server.poll() is None, load
        lab.check_sums(report)
        lab.check_losses(report)
        assert report["totals"]["alloc_objects"] > 1000, report["totals"]
        # Where it is linked to jemalloc, malloc of the C library gets nothing from it.
        with open("/proc/%d/maps" % server.pid, encoding="utf-8") as maps:
            if "libjemalloc" in maps.read():
                allocators = {site["allocator"] for site in report["sites"] if site["source"] == "heap"}
                assert allocators == {"jemalloc"}, allocators


lab.run_tests()
