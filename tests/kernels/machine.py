# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines that guests run in, emulated, and what is understood of the lines that a guest says."""
import re
import subprocess

MACHINES = {
    # Older emulators get cmpxchg16b wrong, which kernels use where they see it.
    "amd64": ("qemu-system-x86_64", ["-M", "q35", "-cpu", "max,-cx16"], "ttyS0"),
    # Pointers are signed by a way that is fast to emulate.
    "arm64": ("qemu-system-aarch64", ["-M", "virt", "-cpu", "max,pauth-impdef=on"], "ttyAMA0"),
}
COMMON = ["-accel", "tcg", "-smp", "2", "-nodefaults", "-nographic", "-no-reboot", "-serial", "stdio"]
LIMIT = 7200  # seconds after which a guest counts as hanging
ARGUMENTS = "console=%s panic=-1 quiet root=/dev/nvme0n1 rootfstype=ext4 rw"
CONTROL = re.compile(r"\x1b\[[0-9;?=]*[a-zA-Z]|\x1b\][0-9;]*|\x1bc|\r")


def boot(architecture, kernel, disk, arguments, memory="2048", devices=(), limit=LIMIT):
    """Run a guest to its end; yields the lines that it says. What it writes to its disks is not kept."""
    emulator, kind, console = MACHINES[architecture]
    command = ["nice", "-n", "19", "timeout", "-k", "5", str(limit), emulator, *kind, *COMMON, "-m", memory, "-kernel", kernel,
               "-drive", "file=%s,if=none,id=root,format=raw,snapshot=on" % disk, "-device", "nvme,drive=root,serial=root",
               *devices, "-append", "%s %s" % (ARGUMENTS % console, arguments)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            for line in process.stdout:
                yield CONTROL.sub("", line.decode("utf-8", "replace")).rstrip("\n")
        finally:
            process.terminate()


def say(line):
    print(line, flush=True)


class Outcome:
    """What the lines of a guest say about its tests."""

    def __init__(self, kernel):
        self.kernel, self.begun, self.done, self.failed = kernel, False, False, False
        self.current, self.unexplained, self.outcomes = None, [], set()

    def fail(self, what):
        self.failed = True
        for line in self.unexplained[-60:]:
            say("    " + line)
        say("not ok %s %s" % (self.kernel, what))

    def explains(self, status):
        """Have the tests of a program that ended with this status said why? One may end before it has run any."""
        return "not ok" in self.outcomes if status == "1" else status == "0" and bool(self.outcomes)

    def read(self, line):
        words = line.split()
        test = re.match(r"(ok|not ok|skip) (test_.+)", line)
        if line.startswith("== begin "):
            self.begun, self.current, self.unexplained, self.outcomes = True, words[2].split(":")[0], [], set()
        elif line.startswith("== end "):
            if not self.explains(words[3]):
                self.fail("%s ended with %s" % (words[2], words[3]))
            say("    %s %s took %s s" % (self.kernel, words[2], words[4]))
            self.current = None
        elif line == "== done":
            self.done = True
        elif test and test.group(1) == "not ok":
            self.outcomes.add("not ok")
            self.fail("%s %s" % (self.current, test.group(2)))
            self.unexplained = []
        elif line.startswith("note "):
            say("    %s %s" % (self.kernel, line[5:]))
        elif test:
            self.outcomes.add(test.group(1))
            say("%s %s %s %s" % (test.group(1), self.kernel, self.current, test.group(2)))
            self.unexplained = []
        else:
            self.unexplained.append(line)
