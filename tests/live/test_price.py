#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracing costs, as the tracer says it: its calls are those of the program's own log, and its parts add up. How long
anything took is not asserted."""
import json
import os
import re
import tempfile
import time

import lab

BACKENDS = ("session", "multi", "perf", "ioctl")
PAIRS = 25  # of a batch of the target
NO_CALL = r"^tracer: price: no call in the first .*; one takes .* here$"


def priced(report):
    return report["price"]["calls_per_s"] is not None


def wait_for_price(tracer):
    """The first report that has the price."""
    found = []
    lab.wait_for(lambda: found.append(tracer.report_now()) or priced(found[-1]), "the price is known")
    return found[-1]


def check_parts(price):
    """Calls in a second times their cost is the percentage, and the busiest thread is a part of it."""
    assert price["window_s"] > 0 and price["trap_ns"] > 0, price
    assert abs(price["calls_per_s"] - price["calls"] / price["window_s"]) <= 1, price
    rounding = 0.001 + price["calls_per_s"] / 1e7  # a nanosecond of each call
    assert abs(price["percent"] - price["calls_per_s"] * price["trap_ns"] / 1e7) <= rounding, price
    assert 0 <= price["busiest_percent"] <= price["percent"] + 0.001, price


def check_warning(price, messages):
    """There is a warning if most of the busiest thread's CPU time goes into being traced, and it is not next to nothing."""
    expected = price["slowdown"] is not None and price["slowdown"] > 2 and price["busiest_percent"] >= 1
    found = re.findall(r"^tracer: warning: exact tracing slows (it|process \d+) (?:about ([0-9.]+)|100) times or more; .* of its"
                       r" CPU time on being traced: .*--budget 1% finds leaks at 1 % of its CPU time$", messages, re.M)
    assert len(found) == expected, (price, messages)
    assert not found or not found[0][1] or abs(float(found[0][1]) - price["slowdown"]) <= 0.501, (price, messages)
    return found[0][0] if found else None


def calls_within(log, window_ns, begin_ns, end_ns):
    """The fewest and the most calls of the log in a window of this length that begins and ends within two moments. A batch is
    known by its end, so one may be cut on either side."""
    log = [entry for entry in log if begin_ns <= entry[0] <= end_ns]
    fewest, most, first, calls = None, 0, 0, 0
    for when, batch in [entry[:2] for entry in log] + [(end_ns, 0)]:
        while first < len(log) and log[first][0] < when - window_ns:
            calls -= log[first][1]
            first += 1
        # The fewest are in one that ends just before a batch: after a pause, it has what the pause has left of it.
        if when - window_ns >= begin_ns:
            fewest = calls if fewest is None else min(fewest, calls)
        calls += batch
        most = max(most, calls)
    return fewest or 0, most


def end_target(process):
    process.stdin.close()
    process.stdin = None
    return json.loads(lab.end(process, 0)[0])


def trace_paced(targets, *options, **how):
    """The price of targets, the fewest and most calls that it may have seen by their own logs, and how many threads it must have seen."""
    begin_ns = time.monotonic_ns()
    tracer = lab.Tracer("-j", "-p", ",".join(str(process.pid) for process in targets), "1h", *options, **how)
    price = wait_for_price(tracer)["price"]
    end_ns = time.monotonic_ns()
    tracer.stop()
    logs = [end_target(process) for process in targets]
    window = price["window_s"] * 1e9, begin_ns, end_ns
    fewest, most = calls_within(sorted(entry for log in logs for entry in log), *window)
    # Wherever the window was: a busy machine keeps a thread waiting for longer than that.
    by_thread = [[entry for entry in log if entry[2] == thread] for log in logs for thread in {entry[2] for entry in log}]
    sure = sum(calls_within(log, *window)[0] > 2 * 2 * PAIRS for log in by_thread)
    return price, fewest, most, sure, tracer.stderr()


def paced(threads):
    process = lab.start([lab.target("paced"), threads, 1000])
    lab.wait_for(lambda: len(os.listdir("/proc/%d/task" % process.pid)) > threads, "its threads run")
    return process


def check_calls(price, fewest, most, threads):
    """None at all where the log has none: a busy machine may keep the threads waiting all the time."""
    slack = 2 * 2 * PAIRS * threads
    assert fewest - slack <= price["calls"] <= most + slack, (price, fewest, most)


def check_paced(*options, threads=2, processes=1):
    targets = [paced(threads) for _ in range(processes)]
    price, fewest, most, sure, messages = trace_paced(targets, *options)
    print("# %s: %s, by the log %d to %d calls, of %d threads or more" % (" ".join(options), price, fewest, most, sure))
    check_parts(price)
    check_warning(price, messages)
    check_calls(price, fewest, most, threads * processes)
    assert sure <= price["threads"] <= threads * processes, (price, sure)
    if not price["calls"]:
        assert not price["threads"] and len(re.findall(NO_CALL, messages, re.M)) == 1, (price, messages)
        return
    found = re.findall(r"^tracer: price: ([0-9,]+) calls a second at [0-9.]+ [num]?s: .* of one core(?:, in (\d+) threads)?$",
                       messages, re.M)
    assert len(found) == 1 and int(found[0][1] or 1) == price["threads"], messages
    said = int(found[0][0].replace(",", ""))
    assert abs(said - price["calls_per_s"]) <= price["calls_per_s"] * 0.051, (messages, price)


