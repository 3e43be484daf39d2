# SPDX-License-Identifier: GPL-2.0-or-later
"""Fills pools of all sizes, frees part of it, prints what the interpreter itself counts in its pools, and sleeps."""
import os
import sys
import time

lists = [[i] for i in range(100000)]
texts = [str(i % 10) * (i % 470) for i in range(30000)]
# Whole pools and arenas, and every other block of some.
del lists[1000:90000]
del texts[1:20000:2]
stats, write, sleep, ready = sys._debugmallocstats, os.write, time.sleep, b"ready\n"
# Nothing is allocated, and stays, from the first call on.
stats()
write(1, ready)
sleep(1000)
