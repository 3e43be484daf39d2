/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot that is kept, and its latest report: rows can be regrouped and resorted at any time.
 */
#ifndef COMMAND_SHOWING_H
#define COMMAND_SHOWING_H

#include "analyze/group.h"
#include "analyze/report.h"

/* {0} = nothing yet. Free with showing_free. */
struct showing {
	struct snapshot *snapshot; /* owned, like all that follows */
	struct budget_estimates *estimates;
	struct judge *judge;
	struct snapshot part; /* the part that is grouped; shares all but its list of sites */
	struct grouped *grouped;
	struct report *report;
};

/*
 * Take ownership of a snapshot; with a budget, estimates replace the figures of windows. `rules`
 * and `names` must outlive it.
 */
void showing_take(struct showing *showing, struct snapshot *snapshot,
		  const struct frame_rules *rules, const struct report_names *names);

/*
 * Group its sites: of one process, or of all with `pid` 0. By process, each is one row. `internal`:
 * also show interpreters' own frames.
 */
void showing_group(struct showing *showing, enum group_by by, int pid, bool internal);

/* Make a report of the rows. Fills in the fields of `options` that come from the snapshot. */
void showing_rank(struct showing *showing, const struct report_options *options);

void showing_free(struct showing *showing);

#endif
