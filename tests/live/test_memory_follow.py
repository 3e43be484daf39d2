#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `tracer memory PID INTERVAL` finds out about blocks from look to look: born, gone, unchanged, written, retained. The truth is the
count of a program that leaks and replaces on command (tests/targets/kept.c)."""
import json
import os
import signal
import subprocess

import lab

ENTRY = 88  # bytes of the program's entries


def begin(*arguments):
    """The program, and looks at it."""
    process = lab.start([lab.target("kept")], text=True)
    process.stdout.readline()
    return process, lab.Looks("-n", "0", "-p", process.pid, "100ms", "100", *arguments)


def step(process):
    process.stdin.write("go\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def handlers_of(report):
    """The program's handlers, whoever holds them: they begin with a pointer to its only function of that kind."""
    rows = [row for row in report["kinds"] if row["kind"] == "function pointer" and " in kept+" in row["name"]]
    return {key: None if rows[0][key] is None else sum(row[key] for row in rows)
            for key in ("blocks", "born", "gone", "written", "unchanged", "retained", "growth_blocks")}


def entries_of(report):
    return [row for row in report["kinds"] if row["kind"] == "data" and row["size"] == ENTRY]


def test_leak_beside_a_cache():
    process, looks = begin()
    looks.wait()
    steps = [step(process), step(process)]
    row = handlers_of(looks.read())
    assert row["blocks"] == 2000 and row["born"] is None and row["growth_blocks"] is None, row
    report = looks.read()
    row = handlers_of(report)
    assert [row[key] for key in ("born", "gone", "written", "growth_blocks")] == [1000, 0, 0, 1000], row
    assert report["kinds"][0]["growth_bytes"] > 0, report["kinds"][0]
    # The cache: what it has replaced is gone, or written to, and its size stays.
    changed = sum(row["born"] + row["written"] for row in entries_of(report))
    assert changed >= steps[1]["replaced"] / 2, (changed, steps)
    assert sum(row["growth_blocks"] for row in entries_of(report)) == 0, report
    row = handlers_of(looks.read())
    assert row["blocks"] == steps[1]["handlers"] == row["unchanged"] and row["born"] == 0 and row["retained"] == 1000, row


def test_alarm():
    """The clock of a look that takes more than a second does not end the tracer, quiet as it may be."""
    _, looks = begin()
    looks.read()
    looks.process.send_signal(signal.SIGALRM)
    for _ in range(3):
        assert looks.read()["kinds"]


def test_text():
    """Under the row of a kind is what became of its blocks. The program's variable holds the last one, which is a row of its own."""
    process = lab.start([lab.target("kept")], text=True)
    process.stdout.readline()
    tracer = lab.start([lab.TRACER, "memory", *lab.PATIENT, "-q", "-p", process.pid, "1h"], text=True)
    lines = iter(tracer.stdout.readline, "")
    assert any("KIND OF LIVE BLOCKS" in line for line in lines), tracer.stderr.read()
    step(process)
    tracer.send_signal(signal.SIGINT)
    row = next((line for line in lines if " born, " in line), "")
    assert row.strip().startswith("499 born, ") and "2,000 unchanged" in row, row


# Runs as the first process of a pid namespace, where it can choose the next pid. The tracer is stopped meanwhile: its
# processes would take the pid.
REUSE = """
import json, os, signal, subprocess, sys, time
tracer, program, *options = sys.argv[1:]

def start():
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    return process

first = start()
looks = subprocess.Popen([tracer, 'memory', '--deadline', '60s', '-j', *options, str(first.pid), '200ms'], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
assert json.loads(looks.stdout.readline())['targets'][0]['pid'] == first.pid
looks.send_signal(signal.SIGSTOP)
os.waitid(os.P_PID, looks.pid, os.WSTOPPED | os.WNOWAIT)
first.kill()
first.wait()
# A start time has a resolution of 10 ms.
time.sleep(0.05)
with open('/proc/sys/kernel/ns_last_pid', 'w') as file:
    file.write(str(first.pid - 1))
second = start()
assert second.pid == first.pid, (first.pid, second.pid)
with open('/proc/%d/stat' % second.pid) as file:
    began = int(file.read().rpartition(')')[2].split()[19])
looks.send_signal(signal.SIGCONT)
output, errors = looks.communicate(timeout=180)
assert not [line for line in output.splitlines() if json.loads(line)['targets'][0]['start_ticks'] == began], output
print(json.dumps({'status': looks.returncode, 'errors': errors.decode(), 'pid': first.pid}))
second.kill()
"""


def check_reuse(*options):
    unshare = lab.need("unshare")
    if not os.path.exists("/proc/sys/kernel/ns_last_pid"):
        raise lab.Skip("the kernel does not let a pid be chosen")
    space = [unshare, "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*space, "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no namespaces can be made here")
    process = lab.start([*space, "python3", "-c", REUSE, lab.TRACER, lab.target("kept"), *options])
    output, errors = process.communicate(timeout=lab.PATIENCE)
    assert process.returncode == 0, errors
    return json.loads(output)


def test_pid_is_used_again():
    """Looks at a process end with it, and do not go over to the next one with its pid; a message says so."""
    for options in (["-p"], ["--tree"]):
        found = check_reuse(*options)
        assert found["status"] == 0, found
        assert "process %d (kept) has ended" % found["pid"] in found["errors"], found


if __name__ == "__main__":
    lab.run_tests()
