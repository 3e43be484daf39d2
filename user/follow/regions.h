/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out what the memory that sites hold is for, and how much of the mappings is resident, from
 * outside and for each report.
 */
#ifndef FOLLOW_REGIONS_H
#define FOLLOW_REGIONS_H

#include "model/mapping_set.h"
#include "follow/process_table.h"
#include "follow/sites.h"

struct regions {
	const struct process_table *processes;
	struct sites *sites;
	struct mapping_set *mappings;
};

/*
 * Examine the blocks in use, for a limited time; what was not reached is unknown in this report. A
 * site keeps its region once it was found.
 */
void regions_look(struct regions *regions);

#endif
