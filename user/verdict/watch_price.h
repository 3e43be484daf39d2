/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether tracing all calls fits the budget. Exact verdicts are better, so a watch uses
 * windows only if it does not. Pure.
 */
#ifndef VERDICT_WATCH_PRICE_H
#define VERDICT_WATCH_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/budget_report.h"

/*
 * A target that uses less than one part in this many of the time counts as if it used that much,
 * since a share of next to nothing is nothing.
 */
#define WATCH_PRICE_IDLE_PART 4

/*
 * Tracing took `cost_ns` and the targets used `cpu_ns` within `time_ns`: is that within `budget`,
 * in thousandths of a percent?
 */
bool watch_price_fits(uint64_t budget, uint64_t cost_ns, uint64_t cpu_ns, uint64_t time_ns);

/*
 * From the windows so far: would tracing all calls fit the budget? `*ret_enough`: they have shown
 * enough.
 */
bool watch_price_allows_all(const struct budget_report *report, bool *ret_enough);

#endif
