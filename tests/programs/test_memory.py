#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`tracer memory` of programs of Debian that do nothing at the moment: the parts add up to what the kernel counts (VmRSS, VmSwap,
VmSize), and nothing of their heaps is left that was not understood."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

import lab  # noqa: E402

TRIES = 20
NGINX = """
daemon off; pid %(folder)s/pid; error_log %(folder)s/errors; worker_processes 1;
events { }
http { access_log off; client_body_temp_path %(folder)s/a; proxy_temp_path %(folder)s/b; fastcgi_temp_path %(folder)s/c;
uwsgi_temp_path %(folder)s/d; scgi_temp_path %(folder)s/e; server { listen 127.0.0.1:%(port)d; } }
"""
JAVA = """
public class Kept {
    public static void main(String[] arguments) throws Exception {
        byte[][] kept = new byte[40][];
        for (int i = 0; i < 40; i++)
            kept[i] = new byte[1 << 20];
        System.out.println("ready");
        System.in.read();
    }
}
"""


def status(pid):
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        return {key: int(value) * 1024 for key, value in re.findall(r"^(Vm\w+):\s+(\d+) kB", file.read(), re.M)}


def add_up(report, key):
    return sum(row[key] for row in report["parts"])


def look(pid):
    """A look during which nothing of what the kernel counts has changed."""
    for _ in range(TRIES):
        before = status(pid)
        code, output, errors = lab.run("memory", "-j", "-p", pid)
        assert code == 0 and not errors, (code, errors)
        report = json.loads(output)
        after = status(pid)
        changed = ["%s: %d, then %d" % (key, before[key], after[key]) for key in ("VmRSS", "VmSwap", "VmSize")
                   if before[key] != after[key]]
        if not changed:
            return report, after
    raise lab.Skip("it is at work: what the kernel counts changed during each of %d looks (%s)" % (TRIES, "; ".join(changed)))


def check(name, pid, purpose=None, least=1 << 20):
    report, truth = look(pid)
    print("# %s: %d kB, %s" % (name, truth["VmRSS"] >> 10, ", ".join("%s %s: %d blocks" % (
        heap["allocator"], heap["version"], heap["live_blocks"]) for heap in report["malloc"])), flush=True)
    assert add_up(report, "rss_bytes") == truth["VmRSS"], (name, add_up(report, "rss_bytes"), truth)
    assert add_up(report, "swap_bytes") == truth["VmSwap"], (name, add_up(report, "swap_bytes"), truth)
    assert add_up(report, "mapped_bytes") == truth["VmSize"], (name, add_up(report, "mapped_bytes"), truth)
    assert report["malloc"] and not report["remarks"], (name, report["malloc"], report["remarks"])
    for heap in report["malloc"]:
        assert not heap["remarks"] and not heap["unknown_bytes"] and heap["live_blocks"], (name, heap)
    if purpose:
        found = sum(row["rss_bytes"] for row in report["parts"] if row["purpose"] == purpose)
        assert found >= least, (name, purpose, report["parts"])
    return report


def check_script(command, purpose=None, **options):
    """A program that says that it is ready, then waits for its input to end."""
    lab.need(command[0])
    process = lab.start(command, **options)
    assert b"ready" in process.stdout.readline(), command
    report = check(os.path.basename(command[0]), process.pid, purpose)
    lab.end(process)
    return report


def check_server(command, port):
    lab.need(command[0])
    process = lab.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lab.wait_for(lambda: lab.answers(port) or process.poll() is not None, "the server answers")
    assert process.poll() is None, "the server ended with %s" % process.returncode
    check(os.path.basename(command[0]), process.pid)
    for pid in lab.children_of(process.pid):
        check("a child of " + os.path.basename(command[0]), pid)
    lab.end(process, lab.signal.SIGTERM)


