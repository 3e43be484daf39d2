# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of known truth: lives.c in Python. Its blocks are too large for Python's own pools, so that each is one of malloc."""
import collections
import gc
import heapq
import json
import random
import select
import sys
import time

SIZE = 1000
COLLECT_S = 1  # objects with references make the collector run, of which this program has too few


def note(event):
    print(json.dumps({"event": event, "time": time.monotonic()}), flush=True)


class Program:
    def __init__(self, rate, life_s, share=0.0, entries=0):
        self.rate, self.life_s, self.share, self.entries = rate, life_s, share, entries
        self.alive, self.kept, self.cache = [], [], collections.OrderedDict()
        self.born = self.freed = 0
        self.lives = 0.0

    def site_work(self):
        self.born += 1
        return bytearray(SIZE)

    def end(self, life_s):
        self.freed += 1
        self.lives += life_s

    def birth(self, now):
        if self.entries:
            self.cache[self.born] = (now, self.site_work())
            if len(self.cache) > self.entries:
                self.end(now - self.cache.popitem(last=False)[1][0])
            if self.born == self.entries:
                note("full")
        elif random.random() < self.share:
            if not self.kept:
                note("leak")
            self.kept.append(self.site_work())
        else:
            life_s = random.random() * 2 * self.life_s
            heapq.heappush(self.alive, (now + life_s, self.born, life_s, self.site_work()))

    def end_due(self, now):
        while self.alive and self.alive[0][0] <= now:
            self.end(heapq.heappop(self.alive)[2])

    def run(self):
        due = collected = time.monotonic()
        note("begin")
        while not select.select([sys.stdin], [], [], 0.005)[0]:
            now = time.monotonic()
            while due <= now:
                self.birth(due)
                self.end_due(due)
                due += random.expovariate(self.rate)
            self.end_due(now)
            if now > collected + COLLECT_S:
                gc.collect()
                collected = now


PROGRAMS = {
    "leak": lambda: Program(300, 0.5, share=0.1),
    "cache": lambda: Program(300, 0, entries=800),
    "sessions": lambda: Program(300, 1),
}

random.seed(1)
program = PROGRAMS[sys.argv[1]]()
sys.stdin.readline()
program.run()
sys.stdin.readline()
print(json.dumps({"born": program.born, "freed": program.freed, "kept": len(program.kept),
                  "life_s": program.lives / max(program.freed, 1)}), flush=True)
sys.stdin.readline()
