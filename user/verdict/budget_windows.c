/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_windows.h. */
#include "verdict/budget_windows.h"

#include <math.h>

#include "verdict/interval.h"

/* What a trap costs is measured of a few: in a program with caches of its own it may take so much longer. */
#define COST_ERROR 1.25

uint64_t budget_windows_duration(const struct budget_report *report)
{
	return report->time_ns > report->start_ns ? report->time_ns - report->start_ns : 0;
}

double budget_windows_count(const struct budget_report *report, uint64_t time_ns)
{
	size_t next = 0;

	while (next < report->mark_count && report->marks[next].start_ns <= time_ns)
		next++;
	return next ? (double)report->marks[next - 1].windows : 0;
}

double budget_windows_traced(const struct budget_report *report, uint64_t time_ns)
{
	const struct budget_mark *marks = report->marks;
	size_t next = 0;
	double part;

	while (next < report->mark_count && marks[next].start_ns <= time_ns)
		next++;
	if (!next)
		return 0;
	if (next == report->mark_count || marks[next].windows == marks[next - 1].windows + 1)
		return (double)marks[next - 1].traced_ns;
	part = (double)(time_ns - marks[next - 1].start_ns) /
	       (double)(marks[next].start_ns - marks[next - 1].start_ns);
	return (double)marks[next - 1].traced_ns +
	       part * (double)(marks[next].traced_ns - marks[next - 1].traced_ns);
}

/* The share of hits, and so of their cost, that windows have taken while they recorded. */
static double windows_recording(const struct budget_report *report)
{
	if (!report->hits || report->edge_hits > report->hits)
		return 1;
	return 1 - (double)report->edge_hits / (double)report->hits;
}

/*
 * The figures are of all threads together. One that allocates all the time has less time of its own than others that compute, and it is
 * not known whose a block is. If there may be nothing left of that, neither is it known how much there is on average.
 */
static struct estimate windows_limit_busiest(const struct budget_report *report,
					     struct estimate own)
{
	double part =
		(double)report->busiest_ns * windows_recording(report) / (double)report->traced_ns;
	double least = fmax(1 - COST_ERROR * part, 0);

	if (least >= own.low)
		return own;
	own.low = least;
	own.value = least > 0 ? own.value : 0;
	return own;
}

/*
 * A busy target has as much CPU time in a window as outside, and traps take theirs from it; one that waits has more to give. What traps
 * have cost while probes went in and out came before and behind windows: by its part of the hits. A target that runs now
 * and then may have run in fewer windows than its share of CPU time makes one expect: the less of it there is, the less the least is.
 */
struct estimate budget_windows_own(const struct budget_report *report)
{
	double running = (double)report->cpu_ns / fmax((double)budget_windows_duration(report), 1);
	double cpu = running * (double)report->traced_ns, cost, missed = 0;
	struct estimate own = { 0, 0, 1 };

	if (report->cost_unknown || !(cpu > 0))
		return own;
	cost = (double)report->cost_ns * windows_recording(report) / cpu;
	if (running < 1)
		missed = INTERVAL_Z *
			 sqrt((1 - running) / running / fmax((double)report->window_count, 1));
	own.value = fmax(1 - cost, 0);
	own.low = fmax(1 - COST_ERROR * cost, 0) * fmax(1 - missed, 0);
	return windows_limit_busiest(report, own);
}
