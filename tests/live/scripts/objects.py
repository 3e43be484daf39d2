# SPDX-License-Identifier: GPL-2.0-or-later
"""A program whose objects are known: answers what its own interpreter counts of them, holds an object in each way, or makes objects
as fast as it can, with their number in a file."""
import collections
import decimal
import gc
import json
import mmap
import sys
import threading
import types


class Session:
    def __init__(self, number):
        self.number = number
        self.name = "session%d" % number
        self.roles = [number, number + 1]


class Slotted:
    __slots__ = ("first", "second")

    def __init__(self, number):
        self.first = number * 1.5
        self.second = [number, number + 1]


class Empty:
    pass


class Table(dict):
    pass


class Outer:
    class Inner(list):
        pass


def name_of(kind):
    return kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__


def add_code(codes, thing):
    """The collector does not look into code for that which it makes functions of."""
    if isinstance(thing, types.CodeType) and id(thing) not in codes:
        codes[id(thing)] = thing
        for constant in thing.co_consts:
            add_code(codes, constant)


def count():
    """Objects by class: what the collector has, and what that leads to."""
    gc.collect()
    gc.disable()
    tracked = gc.get_objects()
    numbers = collections.Counter(name_of(type(thing)) for thing in tracked)
    seen = {id(thing) for thing in tracked}
    reached, todo, codes = collections.Counter(numbers), tracked, {}
    while todo:
        found = []
        for thing in gc.get_referents(*todo):
            if id(thing) not in seen:
                seen.add(id(thing))
                found.append(thing)
                reached[name_of(type(thing))] += 1
                add_code(codes, thing)
        todo = found
    del tracked, todo, found, seen
    stats = [row["collections"] for row in gc.get_stats()]
    gc.enable()
    return {"tracked": numbers, "reached": reached, "files": collections.Counter(code.co_filename for code in codes.values()), "collections": stats, "thresholds": gc.get_threshold()}


def make_numbers():
    """Objects of which the test has the numbers; and items of lists that look like the begin of others: a count, if addresses are low, and
    a type."""
    return [[Session(i) for i in range(20000)], [Slotted(i) for i in range(7000)], [Empty() for i in range(3000)],
            [Table(key=i) for i in range(1000)], [Outer.Inner([i] * 10) for i in range(500)],
            {i: frozenset(range(i % 30)) for i in range(2000)}, [decimal.Decimal(i) for i in range(1000)],
            [bytearray(100) for i in range(600)], [lambda x=i: x for i in range(800)], [[None] * 50 for i in range(300)],
            [[None, None, None, types.CellType, None] for i in range(500)], [[None, float, None, None, None] for i in range(500)]]


WAYS = "Global Attribute Instance Number Pair Cell Default Local Generator Slot Nested Queue Keyword Chain Frame".split()
HELD = {way: type(way, (list,), {"__module__": "held"}) for way in WAYS}


def new(way):
    # Large, so that its class is one of those whose holders are looked for.
    return HELD[way]([1, 2, 3] * 20000)


class Holder:
    attribute = new("Attribute")


class Instance:
    def __init__(self):
        self.other, self.member = 5, new("Instance")


class Slots:
    __slots__ = ("one", "two")


def make_closure():
    held = new("Cell")
    return lambda: held


def default(argument=new("Default")):
    return argument


def keyword(*, argument=new("Keyword")):
    return argument


def generate():
    held = new("Generator")
    yield held
    yield 1


def hold():
    places = globals()
    places["a_global"], places["an_instance"], places["closure"], places["slots"] = new("Global"), Instance(), make_closure(), Slots()
    places["numbers"] = {i: [] for i in range(100)}
    places["numbers"][42] = [1, new("Number")]
    places["pairs"] = {("a", 1): new("Pair"), ("b", 2): 0}
    places["local"], places["generator"] = threading.local(), generate()
    places["local"].held = new("Local")
    next(places["generator"])
    places["slots"].one, places["slots"].two = 1, new("Slot")
    places["nested"] = {"config": {"handlers": [None] * 100 + [new("Nested")]}}
    places["queue"] = collections.deque(range(1000))
    places["queue"].append(new("Queue"))
    places["head"] = make_chain(new("Chain"))
    numbers = dict.fromkeys(range(30000))
    places["longest"] = {"str": "secret" * 20000, "bytes": bytes(200000), "list": [None] * 70000, "dict": numbers, "tuple": (None,) * 50000,
                         "set": set(numbers)}
    return new("Frame")


class Kept:
    pass


class Node:
    def __init__(self, following, value):
        self.next, self.value = following, value


def make_chain(value):
    """The value is held by the last one of 2,000."""
    node = Node(None, value)
    for _ in range(1999):
        node = Node(node, None)
    return node


class Brief:
    def __init__(self):
        self.self = self


def run(path):
    """Kept objects only grow in number; the file has that number. The others come and go, some in cycles."""
    with open(path, "r+b") as file:
        shared = mmap.mmap(file.fileno(), 8)
    number, ring, keep = 0, [None] * 1000, []
    print("ready", flush=True)
    while number < 2000000:
        keep.append(Kept())
        number += 1
        shared[:] = number.to_bytes(8, "little")
        for i in range(10):
            ring[(number + i) % 1000] = (str(number), Brief(), {"number": number})
    sys.stdin.readline()
    return keep


class Leaked:
    def __init__(self, number):
        self.number = number


class Leaks:
    """Leaks as many as it is asked to, and makes as many that it drops, of classes and of what is built in."""

    def __init__(self):
        self.number = 0
        globals()["leaked"], globals()["ring"] = [], [Brief() for i in range(2000)]

    def leak(self, count):
        places = globals()
        for _ in range(count):
            self.number += 1
            places["leaked"].append(Leaked(self.number))
            places["ring"][self.number % 2000] = Brief()
        return self.number


def serve():
    """Answers: `count`: what there is; `off`: the collector is; a number: that many are leaked."""
    keep, held, leaks = make_numbers(), hold(), Leaks()
    gc.collect()
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "off\n":
            gc.disable()
            print("off", flush=True)
        elif line == "count\n":
            print(json.dumps(count()), flush=True)
        else:
            print(leaks.leak(int(line)), flush=True)
    return keep, held


if len(sys.argv) > 1:
    run(sys.argv[1])
else:
    serve()
