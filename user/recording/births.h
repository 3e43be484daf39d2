/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the ages of a site's blocks to times of birth: these are constant while no block comes
 * or goes, so an interval in which nothing happens stores nothing.
 */
#ifndef RECORDING_BIRTHS_H
#define RECORDING_BIRTHS_H

#include <stdint.h>

#include "model/site_stats.h"

/* {0} = no block. CLOCK_MONOTONIC. */
struct births {
	uint64_t oldest_ns; /* birth of the oldest block */
	/*
	 * The sum of all births is mean_ns times the number of blocks, plus rest_ns, which is less
	 * than that number.
	 */
	int64_t mean_ns;
	uint64_t rest_ns;
};

/* The births of the blocks of `stats`, whose ages are as of `time_ns`. */
struct births births_of(const struct site_stats *stats, uint64_t time_ns);

/*
 * Set the ages of `stats` as of `time_ns`; its other figures must be set. The inverse of births_of.
 */
void births_restore(const struct births *births, uint64_t time_ns, struct site_stats *stats);

#endif
