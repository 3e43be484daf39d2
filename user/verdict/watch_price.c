/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See watch_price.h. */
#include "verdict/watch_price.h"

#include "verdict/budget_windows.h"

/* Windows show enough by so many hits, or in so long a time. */
#define HITS_ENOUGH 500
#define TRACED_ENOUGH_NS 500000000
/* Where less of a window was the busiest thread's own, no budget is enough. */
#define LEFT_LEAST 0.05

bool watch_price_fits(uint64_t budget, uint64_t cost_ns, uint64_t cpu_ns, uint64_t time_ns)
{
	const uint64_t least_ns = time_ns / WATCH_PRICE_IDLE_PART;

	return (unsigned __int128)cost_ns * 100000 <=
	       (unsigned __int128)budget * (cpu_ns > least_ns ? cpu_ns : least_ns);
}

/* The part of a sum over windows that was taken while they recorded. */
static double watch_price_recording(const struct budget_report *report, uint64_t ns)
{
	if (!report->hits || report->edge_hits > report->hits)
		return (double)ns;
	return (double)ns * (1 - (double)report->edge_hits / (double)report->hits);
}

bool watch_price_allows_all(const struct budget_report *report, bool *ret_enough)
{
	const uint64_t time_ns = budget_windows_duration(report);
	const double traced = (double)report->traced_ns;
	double left, cost;

	*ret_enough = report->hits >= HITS_ENOUGH || report->traced_ns >= TRACED_ENOUGH_NS;
	if (!report->traced_ns || report->cost_unknown)
		return false;
	/* In a window, traps take time in which the busiest thread would have made more calls. */
	left = 1 - watch_price_recording(report, report->busiest_ns) / traced;
	if (left < LEFT_LEAST)
		return false;
	cost = watch_price_recording(report, report->cost_ns) / traced / left * (double)time_ns;
	return watch_price_fits(report->budget, (uint64_t)cost, report->cpu_ns, time_ns);
}
