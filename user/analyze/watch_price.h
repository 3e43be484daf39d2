/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does it cost less than the budget to trace all calls? Exact verdicts are the better ones, so a watch has windows only where it does not.
 * Pure.
 */
#ifndef ANALYZE_WATCH_PRICE_H
#define ANALYZE_WATCH_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/budget_report.h"

/* A target that takes less than this part of the time counts as if it took so much: a share of next to nothing is nothing. */
#define WATCH_PRICE_IDLE_PART 4

/*
 * In `time_ns`, tracing has taken `cost_ns` of the targets' `cpu_ns`: is that within `budget`, in thousandths of a percent?
 */
bool watch_price_fits(uint64_t budget, uint64_t cost_ns, uint64_t cpu_ns, uint64_t time_ns);

/* By what windows have shown: would all calls cost less than the budget? `*ret_enough`: they have shown enough. */
bool watch_price_allows_all(const struct budget_report *report, bool *ret_enough);

#endif