def test_redis():
    with tempfile.TemporaryDirectory() as folder:
        port = lab.free_port()
        check_server(["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder], port)


def test_nginx():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        port, settings = lab.free_port(), os.path.join(folder, "settings")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(NGINX % {"folder": folder, "port": port})
        check_server(["nginx", "-p", folder, "-e", folder + "/errors", "-c", settings], port)


def test_memcached():
    port = lab.free_port()
    check_server(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", port, "-t", "4"], port)


def test_postgres():
    """The server's first process, and the others that it starts."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o777)
        become = [lab.need("setpriv"), "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        programs = sorted("/usr/lib/postgresql/" + name for name in os.listdir("/usr/lib/postgresql")) \
            if os.path.isdir("/usr/lib/postgresql") else []
        if not programs:
            raise lab.Skip("postgres is not installed")
        data, port = os.path.join(folder, "data"), lab.free_port()
        made = subprocess.run([*become, programs[-1] + "/bin/initdb", "-D", data, "-N", "-A", "trust", "--locale=C"],
                              capture_output=True, text=True, check=False, cwd=folder)
        if made.returncode:
            raise lab.Skip("initdb: %s" % made.stderr.strip())
        check_server([*become, programs[-1] + "/bin/postgres", "-D", data, "-k", folder, "-p", port, "-h", "127.0.0.1", "-F"], port)


def test_node():
    check_script(["node", "-e", "const kept = Array.from({length: 100000}, (_, i) => ({i})); console.log('ready', kept.length);"
                  "process.stdin.resume();"], "v8_heap")


def test_java():
    lab.need("java")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "Kept.java")
        with open(source, "w", encoding="utf-8") as file:
            file.write(JAVA)
        report = check_script(["java", "-Xmx128m", source], "java_heap")
    parts = {row["purpose"]: row["rss_bytes"] for row in report["parts"]}
    assert parts["java_class"] > 4 << 20 and parts["java_code"] > 1 << 20, parts


def test_perl():
    check_script(["perl", "-e", "$| = 1; my @kept = map { \"text $_\" } 1..50000; print \"ready\\n\"; <STDIN>;"], "malloc_main")


def test_php():
    """What PHP has of memory, it counts itself."""
    script = ("$kept = []; for ($i = 0; $i < 5; $i++) $kept[] = str_repeat('x', 5 << 20); $more = range(1, 100000); "
              "echo 'ready ', memory_get_usage(true), \"\\n\"; fgets(STDIN);")
    process = lab.start([lab.need("php"), "-n", "-r", script])
    truth = int(process.stdout.readline().split()[1])
    report = check("php", process.pid, "php_heap")
    assert sum(row["mapped_bytes"] for row in report["parts"] if row["purpose"] == "php_heap") == truth, (report["parts"], truth)
    lab.end(process)


def test_emacs():
    check_script(["emacs", "--batch", "-Q", "--eval", "(progn (princ \"ready\\n\" #'external-debugging-output) (read-string \"\"))"],
                 stderr=subprocess.STDOUT)


def test_go():
    """Go's own count of what it has asked for as heap is in its part."""
    source = ("package main\nimport (\"bufio\"; \"fmt\"; \"os\"; \"runtime\")\nfunc main() {\n\tvar kept [][]byte\n"
              "\tfor i := 0; i < 60; i++ {\n\t\tbytes := make([]byte, 1<<20)\n\t\tfor j := range bytes {\n\t\t\tbytes[j] = 1\n\t\t}\n"
              "\t\tkept = append(kept, bytes)\n\t}\n\tvar stats runtime.MemStats\n\truntime.ReadMemStats(&stats)\n"
              "\tfmt.Println(stats.HeapInuse)\n\tbufio.NewReader(os.Stdin).ReadString('\\n')\n\tfmt.Println(len(kept))\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/kept.go", "w", encoding="utf-8") as file:
            file.write(source)
        made = subprocess.run([lab.need("go"), "build", "-o", folder + "/kept", folder + "/kept.go"], capture_output=True, text=True,
                              check=False, cwd=folder, env=os.environ | {"HOME": folder, "GOFLAGS": "-modcacherw", "GO111MODULE": "off"})
        assert made.returncode == 0, made.stderr
        process = lab.start([folder + "/kept"])
        truth = int(process.stdout.readline())
        report, counts = look(process.pid)
        assert add_up(report, "rss_bytes") == counts["VmRSS"], (report["parts"], counts)
        found = sum(row["rss_bytes"] for row in report["parts"] if row["purpose"] == "go_heap")
        assert truth <= found + (1 << 20) and found <= truth + (8 << 20), (found, truth)
        lab.end(process)


lab.run_tests()
