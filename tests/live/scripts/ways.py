# SPDX-License-Identifier: GPL-2.0-or-later
# Allocate in every way that Python code can be reached, each time with a size of its own, and write down what Python itself
# says about the stack: {"SIZE": [["FILE", LINE, "FUNCTION"], ...], ...}, innermost frame first. Functions have their
# qualified names from Python 3.11 on, which have them in their code.
import asyncio
import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import signal
import sys
import tempfile
import threading
import traceback
import weakref

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
FIRST = 700001
STACKS = {}


def note():
    size = FIRST + len(STACKS)
    frames = traceback.extract_stack()[:-1][::-1]
    names, frame = [], sys._getframe(1)
    while frame:
        names.append(getattr(frame.f_code, "co_qualname", frame.f_code.co_name))
        frame = frame.f_back
    assert len(names) == len(frames)
    STACKS[size] = [[found.filename, found.lineno, name] for found, name in zip(frames, names)]
    return size


def leak(*_):
    return libc.malloc(note())


def deep(count, function):
    return deep(count - 1, function) if count else function()


def generator():
    yield libc.malloc(note())


def delegating():
    yield from generator()


def sending():
    while True:
        value = yield
        libc.malloc(note() if value else 1)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


def repeated(times):
    def decorator(function):
        def wrapper(*arguments):
            for _ in range(times):
                function(*arguments)
        return wrapper
    return decorator


@decorated
@repeated(2)
@decorated
def many():
    libc.malloc(note())


@functools.lru_cache(maxsize=None)
def cached():
    return libc.malloc(note())


@contextlib.contextmanager
def managed():
    libc.malloc(note())
    try:
        yield
    finally:
        libc.malloc(note())


async def inner():
    await asyncio.sleep(0)
    libc.malloc(note())


async def outer():
    await inner()
    await asyncio.gather(inner(), asyncio.ensure_future(inner()))
    async for _ in ticking():
        libc.malloc(note())
    async with Asynchronous():
        await asyncio.get_running_loop().run_in_executor(None, leak)


async def ticking():
    libc.malloc(note())
    yield 1


class Asynchronous:
    async def __aenter__(self):
        libc.malloc(note())

    async def __aexit__(self, *_):
        libc.malloc(note())


class Meta(type):
    def __new__(cls, *arguments):
        libc.malloc(note())
        return super().__new__(cls, *arguments)


class Base(metaclass=Meta):
    libc.malloc(note())

    def __init__(self):
        self.size = libc.malloc(note())

    @property
    def property(self):
        return libc.malloc(note())

    @classmethod
    def on_class(cls):
        libc.malloc(note())

    @staticmethod
    def on_static():
        libc.malloc(note())

    def __getattr__(self, name):
        return libc.malloc(note())

    def __lt__(self, other):
        libc.malloc(note())
        return False

    def __call__(self):
        return self.method()

    def method(self):
        return libc.malloc(note())

    def __enter__(self):
        return libc.malloc(note())

    def __exit__(self, *_):
        libc.malloc(note())
        return True

    def __iter__(self):
        return map(leak, [1, 2])

    def __del__(self):
        libc.malloc(note())


class Derived(Base):
    class Nested:
        def method(self):
            return (lambda: libc.malloc(note()))()

    def method(self):
        return super().method()


def failing():
    try:
        raise ValueError
    except ValueError:
        libc.malloc(note())
        try:
            int("x")
        except ValueError:
            libc.malloc(note())
        finally:
            libc.malloc(note())


def grün():
    return libc.malloc(note())


def evaluated():
    eval(compile("\n\nleak(), libc.malloc(note())", "template.html", "eval"))
    exec("def made(f):\n    f()\n    libc.malloc(note())\n\n\nmade(leak)", {**globals()})
    exec(compile("class Made:\n    libc.malloc(note())\n    def m(self):\n\n        libc.malloc(note())\nMade().m()",
                 "dossier/é世.py", "exec"), {**globals()})
    # Of code that is gone soon, a table of lines that takes nearly all of the room there is for copies.
    exec(compile("def long(x):\n%s    libc.malloc(note())\nlong(1)" % ("    x = x + 1; x = x if x else leak()\n" * 40),
                 "long.py", "exec"), {**globals()})


def imported():
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write("import __main__ as m\n\nm.libc.malloc(m.note())\n\n\ndef function():\n    m.leak()\n")
        file.flush()
        specification = importlib.util.spec_from_file_location("fresh", file.name)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        module.function()


def called_back():
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def compare(left, right):
        if left == right:
            return 0
        libc.malloc(note())
        return 1
    numbers = (ctypes.c_int * 2)(2, 1)
    libc.qsort(numbers, ctypes.c_size_t(2), ctypes.c_size_t(4), kind(compare))


def signalled():
    signal.signal(signal.SIGUSR1, lambda *_: libc.malloc(note()))
    os.kill(os.getpid(), signal.SIGUSR1)


def in_threads():
    def work(count):
        deep(count, lambda: libc.malloc(note()))
        list(delegating())
    for count in range(4):
        thread = threading.Thread(target=work, args=(count,))
        thread.start()
        thread.join()


def generators():
    list(generator())
    list(delegating())
    sender = sending()
    next(sender)
    sender.send(True)
    deep(3, lambda: sender.send(True))
    list(leak() for _ in range(1))
    [leak() for _ in range(1)]
    {libc.malloc(note()): [libc.malloc(note()) for _ in range(1)] for _ in range(1)}


def objects():
    thing = Derived()
    thing.property
    thing.missing
    thing()
    Derived.on_class()
    thing.on_static()
    thing.Nested().method()
    sorted([thing, thing])
    with thing:
        raise ValueError
    list(thing)
    weakref.finalize(thing, leak)
    del thing


def called():
    deep(30, leak)
    sorted([1], key=leak)
    functools.reduce(leak, [1, 2])
    functools.partial(leak, 1)()
    list(map(leak, [1]))
    with managed():
        leak()


print("ready", flush=True)
sys.stdin.readline()
STACKS.clear()
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
    for way in (leak, cached, many, failing, grün, evaluated, imported, called_back, signalled, in_threads, generators,
                objects, called):
        way()
    asyncio.run(outer())
print(json.dumps(STACKS), flush=True)
sys.stdin.readline()
