/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the memory of targets is for that sites hold, and how much of their mappings is in memory. Looked at from outside, for each
 * report.
 */
#ifndef SESSION_REGIONS_H
#define SESSION_REGIONS_H

#include "model/mapping_set.h"
#include "session/process_table.h"
#include "session/sites.h"

struct regions {
	const struct process_table *processes;
	struct sites *sites;
	struct mapping_set *mappings;
};

/*
 * Look at what is in use now, for a limited time: what was not reached is unknown in this report. A site whose blocks were
 * found to be a region stays that.
 */
void regions_look(struct regions *regions);

#endif
