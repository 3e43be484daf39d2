/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ages of a site's blocks as times of birth: these stay as they are while no block comes or goes, so nothing has to be stored
 * for an interval in which nothing has happened.
 */
#ifndef RECORDING_BIRTHS_H
#define RECORDING_BIRTHS_H

#include <stdint.h>

#include "model/site_stats.h"

/* {0} = no block is counted. CLOCK_MONOTONIC. */
struct births {
	uint64_t oldest_ns; /* of the oldest block */
	/* The sum of all births is mean_ns times the number of blocks, and rest_ns, which is less than that number. */
	int64_t mean_ns;
	uint64_t rest_ns;
};

/* Of the blocks of `stats`, whose ages are as of `time_ns`. */
struct births births_of(const struct site_stats *stats, uint64_t time_ns);

/* Set the ages of `stats`, whose other figures are there, as of `time_ns`: the inverse of births_of. */
void births_restore(const struct births *births, uint64_t time_ns, struct site_stats *stats);

#endif
