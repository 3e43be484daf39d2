# SPDX-License-Identifier: GPL-2.0-or-later
# Stands still in many kinds of Python frames, after it has said which: for each thread "stack", then
# "file:line:function" of its frames, the innermost first.
import functools
import queue
import sys
import threading

lock = threading.Lock()
pending = queue.Queue()
go = threading.Lock()
go.acquire()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def describe(frame):
    lines = ["stack"]
    while frame:
        lines.append("%s:%s:%s" % (frame.f_code.co_filename, frame.f_lineno or 0, name_of(frame.f_code)))
        frame = frame.f_back
    return "\n".join(lines) + "\n"


# Prints and waits on one line, so that the line is still right afterwards.
def tell():
    f = sys._getframe(); lock.acquire(); sys.stdout.write(describe(f)); lock.release(); pending.put(1); go.acquire()


class Service:
    def method(self, x):
        return [self.inner(y) for y in [x]]

    @staticmethod
    def inner(x):
        try:
            raise ValueError("on purpose")
        except ValueError:
            return (lambda z: z())(x)

    @functools.lru_cache(maxsize=None)
    def cached(self, x):
        return x()

    def __getattr__(self, name):
        return tell()


def generator(x):
    yield 1
    yield x()


def delegating(x):
    before = 1
    yield from generator(x)
    return before


def run_generator(x):
    for _ in delegating(x):
        pass


def deep(n, x):
    if n:
        return deep(n - 1, x)
    return x()


def evaluated(x):
    # The code objects live only as long as the calls.
    return eval(compile("\n\n(x(\n  ))", "made/up/template.html", "eval"), {"x": x})


def executed(x):
    exec("def f(x):\n    a = 1\n    x()\n    return a\nf(x)\n", {"x": x})


def sorted_by(x):
    return sorted([1, 2], key=lambda y: x())


def multiline(x):
    return max(
        1,
        2,
        x(
        ) or 3,
    )


def unicode_näme_λ(x):
    return x()


async def coroutine(x):
    return x()


async def awaiting(x):
    return await coroutine(x)


def run_coroutine(x):
    try:
        awaiting(x).send(None)
    except StopIteration:
        pass


LONG = ["def long_function(x):"] + ["    a%d = (x, x); b%d = a%d[0]" % (i, i, i) for i in range(400)]
LONG += ["", ""] * 200 + ["    x()", "    return a1", ""]
exec(compile("\n".join(LONG), "long.py", "exec"))

jobs = [
    lambda: Service().method(tell),
    lambda: Service().cached(tell),
    lambda: Service().no_such_attribute,
    lambda: run_generator(tell),
    lambda: deep(50, tell),
    lambda: evaluated(tell),
    lambda: executed(tell),
    lambda: sorted_by(tell),
    lambda: multiline(tell),
    lambda: unicode_näme_λ(tell),
    lambda: run_coroutine(tell),
    lambda: long_function(tell),
]
for job in jobs:
    threading.Thread(target=job, daemon=True).start()
for _ in jobs:
    pending.get()


def main_part():
    sys.stdout.write(describe(sys._getframe()) + "ready\n"); sys.stdout.flush(); sys.stdin.read()


main_part()
