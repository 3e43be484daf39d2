# SPDX-License-Identifier: GPL-2.0-or-later
"""The root of a guest: a disk with this machine's own programs, as far as the tests need them, and the built tree.

Files come from the packages of the programs and of what these depend on, so the guest's C library is the one that the
tracer was linked with. A guest of another architecture gets the programs that cross.py has unpacked.
"""
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = ("python3", "dash", "bash", "coreutils", "util-linux", "mount", "procps", "libc-bin", "grep", "sed", "binutils",
            "bpftool", "strace", "ruby", "php-cli")
BUILT = ("tracer", "targets", "tests/live")
TREE = ("tests/live", "tests/data/render", "tests/targets", "tests/kernels")
UNWANTED = re.compile(r"/usr/share/(doc|man|locale|info|lintian|bash-completion|gcc|gdb/auto-load)/|/usr/lib/[^/]+/gconv/")
UNWANTED_FOREIGN = re.compile(UNWANTED.pattern + r"|/usr/(include|lib/gcc(-cross)?|share/(perl|ri|zoneinfo))/|\.a$")
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


def files_below(folder, names):
    """What there is of these files and folders of a folder, as paths in it."""
    files = set(names)
    for name in names:
        for below, _, found in os.walk(os.path.join(folder, name)):
            files |= {os.path.relpath(os.path.join(below, each), folder) for each in found}
    return {name for name in files if os.path.lexists(os.path.join(folder, name))
            and not os.path.isdir(os.path.join(folder, name))}


def links_of_the_root():
    """/bin -> usr/bin and the like."""
    return [path for path in ("/bin", "/sbin", "/lib", "/lib64", "/lib32") if os.path.islink(path)]


def copy(source, names, root, target="/"):
    """Copy files of a folder to a folder of the root. Returns how many bytes it were."""
    folder = os.path.join(root, target.lstrip("/"))
    os.makedirs(folder, exist_ok=True)
    listed = "\n".join(sorted(name for name in names if os.path.lexists(os.path.join(source, name))))
    archive = subprocess.run(["tar", "-C", source, "-c", "--no-recursion", "-T", "-"], input=listed.encode(),
                             stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-C", folder, "-x"], input=archive.stdout, check=True)
    return len(archive.stdout)


def copy_own(built, root):
    """This machine's programs, and what else those of the tests are linked with."""
    programs = [os.path.join(TOP, "build", name) for name in built]
    files = system_files() | libraries_of(programs) | set(links_of_the_root())
    return copy("/", [name.lstrip("/") for name in files], root)


def copy_foreign(system, root):
    names = set()
    for folder, folders, found in os.walk(system):
        names |= {os.path.relpath(os.path.join(folder, each), system) for each in found + folders}
    wanted = [name for name in names if not UNWANTED_FOREIGN.search("/" + name)
              and (os.path.islink(os.path.join(system, name)) or not os.path.isdir(os.path.join(system, name)))]
    return copy(system, wanted, root)


def write_disk(root, path, size):
    """Make a disk with the files of a folder."""
    subprocess.run([path_of("mke2fs") or "mke2fs", "-q", "-F", "-t", "ext4", "-O", FEATURES, "-d", root, path, size],
                   stdout=subprocess.DEVNULL, check=True)


def build(path, folder, built="build", system=None):
    """
    Make the disk `path`; `folder` is room for what goes into it, `built` is where the tracer was built. The programs of
    a guest of another architecture are in the folder `system`.
    """
    root = os.path.join(folder, "root")
    os.mkdir(root)
    programs = files_below(os.path.join(TOP, built), BUILT)
    size = copy_foreign(system, root) if system else copy_own(programs, root)
    size += copy("/", ["etc/passwd", "etc/group"], root)
    size += copy(os.path.join(TOP, built), programs, root, os.path.join(TOP, "build"))
    size += copy(TOP, files_below(TOP, TREE), root, TOP)
    for name in ("proc", "sys", "dev", "tmp", "run", "var/tmp"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    if not system:
        # The linker's cache, and links such as libfoo.so.1. Packages have the links, and the cache only saves time.
        subprocess.run([path_of("ldconfig") or "ldconfig", "-r", root], check=True)
    write_disk(root, path, "%dM" % (size // 2**20 * 5 // 4 + 64))
