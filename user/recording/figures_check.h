/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of a recording that contradict each other are damage: no writer has written them. */
#ifndef RECORDING_FIGURES_CHECK_H
#define RECORDING_FIGURES_CHECK_H

#include "model/site_stats.h"
#include "recording/database.h"

/* A row of `figures`. */
struct figures_place {
	uint64_t interval, site; /* ids */
};

/* Not more may be freed than was allocated, nor have lifespans than was freed, nor ages than is in use. */
void figures_check(struct database *database, struct figures_place place,
		   const struct site_stats *stats);

/* Ages are of a time at which the run was traced: from `start_ns` to `time_ns`. */
void figures_check_ages(struct database *database, struct figures_place place, uint64_t ages_ns,
			uint64_t start_ns, uint64_t time_ns);

/* Intervals follow each other: the one with this id, and the one before (0 = none). */
void figures_check_time(struct database *database, uint64_t interval, uint64_t time_ns,
			uint64_t before_ns);

#endif
