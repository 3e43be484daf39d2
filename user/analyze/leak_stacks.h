/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds stacks to lost blocks: joins a report of `tracer leaks` with a snapshot of the trace that
 * has seen their allocation.
 */
#ifndef ANALYZE_LEAK_STACKS_H
#define ANALYZE_LEAK_STACKS_H

#include "analyze/report.h"
#include "model/leak_report.h"

/*
 * Give the groups of `report` the stacks of their sites, with names, and merge groups that look
 * alike and have the same verdict. `all`: keep frames of interpreters' own functions, which rules
 * examine; may be called again without it. Groups borrow from the snapshot and the names. Groups
 * whose sites are not in the snapshot count as untraced.
 */
void leak_stacks_fill(struct leak_report *report, const struct snapshot *snapshot, bool all,
		      const struct report_names *names);

#endif
