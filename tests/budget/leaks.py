# SPDX-License-Identifier: GPL-2.0-or-later
"""What Python leaks: leaks.py leak|none [REQUESTS_PER_SECOND]. Buffers that nobody takes out of their list: 10, 2 and 0.5 % of those of a site; beside a cache that
evicts, and garbage. Its answers are those of account.h."""
import json
import random
import select
import sys
import time

RATE = int(sys.argv[2]) if len(sys.argv) > 2 else 800
# Room for all that is leaked in an hour, so that it does not grow.
held, count, number = [None] * 1000000, 0, 0
leaking = sys.argv[1] == "leak"
leaks, cache = {}, {}
draw = random.Random(1)


def make(length):
    global number
    number += 1
    block = bytearray(length)
    block[:8] = number.to_bytes(8, "little")
    return block


def hold(name, block, share):
    global count
    if leaking and draw.randrange(share) == 0:
        held[count] = block
        count += 1
        counts = leaks.setdefault(name, [0, 0])
        counts[0] += 1
        counts[1] += len(block) + 1


def leak_body():
    hold("leak_body", make(1500), 10)


def leak_header():
    hold("leak_header", make(900), 50)


def leak_token():
    hold("leak_token", make(620), 200)


def cache_page():
    cache[draw.randrange(5000)] = make(800)


def garbage():
    rows = [{"id": i, "name": "row %d of %d" % (i, number), "parts": list(range(i))} for i in range(20)]
    text = json.dumps(rows)
    return len(json.loads(text)) + len(text)


def request():
    for _ in range(5):
        leak_body()
        leak_header()
        leak_token()
    cache_page()
    garbage()


def answer(requests, stall):
    print(json.dumps({"leaks": leaks, "requests": requests, "cpu_ns": time.process_time_ns(), "stall_ns": stall}), flush=True)


def main():
    global leaking
    for i in range(5000):
        cache[i] = make(800)
    requests = stall = 0
    due = time.monotonic_ns()
    print("ready", flush=True)
    while True:
        if select.select([0], [], [], 0)[0]:
            line = sys.stdin.buffer.raw.read(64)
            if not line:
                return
            leaking = leaking or line.startswith(b"l")
            answer(requests, stall)
            stall = 0
        for _ in range(RATE // 100):
            begun = time.monotonic_ns()
            request()
            stall = max(stall, time.monotonic_ns() - begun)
            requests += 1
        due += 10000000
        left = due - time.monotonic_ns()
        if left < -100000000:
            due -= left
        if left > 0:
            time.sleep(left / 1e9)


main()
