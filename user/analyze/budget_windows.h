/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long windows were before old blocks were born, and what part of that was the targets' own time. Pure. */
#ifndef ANALYZE_BUDGET_WINDOWS_H
#define ANALYZE_BUDGET_WINDOWS_H

#include "model/budget_report.h"
#include "model/estimate.h"

/* How long tracing has lasted, in nanoseconds. */
uint64_t budget_windows_duration(const struct budget_report *report);

/* The lengths of all windows that began at `time_ns` or before, in nanoseconds. Of marks that were thinned it is interpolated. */
double budget_windows_traced(const struct budget_report *report, uint64_t time_ns);

/* How many windows began at `time_ns` or before; where marks were thinned, one or a few less. */
double budget_windows_count(const struct budget_report *report, uint64_t time_ns);

/*
 * The part of the windows that was the targets' own time, and not that of traps: 0 to 1. `low` is that of the thread which traps
 * have slowed most.
 */
struct estimate budget_windows_own(const struct budget_report *report);

#endif
