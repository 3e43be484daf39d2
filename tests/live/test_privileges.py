#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tracer may do, what it says of what it may not, what it gives up, and whom it does not touch."""
import json
import os
import shutil
import subprocess
import tempfile

import lab

LEAST = "+bpf,+perfmon,+sys_ptrace"
READS = "+sys_ptrace,+dac_read_search"
# CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE
KEPT = 1 << 2 | 1 << 19 | 1 << 38 | 1 << 39 | 1 << 40


def nobody(folder, capabilities, user=65534):
    """The beginning of a command line: the tracer as nobody, or another user, with these capabilities and no way to more."""
    os.chmod(folder, 0o755)
    tracer = os.path.join(folder, "tracer")
    shutil.copy(lab.TRACER, tracer)
    os.chmod(tracer, 0o755)
    chosen = "-all" + ("," + capabilities if capabilities else "")
    return [lab.need("setpriv"), "--reuid=%d" % user, "--regid=%d" % user, "--clear-groups", "--no-new-privs",
            "--inh-caps=" + chosen, "--ambient-caps=" + chosen, "--bounding-set=" + chosen, tracer]


def has_multi():
    """Can the kernel link a program to many uprobes? Otherwise it asks for CAP_SYS_ADMIN."""
    return lab.run("--backend", "multi", "-d", "1ms", "--", "true")[0] == 0


def known(**options):
    process = lab.start([lab.target("known"), "calls", "wait"], **options)
    lab.wait_for(lambda: lab.is_waiting(process), "the target waits")
    return process


def test_least_capabilities():
    if not has_multi():
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    # Another user's process: root's.
    process = known()
    with tempfile.TemporaryDirectory(prefix="tracer-nobody-") as folder:
        messages = open(os.path.join(folder, "messages"), "w+", encoding="utf-8")
        tracer = lab.start(nobody(folder, LEAST) + ["-q", "-j", "-n", "0", "-p", str(process.pid), "3600"],
                           stderr=messages)

        def said():
            return lab.written(messages)
        lab.wait_for(lambda: "ready" in said() or tracer.poll() is not None, "the tracer is ready")
        assert tracer.poll() is None, said()
        account = lab.work(process)
        tracer.send_signal(2)
        output, _ = tracer.communicate(timeout=lab.PATIENCE)
        messages.close()
    lab.check_account(account, json.loads(output))


def printed_status(text):
    """The fields of /proc/PID/status, which a command has printed."""
    return {line.partition(":")[0]: line.partition(":")[2].split() for line in text.splitlines() if ":" in line}


