/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each site held since tracing began: at most HISTORY_POINTS moments, evenly spread. When there is no room for another one, every
 * second is dropped, and the time between them doubles; so memory does not grow with time. Pure.
 */
#ifndef ANALYZE_HISTORY_H
#define ANALYZE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/snapshot.h"
#include "model/timeline.h"

#define HISTORY_POINTS 48

/* The time between two moments at first. */
#define HISTORY_SPACING_NS 250000000

/* Ages from which on freed blocks are counted: where every second class of lifespans begins, from 4 ms to 69 s. */
#define HISTORY_AGES 8
#define HISTORY_FIRST_CLASS 7

/* So many sites are kept: what is new beyond has no history. */
#define HISTORY_SITES_MAX 16384

/* A site at a moment. */
struct history_point {
	uint64_t bytes, objects; /* in use */
	uint64_t born; /* blocks allocated since tracing began */
	uint32_t freed[HISTORY_AGES]; /* blocks freed at these ages or later; as many, or more */
};

/* {0} = of no moment. Free with history_free. */
struct history {
	uint64_t times[HISTORY_POINTS]; /* CLOCK_MONOTONIC */
	size_t count;
	uint64_t spacing_ns;
	struct table sites; /* by key: HISTORY_POINTS points, and that of the peak; owned */
	/* Of all moments that were ended, also of those that have been dropped since: the one with most bytes in use. */
	uint64_t peak_ns, peak_bytes; /* CLOCK_MONOTONIC; 0 = none has ended */
	uint64_t last_ns; /* the one that was ended last */
	uint64_t widest_ns; /* the longest time between two */
	bool is_full; /* some sites found no room */
};

/* Begin a moment, at which no site holds anything until it is set. False if the last one is not long enough ago. */
bool history_begin(struct history *history, uint64_t time_ns);
/* A moment took so long to read that moments should be further apart. */
void history_slow_down(struct history *history);
/* Take back the last moment. */
void history_take_back(struct history *history);
/* What a site holds at the last moment that has begun. */
void history_set(struct history *history, uint64_t key, const struct site_stats *stats);

/* All sites of the last moment are set. */
void history_end(struct history *history);
/* What the sites of a row held at the peak. */
uint64_t history_peak_of(const struct history *history, const struct snapshot_site *row);

/* Of all ages, the first one that is no less than that at which a class begins; the last one if there is none. */
size_t history_age(unsigned int class);
/* As a moment has it. */
struct history_point history_point_of(const struct site_stats *stats);

/* Is the history of all sites of a row known? New sites have held nothing until now. */
bool history_is_known(const struct history *history, const struct snapshot_site *row);
/* Add a row's sites to `sum`: one point for each moment. */
void history_add_row(const struct history *history, const struct snapshot_site *row,
		     struct history_point sum[HISTORY_POINTS]);
/* The same of all sites, of those of ended programs, too. */
void history_add_all(const struct history *history, struct history_point sum[HISTORY_POINTS]);
/* All moments into an empty timeline, by the time since tracing began. */
void history_take(const struct history *history, uint64_t start_ns, struct timeline *timeline);
void history_free(struct history *history);

#endif
