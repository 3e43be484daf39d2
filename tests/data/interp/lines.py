# SPDX-License-Identifier: GPL-2.0-or-later
# Prints what the interpreter that runs it knows of the lines of some functions, as lines.txt has it: the version, a
# function's first line, the bytes of its table in hexadecimal, and "offset=line" of its instructions; no line is 0.
import dis
import sys

SOURCE = '''\


def plain(x):
    a = x
    b = (a,
         x(
           a))
    return b

def backwards(x):
    return x(1,
        [y
           for y in x if
             y], (
        lambda: 0)())

def blocks(x):
    try:
        with x as y:
            for z in y:
                if z:
                    continue
                print(z)
    except (ValueError,
            KeyError) as e:
        raise RuntimeError from e
    finally:
        del x

def gap(x):
    a = 1
%s
    return a

class Empty: pass

async def waits(x):
    async with x:
        async for y in x: await y
''' % ("\n" * 700)


def lines_of(code):
    if hasattr(code, "co_lines"):
        return {at: line or 0 for start, end, line in code.co_lines() for at in range(start, end, 2)}
    starts = dict(dis.findlinestarts(code))
    found, line = {}, code.co_firstlineno
    for instruction in range(0, len(code.co_code), 2):
        line = starts.get(instruction, line)
        found[instruction] = line
    return found


def show(code):
    table = getattr(code, "co_linetable", None) if sys.version_info >= (3, 10) else code.co_lnotab
    pairs = " ".join("%d=%d" % pair for pair in sorted(lines_of(code).items()))
    print("%d.%d" % sys.version_info[:2], code.co_firstlineno, table.hex() or "-", pairs)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            show(constant)


show(compile(SOURCE, "lines", "exec"))