def test_command_gets_no_capabilities():
    """Those that the tracer got as ambient ones are not for its command."""
    if not has_multi():
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    with tempfile.TemporaryDirectory(prefix="tracer-nobody-") as folder:
        report = os.path.join(folder, "report")
        open(report, "w", encoding="ascii").close()
        os.chmod(report, 0o666)
        os.chown(report, 65534, 65534)
        found = subprocess.run(nobody(folder, LEAST) + ["-q", "-o", report, "--", "cat", "/proc/self/status"],
                               capture_output=True, text=True, check=True, timeout=lab.PATIENCE)
    fields = printed_status(found.stdout)
    assert [int(fields[name][0], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == [0] * 4, fields


def test_user():
    """A command as another user: its numbers, its groups, its blocks, and what set-user-ID programs do."""
    with tempfile.TemporaryDirectory(prefix="tracer-user-") as folder:
        os.chmod(folder, 0o755)
        report = os.path.join(folder, "report")
        for user, expected in (("nobody", [65534, 65534]), ("1234:4321", [1234, 4321])):
            status, output, errors = lab.run("-q", "-o", report, "-u", user, "--", "cat", "/proc/self/status")
            fields = printed_status(output)
            assert status == 0, errors
            assert fields["Uid"] == [str(expected[0])] * 4 and fields["Gid"] == [str(expected[1])] * 4, fields
            assert fields["Groups"] == [str(expected[1])], fields
            assert int(fields["CapEff"][0], 16) == 0 and int(fields["CapPrm"][0], 16) == 0, fields
        program, secret = os.path.join(folder, "cat"), os.path.join(folder, "secret")
        shutil.copy(shutil.which("cat"), program)
        with open(secret, "w", encoding="ascii") as file:
            file.write("secret")
        os.chmod(secret, 0o600)
        for mode, expected in ((0o755, ""), (0o4755, "secret")):
            os.chmod(program, mode)
            _, output, errors = lab.run("-q", "-o", report, "-u", "nobody", "--", program, secret)
            assert output == expected, (oct(mode), output, errors)
        shutil.copy(lab.target("known"), program)
        os.chmod(program, 0o755)
        lab.check_account(*lab.command_report([program, "calls"], "-u", "nobody"))
    status, _, errors = lab.run("-u", "no-such-user", "--", "true")
    assert status == 2 and "no user 'no-such-user'" in errors, (status, errors)
    status, _, errors = lab.run("-u", "nobody", "-p", str(os.getpid()))
    assert status == 2 and "-u" in errors, (status, errors)


def test_file_that_is_gone():
    """That there may be an allocator in it is said, once, with what it takes to read it."""
    if not has_multi():
        raise lab.Skip("this kernel asks for CAP_SYS_ADMIN")
    with tempfile.TemporaryDirectory(prefix="tracer-nobody-") as folder:
        plugin = os.path.join(folder, "plugin.so")
        processes = []
        shutil.copy(lab.target("plugin.so"), plugin)
        for _ in range(2):
            processes.append(known(env=dict(os.environ, LD_PRELOAD=plugin)))
        os.unlink(plugin)
        found = subprocess.run(nobody(folder, LEAST) + ["-d", "100ms", "-p", ",".join(str(one.pid) for one in processes)],
                               capture_output=True, text=True, check=False, timeout=lab.PATIENCE)
    assert found.returncode == 0, found
    lines = [line for line in found.stderr.splitlines() if "plugin.so" in line]
    assert len(lines) == 1 and "cannot be read" in lines[0] and "CAP_CHECKPOINT_RESTORE" in lines[0], found.stderr


def refused(folder, capabilities, *command):
    found = subprocess.run(nobody(folder, capabilities) + list(command), capture_output=True, text=True, check=False,
                           timeout=lab.PATIENCE)
    assert found.returncode == 3, found
    return found.stderr


def test_missing_capabilities_are_named():
    process = known()
    with tempfile.TemporaryDirectory(prefix="tracer-nobody-") as folder:
        errors = refused(folder, "", "-p", str(process.pid))
        assert "loading BPF programs" in errors and "lacks CAP_PERFMON and CAP_BPF:" in errors, errors
        errors = refused(folder, "+bpf", "-p", str(process.pid))
        assert "lacks CAP_PERFMON:" in errors, errors
        errors = refused(folder, "+bpf,+perfmon", "--backend", "perf", "-p", str(process.pid))
        assert "CAP_SYS_" in errors, errors


RUBY = "class Kept; end; kept = Array.new(5000) { Kept.new }; puts kept.size; $stdout.flush; $stdin.read"


def check_memory(command, process):
    """All but PSS, which takes a capability more. Truth: the kernel's VmRSS, and what the program has made."""
    for _ in range(20):
        before = status_of(process.pid)["VmRSS"]
        found = subprocess.run([*command, "memory", *lab.PATIENT, "-j", "--objects", "-p", str(process.pid)], capture_output=True, text=True,
                               check=False, timeout=lab.PATIENCE)
        assert found.returncode == 0 and not found.stderr, found
        if before == status_of(process.pid)["VmRSS"]:
            break
    report = json.loads(found.stdout)
    assert sum(row["rss_bytes"] for row in report["parts"]) == int(before.split()[0]) * 1024, (report["parts"], before)
    assert report["process"]["pss_bytes"] is None and {row["pss_bytes"] for row in report["parts"]} == {None}, report["process"]
    assert any("PSS is not known" in line and "CAP_SYS_ADMIN" in line for line in report["remarks"]), report["remarks"]
    runtime, = report["objects"]
    row, = [row for row in runtime["classes"] if row["name"] == "Kept"]
    assert row["live"] + row["newborn"] == 5000 and report["malloc"][0]["live_blocks"], row


def test_memory():
    """As what stands beside a container: root with what a trace takes. As another user it takes one capability more."""
    process = lab.start([lab.need("ruby"), "-e", RUBY])
    assert process.stdout.readline() == b"5000\n"
    with tempfile.TemporaryDirectory(prefix="tracer-nobody-") as folder:
        check_memory(nobody(folder, LEAST, user=0), process)
        check_memory(nobody(folder, READS), process)
        command = ("memory", "-p", str(process.pid))
        errors = refused(folder, LEAST, *command)
        assert "reading the memory of processes of other users" in errors and "lacks CAP_DAC_READ_SEARCH:" in errors, errors
        errors = refused(folder, "+bpf,+perfmon", *command)
        assert "lacks CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE:" in errors, errors
        errors = refused(folder, "+dac_read_search", *command)
        assert "lacks CAP_SYS_PTRACE:" in errors, errors


def test_own_seccomp_profile_is_named():
    for call in ("bpf", "pidfd_open"):
        status = subprocess.run([lab.target("sandboxed"), call, lab.TRACER, "-d", "1ms", "--", "true"],
                                capture_output=True, text=True, check=False, timeout=lab.PATIENCE)
        assert status.returncode == 3, status
        assert "seccomp profile" in status.stderr and call + "()" in status.stderr, status.stderr


def test_own_user_namespace_is_named():
    unshare = lab.need("unshare")
    if subprocess.run([unshare, "-U", "-r", "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no user namespace can be made here")
    status = subprocess.run([unshare, "-U", "-r", lab.TRACER, "-d", "1ms", "--", "true"], capture_output=True,
                            text=True, check=False, timeout=lab.PATIENCE)
    assert status.returncode == 3 and "user namespace" in status.stderr, status


def refused_in(preparation, *flags):
    """What the tracer says in namespaces of its own, after a command that prepares them."""
    unshare = lab.need("unshare")
    if subprocess.run([unshare, "-m", *flags, "true"], capture_output=True, check=False).returncode:
        raise lab.Skip("no namespaces can be made here")
    status = subprocess.run([unshare, "-m", *flags, "sh", "-c", preparation + ' && exec "$@"', "sh", lab.TRACER,
                             "-d", "1ms", "--", "true"], capture_output=True, text=True, check=False, timeout=lab.PATIENCE)
    assert status.returncode == 3, status
    return status.stderr


def test_file_systems_that_are_missing_are_named():
    errors = refused_in("mount -t tmpfs none /sys")
    assert "/sys/kernel/btf/vmlinux" in errors and "mount /sys" in errors, errors
    errors = refused_in("mount -t tmpfs none /proc")
    assert "mount -t proc proc /proc" in errors, errors
    # /proc with the numbers of other processes: those of outside.
    errors = refused_in("true", "-p", "-f")
    assert "another pid namespace" in errors and "and not 1" in errors, errors


def status_of(pid):
    with open("/proc/%s/status" % pid, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def tasks_of(pid):
    """The fields of each thread that is there: some come and go."""
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            yield status_of("%d/task/%s" % (pid, task))
        except (FileNotFoundError, ProcessLookupError):
            continue


def test_what_is_not_needed_is_given_up():
    process = lab.start([lab.target("changes"), "dlopen", lab.target("plugin.so"), "wait"])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    tracer = lab.Tracer("-q", "-j", "-n", "0", "-p", process.pid, "3600")
    needed = KEPT if has_multi() else KEPT | 1 << 21
    lab.wait_for(lambda: not int(status_of(tracer.process.pid)["CapEff"], 16) & ~needed, "capabilities are given up")
    status = status_of(tracer.process.pid)
    assert not (int(status["CapPrm"], 16) | int(status["CapInh"], 16)) & ~needed, status
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
    if os.geteuid() == 0:
        users = {line for task in tasks_of(tracer.process.pid) for line in (task["Uid"], task["Gid"])}
        assert len(users) == 1, users
        assert all(0x70000000 <= int(user) < 0x80000000 for user in users.pop().split()), status
        assert not status["Groups"].strip(), status
    # What comes later is seen all the same.
    account = lab.work(process)
    report = json.loads(tracer.stop().splitlines()[-1])
    assert sum(site["alloc_bytes"] for site in report["sites"]) >= account["plugin_leak"][0], report["sites"]


# A library that ends the process in which a file is decoded; the tracer's workers have no environment, so they have it not.
# libbpf reads the tracer's own BPF programs by elf_memory().
DECODERS = ("elf_begin", "lzma_code", "lzma_stream_decoder", "cs_open", "cs_disasm", "cs_disasm_iter", "dwfl_begin",
            "dwfl_report_elf", "dwarf_begin_elf")


def test_tracer_decodes_nothing():
    with tempfile.TemporaryDirectory(prefix="tracer-decoders-") as folder:
        source, library = os.path.join(folder, "trap.c"), os.path.join(folder, "trap.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stdlib.h>\n")
            file.writelines("void %s(void) { abort(); }\n" % name for name in DECODERS)
        subprocess.run([lab.need("gcc"), "-shared", "-fPIC", "-w", "-o", library, source], check=True)
        # The trap works: who decodes, and has it, ends.
        environment = dict(os.environ, LD_PRELOAD=library)
        status = subprocess.run([lab.need("eu-readelf"), "-h", "/proc/self/exe"], env=environment, check=False,
                                capture_output=True)
        assert status.returncode == -6, status
        process = known()
        tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600", env=environment)
        account = lab.work(process)
        report = json.loads(tracer.stop().splitlines()[-1])
        lab.check_account(account, report)
        assert any(frame["function"] for site in report["sites"] for frame in site["frames"]), report
        plan = subprocess.run([lab.TRACER, "plan", "-p", str(process.pid)], env=environment, check=False, capture_output=True,
                              text=True)
        assert plan.returncode == 0 and "malloc" in plan.stdout, plan


def test_sandboxed_target():
    process = lab.start([lab.target("sandboxed"), "wait"])
    lab.wait_for(lambda: status_of(process.pid)["Seccomp"] == "2", "the filter is in place")
    before = lab.code_of(process.pid)
    # As on a kernel whose filters are asked about the probes' own system calls.
    status, _, errors = lab.run("--seccomp", "fatal", "-d", "50ms", "-p", process.pid)
    assert status == 3 and "seccomp filter" in errors and "--force" in errors, errors
    lab.wait_for_code(process.pid, before)
    status, _, errors = lab.run("--seccomp", "fatal", "--force", "-d", "50ms", "-p", process.pid)
    assert status == 0, errors
    # As it really is: it is traced without harm, or not at all.
    tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600", ready=False)
    lab.check_filtered(tracer, process)


lab.run_tests()
