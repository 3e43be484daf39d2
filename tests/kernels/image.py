# SPDX-License-Identifier: GPL-2.0-or-later
"""The root of a guest: a disk with this machine's own programs, as far as the tests need them, and the built tree.

Files come from the packages of the programs and of what these depend on, so the guest's C library is the one that the
tracer was linked with.
"""
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = ("python3", "dash", "bash", "coreutils", "util-linux", "mount", "procps", "libc-bin", "grep", "sed", "binutils",
            "bpftool", "strace", "ruby")
TREE = ("build/tracer", "build/targets", "tests/live", "tests/targets", "tests/kernels")
UNWANTED = re.compile(r"/usr/share/(doc|man|locale|info|lintian|bash-completion|gcc|gdb)/|/usr/lib/[^/]+/gconv/")
# Features that the oldest kernel knows.
FEATURES = "none,filetype,extent,large_file,sparse_super,dir_index"


def installed_packages():
    """By name, what a package depends on; and by name of what is provided, the package."""
    listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package}\t${db:Status-Status}\t${Depends},${Pre-Depends}\t${Provides}\n"],
                            capture_output=True, text=True, check=True).stdout
    depends, provided = {}, {}
    for line in listed.splitlines():
        name, status, wanted, others = line.split("\t")
        if status == "installed":
            depends[name] = [re.split(r"[ (:]", choice.strip())[0] for choice in re.split(r"[,|]", wanted) if choice.strip()]
            for other in others.split(","):
                provided.setdefault(re.split(r"[ (:]", other.strip())[0], name)
    return depends, provided


def path_of(program):
    """As the system finds it, without the paths that a user may have set."""
    for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        path = os.path.join(folder, program)
        if os.access(path, os.X_OK):
            return path
    return None


def closure_of(packages):
    """Installed ones of these packages, with all that they depend on."""
    depends, provided = installed_packages()
    todo, chosen = list(packages), set()
    while todo:
        name = todo.pop()
        name = name if name in depends else provided.get(name)
        if name and name not in chosen:
            chosen.add(name)
            todo += depends[name]
    return sorted(chosen)


def real_name(path):
    """Where a file is, when folders such as /lib are links."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def libraries_of(programs):
    paths = set()
    for program in programs:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for path in re.findall(r"(/\S+) \(0x", listed):
            paths |= {real_name(path), os.path.realpath(path)}
    return paths


def system_files():
    listed = subprocess.run(["dpkg-query", "-L", *closure_of(PACKAGES)], capture_output=True, text=True, check=True).stdout
    files = set()
    for path in set(listed.splitlines()):
        if path.startswith("/") and not UNWANTED.search(path + "/") and os.path.lexists(path):
            if os.path.islink(path) or not os.path.isdir(path):
                files.add(real_name(path))
    return files


def tree_files():
    files = set()
    for name in TREE:
        path = os.path.join(TOP, name)
        files.add(path)
        for folder, _, names in os.walk(path):
            files |= {os.path.join(folder, each) for each in names}
    return {path for path in files if not os.path.isdir(path)}


def links_of_the_root():
    """/bin -> usr/bin and the like."""
    return [path for path in ("/bin", "/sbin", "/lib", "/lib64", "/lib32") if os.path.islink(path)]


def build(path, folder):
    """Make the disk `path`; `folder` is room for what goes into it."""
    ours = tree_files()
    programs = [os.path.join(TOP, "build/tracer")] + [each for each in ours if "/build/targets/" in each]
    files = system_files() | libraries_of(programs) | ours | set(links_of_the_root()) | {"/etc/passwd", "/etc/group"}
    root = os.path.join(folder, "root")
    os.mkdir(root)
    names = "\n".join(sorted(name.lstrip("/") for name in files if os.path.lexists(name)))
    archive = subprocess.run(["tar", "-C", "/", "-c", "--no-recursion", "-T", "-"], input=names.encode(),
                             stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-C", root, "-x"], input=archive.stdout, check=True)
    for name in ("proc", "sys", "dev", "tmp", "run", "var/tmp"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    # The linker's cache, and links such as libfoo.so.1.
    subprocess.run([path_of("ldconfig") or "ldconfig", "-r", root], check=True)
    size = len(archive.stdout) // 2**20 * 5 // 4 + 64
    subprocess.run([path_of("mke2fs") or "mke2fs", "-q", "-F", "-t", "ext4", "-O", FEATURES, "-d", root, path, "%dM" % size],
                   stdout=subprocess.DEVNULL, check=True)
