/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts about heaps of runtimes: free arenas, and pages that few objects hold. */
#ifndef ANALYZE_MEMORY_VERDICT_RUNTIME_H
#define ANALYZE_MEMORY_VERDICT_RUNTIME_H

#include "model/memory_report.h"

/* Add them. */
void memory_verdict_runtime(struct memory_report *report);

/* Of the `bytes` of a purpose, those that are free in arenas which memory_verdict_runtime has a verdict about. */
uint64_t memory_verdict_runtime_free(const struct memory_report *report, enum purpose purpose,
				     uint64_t bytes);

/* What the class takes that memory_verdict_runtime has a verdict about, of the runtime whose heap the purpose is; 0 = none. */
uint64_t memory_verdict_runtime_class(const struct memory_report *report, enum purpose purpose);

/* Once verdicts are in their order: the first one about a class goes before those that sum up what it explains a good part of. */
void memory_verdict_runtime_order(struct memory_report *report);

#endif
