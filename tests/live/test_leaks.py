#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaks of scripts, found as their owners would look for them: the lines that leak come first, with exact bytes.

Truth is what the scripts ask for.
"""
import json
import os
import re
import subprocess
import tempfile

import lab

RUBY = """\
require 'fiddle'
KEPT = []

def plain(count, size)
  count.times { KEPT << Fiddle.malloc(size) }
end

module Reports
  %w[daily weekly].each_with_index do |name, index|
    module_eval("def self.#{name}(count)\\n  count.times { KEPT << Fiddle.malloc(10_007) }\\nend",
                'app/models/report.rb', 56 + 100 * index)
  end
end

puts 'ready'
$stdout.flush
$stdin.gets
10_000.times { |i| Fiddle.free(Fiddle.malloc(1 + i % 100)) }
plain(ARGV[0].to_i, 51_200_000 / ARGV[0].to_i)
Reports.daily(2000)
Reports.weekly(1000)
puts 'done'
$stdout.flush
$stdin.gets
"""

EXTENSION = """\
#include <Python.h>

static PyObject *leaky_keep(PyObject *self, PyObject *size)
{
    char *volatile kept = malloc(PyLong_AsSize_t(size));
    (void)kept;
    (void)self;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = { { "keep", leaky_keep, METH_O, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "leaky", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_leaky(void)
{
    return PyModule_Create(&module);
}
"""

PYTHON = """\
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import leaky
libc = ctypes.CDLL(None)
libc.malloc.argtypes = [ctypes.c_size_t]


class Cache:
    def fill(self, count):
        for _ in range(count):
            libc.malloc(10007)


def load(count):
    list(map(lambda i: leaky.keep(20011), range(count)))


print("ready", flush=True)
sys.stdin.readline()
Cache().fill(2000)
load(3000)
print("done", flush=True)
sys.stdin.readline()
"""

SCRIPT_JS = """\
const kept = [];
function leakBuffers(count) { for (let i = 0; i < count; i++) kept.push(Buffer.alloc(100003)); }
function handle() { leakBuffers(100); console.log("done"); }
for (let i = 0; i < 3000; i++) leakBuffers(0);
process.stdin.once("data", () => { handle(); process.stdin.resume(); });
console.log("ready");
"""


def traced(command, *options, **arguments):
    """Attach to a script that says when it is ready, and when it has done its work. Returns the report."""
    process = lab.start(command, **arguments)
    said = process.stdout.readline()
    assert said == b"ready\n", (said, lab.end(process)[1])
    tracer = lab.Tracer("-j", *options, "-p", process.pid, "3600")
    lab.release(process)
    assert process.stdout.readline() in (b"done\n", b"{}\n")
    report = json.loads(tracer.stop().splitlines()[-1])
    lab.check_sums(report)
    assert "cannot be shown" not in tracer.stderr(), tracer.stderr()
    return process, report


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def lines(site, kind):
    """The script's; methods such as Integer#times are Ruby code, too, since Ruby 3.3."""
    return [(frame["file"], frame["line"], frame["function"]) for frame in site["frames"]
            if frame["kind"] == kind and not frame["file"].startswith("<internal:")]


def check_first(report, kind, expected):
    """The first sites, each by its two innermost lines, bytes and blocks."""
    found = [(*lines(site, kind)[:2], site["inuse_bytes"], site["inuse_objects"])
             for site in report["sites"][:len(expected)]]
    assert found == expected, (found, [site["frames"] for site in report["sites"]])


def test_ruby():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, "leak.rb", RUBY)
        _, report = traced([lab.need("ruby"), path, "50000"], "-n", "3")
    assert len(report["sites"]) == 3
    check_first(report, "ruby", [
        ((path, 5, "block in plain"), (path, 5, "plain"), 51200000, 50000),
        (("app/models/report.rb", 57, "block in daily"), ("app/models/report.rb", 57, "daily"), 20014000, 2000),
        (("app/models/report.rb", 157, "block in weekly"), ("app/models/report.rb", 157, "weekly"), 10007000, 1000)])
    for site in report["sites"]:
        # The extension's own code, then Ruby's frames; between and behind them nothing of what Ruby is made of.
        kinds = [frame["kind"] for frame in site["frames"]]
        assert kinds == ["native"] * kinds.count("native") + ["ruby"] * kinds.count("ruby"), site["frames"]
        assert {os.path.basename(frame["module"]) for frame in site["frames"] if frame["module"]} <= {"fiddle.so"}, site


def test_ruby_that_runs():
    """By the words of the report, from a process that was running before."""
    lab.need("ruby")
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, "leak.rb", RUBY)
        process = lab.start(["ruby", path, "500"])
        process.stdout.readline()
        tracer = lab.Tracer("--by", "stack", "-p", process.pid, "-d", "1h", "-n", "1", stdout=subprocess.PIPE)
        lab.release(process)
        assert process.stdout.readline() == b"done\n"
        text = tracer.stop()
    site = text.split("BLOCKS", 1)[1].split("\n\n", 1)[0]
    assert "48.8 MiB" in site and " 500 " in site and "leak.rb:5 " in site, text
    assert re.search(r"> block in plain +\S*leak\.rb:5$", text, re.M) and "libruby" not in text, text


def test_python():
    lab.need("gcc")
    with tempfile.TemporaryDirectory() as folder:
        include = subprocess.run(["/usr/bin/python3", "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"],
                                 capture_output=True, text=True, check=True).stdout.strip()
        if not os.path.exists(os.path.join(include, "Python.h")):
            raise lab.Skip("the headers of Python are not installed")
        source = script(folder, "leaky.c", EXTENSION)
        subprocess.run(["gcc", "-O2", "-g", "-shared", "-fPIC", "-I" + include, "-o", os.path.join(folder, "leaky.so"),
                        source], check=True)
        path = script(folder, "leak.py", PYTHON)
        _, report = traced(["/usr/bin/python3", path, folder], "-n", "2", "-z", "10007", "-Z", "20011")
    check_first(report, "python", [
        ((path, 15, "load.<locals>.<lambda>"), (path, 15, "load"), 60033000, 3000),
        ((path, 11, "Cache.fill"), (path, 20, "<module>"), 20014000, 2000)])
    extension, loaded = report["sites"]
    assert extension["frames"][0]["function"] == "leaky_keep", extension["frames"]
    assert [frame["kind"] for frame in extension["frames"]] == ["native"] + ["python"] * 3, extension["frames"]
    assert {os.path.basename(frame["module"])[:7] for frame in loaded["frames"] if frame["module"]} <= \
        {"libffi.", "_ctypes"}, loaded["frames"]


def test_node():
    """Names of code that a JIT compiler has generated, from the map that it writes."""
    lab.need("node")
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, "leak.js", SCRIPT_JS)
        command = ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", path]
        process, report = traced(command, "-n", "0", "--call-graph", "fp", "-z", "100000", "-Z", "100100", cwd=folder)
        os.unlink("/tmp/perf-%d.map" % process.pid)
    sites = [site for site in report["sites"] if site["inuse_bytes"] == 100003 * site["inuse_objects"]]
    assert sum(site["inuse_objects"] for site in sites) == 100, report["sites"]
    for site in sites:
        names = [frame["function"] for frame in site["frames"] if frame["kind"] == "jit"]
        # Newer releases write the column behind the line.
        for place in ("leakBuffers %s:2" % path, "handle %s:3" % path):
            assert [name for name in names if re.search(re.escape(place) + r"(:\d+)?$", name)], (place, site["frames"])


