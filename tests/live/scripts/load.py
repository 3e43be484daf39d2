# SPDX-License-Identifier: GPL-2.0-or-later
# A load such as a web application has: threads and tasks that serve requests, through decorators and context managers, to
# handlers that use records and templates, some of them compiled each time. At some places, a block is allocated and freed.
# Prints what Python itself says about the stacks of these: {"stacks": [[[FRAME, ...], BYTES, BLOCKS], ...]}.
# Arguments: seconds, threads.
import asyncio
import collections
import contextlib
import ctypes
import functools
import gc
import json
import random
import sys
import threading
import time

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
FIRST = 700001
LEAST = 50  # requests of each thread, however slow the machine is
account = collections.defaultdict(lambda: [0, 0])
lock = threading.Lock()


def block(kind):
    frame, stack = sys._getframe(1), []
    while frame:
        code = frame.f_code
        stack.append((code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)))
        frame = frame.f_back
    with lock:
        entry = account[tuple(stack)]
        entry[0] += FIRST + kind
        entry[1] += 1
    return FIRST + kind


def measured(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        try:
            return function(*arguments)
        finally:
            libc.free(libc.malloc(block(0)))
    return wrapper


@contextlib.contextmanager
def transaction():
    libc.free(libc.malloc(block(1)))
    try:
        yield
    except KeyError:
        libc.free(libc.malloc(block(2)))


class Field:
    def __get__(self, instance, owner):
        libc.free(libc.malloc(block(3)))
        return 7


class Record:
    price = Field()

    def __getattr__(self, name):
        libc.free(libc.malloc(block(4)))
        return lambda *arguments: [argument for argument in arguments if libc.free(libc.malloc(block(5))) is None]

    def __iter__(self):
        for i in range(3):
            libc.free(libc.malloc(block(6)))
            yield i

    @measured
    def save(self, chance):
        with transaction():
            if chance.randrange(2):
                raise KeyError


def plain(record, chance):
    return [record.price for _ in range(2)], record.find_by_name(1, 2)


def walked(record, chance):
    return sum(x for x in record), sorted(record, key=lambda x: libc.free(libc.malloc(block(7))) or x)


@measured
def stored(record, chance):
    record.save(chance)


def template(record, chance):
    kind = chance.randrange(7)
    text = "\n" * kind + "libc.free(libc.malloc(block(%d)))\n[record.price for _ in (1,)]" % (10 + kind)
    exec(compile(text, "inline%d.html" % kind, "exec"), {**globals(), "record": record})


def defined(record, chance):
    kind = chance.randrange(5)
    space = {**globals()}
    exec("def action%d(n):\n%s    return libc.free(libc.malloc(block(%d))) if not n else action%d(n - 1)" %
         (kind, "    n = n + 0\n" * kind * 30, 20 + kind, kind), space)
    space["action%d" % kind](chance.randrange(3))


def asynchronous(record, chance):
    async def leaf():
        await asyncio.sleep(0)
        record.price

    async def request():
        await asyncio.gather(leaf(), *(leaf() for _ in range(chance.randrange(2))))
        async for _ in stream():
            record.price

    async def stream():
        libc.free(libc.malloc(block(8)))
        yield 1
    asyncio.run(request())


def threaded(record, chance):
    thread = threading.Thread(target=plain, args=(record, chance))
    thread.start()
    thread.join()


def collected(record, chance):
    class Temporary:
        def __del__(self):
            libc.free(libc.malloc(block(9)))
    Temporary()


ACTIONS = [plain, walked, stored, template, defined, asynchronous, threaded, collected]


def middleware(depth, action, *arguments):
    if depth % 3 == 1:
        return list(map(lambda rest: middleware(rest, action, *arguments), [depth - 1]))[0]
    return middleware(depth - 1, action, *arguments) if depth else action(*arguments)


def serve(number, stop):
    chance, record, served = random.Random(number), Record(), 0
    while served < LEAST or time.monotonic() < stop:
        served += 1
        middleware(chance.randrange(12), chance.choice(ACTIONS), record, chance)


gc.disable()
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + float(sys.argv[1])
threads = [threading.Thread(target=serve, args=(i, end)) for i in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"stacks": [[stack, *figures] for stack, figures in account.items()]}), flush=True)
sys.stdin.readline()