def check_backend(name):
    lab.need_backend(name)
    check_paced("--backend", name)


def test_session():
    check_backend("session")


def test_multi():
    check_backend("multi")


def test_perf():
    check_backend("perf")


def test_ioctl():
    check_backend("ioctl")


def test_processes():
    check_paced(processes=3)


def test_return_instructions():
    """Results are read at return instructions, which cost a single step each."""
    check_paced("--no-return-probes")


def test_idle():
    """A target that makes no call: 0 calls, 0 percent, and what one would cost."""
    process = lab.start([lab.target("paced")])
    lab.wait_for(lambda: lab.is_reading(process), "the target waits")
    price, _, _, _, messages = trace_paced([process])
    assert (price["calls"], price["calls_per_s"], price["percent"], price["threads"]) == (0, 0, 0.0, 0), price
    assert price["trap_ns"] > 0, price
    assert re.search(NO_CALL, messages, re.M), messages
    assert "warning" not in messages, messages


def test_busy():
    """A thread that does nothing but allocate spends most of its CPU time on being traced. The warning goes by what was measured of it."""
    process = lab.start([lab.target("churn")])
    process.stdout.readline()
    assert warns([process]) in (None, "it")


def test_busy_of_several():
    """Of several processes, the warning has the one that it is about."""
    busy, idle = lab.start([lab.target("churn")]), lab.start([lab.target("paced")])
    busy.stdout.readline()
    assert warns([idle, busy]) in (None, "process %d" % busy.pid)


def warns(targets):
    """Of whom the tracer warns, if it does, when it is started now."""
    tracer = lab.Tracer("-j", "-p", ",".join(str(process.pid) for process in targets), "1h")
    price = wait_for_price(tracer)["price"]
    tracer.stop()
    check_parts(price)
    return check_warning(price, tracer.stderr())


def test_command():
    """The window begins with the command; one that ends within it is counted as a whole."""
    with tempfile.NamedTemporaryFile("r", prefix="tracer-report-") as file:
        status, output, errors = lab.run("-j", "-n", "0", "-o", file.name, "--", lab.target("blocks"), "1000")
        assert status == 0, errors
        account, report = lab.last_object(output), json.loads(file.read())
    price, totals = report["price"], report["totals"]
    check_parts(price)
    calls = totals["alloc_objects"] + totals["free_objects"] + report["loss"]["free_untracked"]
    print("# %s of %d calls" % (price, calls))
    assert len(re.findall(r"^tracer: price: ", errors, re.M)) == 1, errors
    assert account["site_block"][1] == 1000 <= calls, (account, totals)
    if price["window_s"] >= 0.2:
        raise lab.Skip("the command took longer than the window")
    assert price["calls"] >= calls, (price, calls)


def test_quiet():
    process = paced(1)
    tracer = lab.Tracer("-q", "-j", "-p", process.pid, "1h")
    check_parts(wait_for_price(tracer)["price"])
    tracer.stop()
    assert "price" not in tracer.stderr(), tracer.stderr()


def test_end_within_window():
    """Interrupted at once: there is one line all the same, and nothing is left behind."""
    process = paced(1)
    tracer = lab.Tracer("-j", "-p", process.pid, "1h")
    report = json.loads(tracer.stop().splitlines()[-1])
    assert priced(report), report["price"]
    assert len(re.findall(r"^tracer: price: ", tracer.stderr(), re.M)) == 1, tracer.stderr()


def test_nothing_left():
    """What has measured the traps is gone and reaped: the tracer has no children but the servers of its workers."""
    process = paced(1)
    tracer = lab.Tracer("-q", "-j", "-p", process.pid, "1h")
    wait_for_price(tracer)

    def names():
        found = set()
        for child in lab.children_of(tracer.process.pid):
            try:
                with open("/proc/%d/comm" % child, encoding="utf-8", errors="replace") as file:
                    found.add(file.read().strip())
            except (FileNotFoundError, ProcessLookupError):
                continue  # it is reaped at this moment
        return found
    lab.wait_for(lambda: tracer.report_now() and names() == {"tracer-server"}, "it is reaped")
    tracer.stop()


def test_refused():
    """Where the traps cannot be measured, the calls are said all the same, and why there is no more."""
    price, fewest, most, _, messages = trace_paced([paced(1)], under=(lab.target("sandboxed"), "close_range"))
    check_calls(price, fewest, most, 1)
    assert price["percent"] is None, price
    assert "what a trap costs here could not be measured: Operation not permitted" in messages, messages


def test_plan():
    """`tracer plan` says what a trap costs here."""
    process = lab.start([lab.target("paced")])
    status, output, errors = lab.run("plan", "-p", process.pid)
    assert status == 0, errors
    assert re.search(r"^What a trap costs here \((session|multi|perf|ioctl) probes\)", output, re.M), output
    assert re.search(r"^  at an emulated instruction +[0-9,]+ ns$", output, re.M), output
    assert re.search(r"^  at the return, where that is probed +[0-9,]+ ns$", output, re.M), output


lab.run_tests()