def check_generated(command, name):
    for options in ([], ["--call-graph", "fp"]):
        process, report = traced(command, *options, "-n", "0", "-z", "40961", "-Z", "40961")
        # It removes its map.
        process.communicate(timeout=lab.PATIENCE)
        site, = report["sites"]
        assert (site["inuse_bytes"], site["inuse_objects"]) == (409610, 10), site
        assert (site["frames"][0]["kind"], site["frames"][0]["function"]) == ("jit", name), site["frames"]
    assert lab.function_of({"frames": site["frames"][1:]}) == "main", site["frames"]


def test_generated():
    check_generated([lab.target("jit")], "generated function:7")


def test_generated_in_container():
    """The map has the pid that the process has itself, and is in its own /tmp."""
    unshare = lab.need("unshare")
    if subprocess.run([unshare, "--mount", "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("mount namespaces cannot be made here")
    script = 'mount -t tmpfs tmp /tmp && cat >/tmp/jit <&3 && chmod 755 /tmp/jit && exec unshare --pid --fork /tmp/jit'
    inside = [unshare, "--mount", "sh", "-c", 'exec 3<"$0" && ' + script, lab.target("jit")]
    process = lab.start(inside)
    assert process.stdout.readline() == b"ready\n", lab.end(process)[1]
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as file:
        inner = int(file.read())
    tracer = lab.Tracer("-j", "-n", "0", "-z", "40961", "-Z", "40961", "-p", inner, "3600")
    lab.release(process)
    process.stdout.readline()
    report = json.loads(tracer.stop().splitlines()[-1])
    assert report["sites"][0]["frames"][0]["function"] == "generated function:7", report["sites"]


def test_generated_owner():
    """A map that belongs to somebody else is not believed."""
    check_generated([lab.target("jit"), "65534"], None)


lab.run_tests()
