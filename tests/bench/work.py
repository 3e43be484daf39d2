# SPDX-License-Identifier: GPL-2.0-or-later
"""What Python programs do: objects, JSON, regular expressions, sorting. Reads lines "MILLISECONDS"; answers what its
rounds cost."""
import json
import re
import sys
import time


class Node:
    def __init__(self, left, right):
        self.left, self.right = left, right


def tree(depth):
    return Node(tree(depth - 1), tree(depth - 1)) if depth else None


def turn(number):
    rows = [{"id": i, "name": "row %d of %d" % (i, number), "parts": list(range(i % 17))} for i in range(60)]
    text = json.dumps(rows)
    back = json.loads(text)
    words = re.findall(r"row (\d+) of", text)
    back.sort(key=lambda row: (len(row["parts"]), row["name"]))
    tree(6)
    return len(words) + len(back) + len(("%s," * 2000) % tuple(range(2000)))


for line in sys.stdin:
    finish = time.monotonic() + int(line) / 1000
    cpu, wall, rounds = time.process_time_ns(), time.monotonic_ns(), 0
    while time.monotonic() < finish:
        turn(rounds)
        rounds += 1
    print(json.dumps({"rounds": rounds, "cpu_ns": time.process_time_ns() - cpu,
                      "wall_ns": time.monotonic_ns() - wall}), flush=True)
