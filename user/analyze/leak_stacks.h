/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of lost blocks: a report of `tracer leaks` and a snapshot of the trace that has seen who allocated them. */
#ifndef ANALYZE_LEAK_STACKS_H
#define ANALYZE_LEAK_STACKS_H

#include "analyze/report.h"
#include "model/leak_report.h"

/*
 * Give the groups of `report` the stacks of their sites, named as reports name them, and make one of those that are shown alike and
 * have one verdict. With `all` frames of interpreters' own functions are kept;
 * rules look at these, so it may be called again without. What a group has of the snapshot and the names, it
 * borrows. Groups of sites that the snapshot does not have count as of none.
 */
void leak_stacks_fill(struct leak_report *report, const struct snapshot *snapshot, bool all,
		      const struct report_names *names);

#endif
