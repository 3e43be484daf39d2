/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on heaps of runtimes: free arenas, and pages held by few objects. */
#ifndef VERDICT_MEMORY_VERDICT_RUNTIME_H
#define VERDICT_MEMORY_VERDICT_RUNTIME_H

#include "model/memory_report.h"

/* Add the verdicts. */
void memory_verdict_runtime(struct memory_report *report);

/*
 * How many of the `bytes` of a purpose lie in free arenas that memory_verdict_runtime has reported.
 */
uint64_t memory_verdict_runtime_free(const struct memory_report *report, enum purpose purpose,
				     uint64_t bytes);

/*
 * Bytes of the class that memory_verdict_runtime has reported for the runtime whose heap the
 * purpose is; 0 = none.
 */
uint64_t memory_verdict_runtime_class(const struct memory_report *report, enum purpose purpose);

/*
 * Call after sorting: moves the first verdict on a class before the verdicts on totals of which it
 * explains a good part.
 */
void memory_verdict_runtime_order(struct memory_report *report);

#endif
