/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot that stays, and the report that was made of it last: rows may be added up and ranked in another way at any time. */
#ifndef COMMAND_SHOWING_H
#define COMMAND_SHOWING_H

#include "analyze/group.h"
#include "analyze/report.h"

/* {0} = nothing yet. Free with showing_free. */
struct showing {
	struct snapshot *snapshot; /* owned, as all that follows */
	struct budget_estimates *estimates;
	struct judge *judge;
	struct snapshot part; /* what of it is added up; shares all but its list of sites */
	struct grouped *grouped;
	struct report *report;
};

/* Take a snapshot over, in which estimates take the place of figures of windows. `rules` and `names` must outlive it. */
void showing_take(struct showing *showing, struct snapshot *snapshot,
		  const struct frame_rules *rules, const struct report_names *names);

/* Add its sites up; of one process alone, or with `pid` 0 of all. By process, each is one row. `internal`: interpreters' own frames are shown, too. */
void showing_group(struct showing *showing, enum group_by by, int pid, bool internal);

/* Make a report of the rows. What `options` has of the snapshot is filled in. */
void showing_rank(struct showing *showing, const struct report_options *options);

void showing_free(struct showing *showing);

#endif
