# SPDX-License-Identifier: GPL-2.0-or-later
"""ELF files as no linker makes them, around functions that rogue.c calls."""
import os
import struct
import zlib

PAGE, STUB = 4096, 64
MACHINE = {"x86_64": 62, "aarch64": 183}[os.uname().machine]
# Each calls what the next word of its argument points to, with a frame of its own.
CODE = {62: bytes.fromhex("554889e54883c708ff175dc3"),
        183: struct.pack("<6I", 0xa9bf7bfd, 0x910003fd, 0xf8408c01, 0xd63f0020, 0xa8c17bfd, 0xd65f03c0)}[MACHINE]

PROGBITS, SYMTAB, STRTAB, NOTE, DYNSYM = 1, 2, 3, 7, 11
COMPRESSED, ALLOC = 0x800, 2


class Section:
    """`data` is what is in it; `size`, if it is more, zeros that take no room on the disk."""

    def __init__(self, name, kind, data=b"", size=0, flags=0, link=0, entry=0):
        self.name, self.kind, self.data, self.flags, self.link, self.entry = name, kind, data, flags, link, entry
        self.size = max(size, len(data))


def symbols(names, kind=SYMTAB):
    """Sections for functions of these names, one a stub."""
    table, texts = [bytes(24)], [b"\0"]
    at = 1
    for i, name in enumerate(names):
        table.append(struct.pack("<IBBHQQ", at, 0x12, 0, 1, PAGE + i * STUB, STUB))
        texts.append(name + b"\0")
        at += len(name) + 1
    return tables(b"".join(table), b"".join(texts), kind)


def tables(table, texts, kind=SYMTAB):
    """A symbol table and its strings; they must be the first sections of a file."""
    name = b".dynsym" if kind == DYNSYM else b".symtab"
    return [Section(name, kind, table, link=2, entry=24), Section(b".strtab", STRTAB, texts)]


def entries(count, stubs):
    """An .eh_frame in which these many entries describe how the stubs are unwound, again and again."""
    head = b"zR\0" + bytes([1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1])
    cie = struct.pack("<II", 20, 0) + b"\1" + head.ljust(15, b"\0")
    # DW_EH_PE_udata4: addresses as they are, in a file that begins at zero. push %rbp; mov %rsp, %rbp.
    program = bytes([0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6]).ljust(11, b"\0")
    parts = [cie]
    for i in range(count):
        parts.append(struct.pack("<IIIIB", 24, len(cie) + i * 28 + 4, PAGE + i % stubs * STUB, STUB, 0) + program)
    parts.append(bytes(4))
    return Section(b".eh_frame", PROGBITS, b"".join(parts), flags=ALLOC)


def compressed(name, data, repeat):
    """A section that holds `data` so many times, compressed."""
    packer, parts = zlib.compressobj(1), []
    for _ in range(repeat):
        parts.append(packer.compress(data))
    parts.append(packer.flush())
    head = struct.pack("<IIQQ", 1, 0, len(data) * repeat, 1)
    return Section(name, PROGBITS, head + b"".join(parts), flags=COMPRESSED)


def write(path, sections=(), stubs=1, section_count=None):
    """Write a shared library with so many stubs; all of the file is mapped as its one segment."""
    names, texts = [], b"\0"
    sections = list(sections) + [Section(b".shstrtab", STRTAB)]
    for section in sections:
        names.append(len(texts))
        texts += section.name + b"\0"
    sections[-1] = Section(b".shstrtab", STRTAB, texts)
    count = section_count or len(sections) + 1
    with open(path, "wb") as file:
        at = PAGE + (stubs * STUB + PAGE - 1) // PAGE * PAGE
        file.seek(PAGE)
        file.write(CODE.ljust(STUB, b"\0") * stubs)
        headers = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, count if section_count else 0, 0, 0, 0, 0)]
        for section, name in zip(sections, names):
            file.seek(at)
            file.write(section.data)
            headers.append(struct.pack("<IIQQQQIIQQ", name, section.kind, section.flags, at if section.flags & ALLOC else 0, at,
                                       section.size, section.link, 0, 1, section.entry))
            at += (section.size + 15) // 16 * 16
        file.seek(at)
        file.write(b"".join(headers))
        end = at + count * 64
        file.truncate(end)
        file.seek(0)
        file.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, MACHINE, 1, 0, 64, at, 0, 64, 56, 1, 64,
                               0 if section_count else count, len(sections)))
        file.write(struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end, end, PAGE))
    return path
