/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of windows before old blocks were born, and how much of it was the targets' own time.
 * Pure.
 */
#ifndef VERDICT_BUDGET_WINDOWS_H
#define VERDICT_BUDGET_WINDOWS_H

#include "model/budget_report.h"
#include "model/estimate.h"

/* Duration of tracing in nanoseconds. */
uint64_t budget_windows_duration(const struct budget_report *report);

/*
 * Total length, in nanoseconds, of the windows that began at `time_ns` or before; interpolated
 * where marks were thinned.
 */
double budget_windows_traced(const struct budget_report *report, uint64_t time_ns);

/* Number of windows that began at `time_ns` or before; slightly low where marks were thinned. */
double budget_windows_count(const struct budget_report *report, uint64_t time_ns);

/*
 * The fraction, 0 to 1, of the windows that the targets spent on their own work, not in traps.
 * `low` is that of the thread which traps have slowed most.
 */
struct estimate budget_windows_own(const struct budget_report *report);

#endif
