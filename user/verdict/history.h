/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each site held since tracing began: at most HISTORY_POINTS evenly spaced moments. When full,
 * every second one is dropped and the spacing doubles, so memory is bounded. Pure.
 */
#ifndef VERDICT_HISTORY_H
#define VERDICT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/snapshot.h"
#include "model/timeline.h"

#define HISTORY_POINTS 48

/* Initial distance of two moments. */
#define HISTORY_SPACING_NS 250000000

/* Ages for counting freed blocks: the starts of every second lifespan class, from 4 ms to 69 s. */
#define HISTORY_AGES 8
#define HISTORY_FIRST_CLASS 7

/* Limit of sites; further new ones have no history. */
#define HISTORY_SITES_MAX 16384

/* One site at one moment. */
struct history_point {
	uint64_t bytes, objects; /* in use */
	uint64_t born; /* blocks allocated since tracing began */
	uint32_t freed[HISTORY_AGES]; /* blocks freed at this age or older; saturating */
};

/* {0} is empty. Free with history_free. */
struct history {
	uint64_t times[HISTORY_POINTS]; /* CLOCK_MONOTONIC */
	size_t count;
	uint64_t spacing_ns;
	/* Planned distance of moments, as in a recording; 0 = HISTORY_SPACING_NS */
	uint64_t step_ns;
	struct table sites; /* by key: HISTORY_POINTS points, and the one at the peak; owned */
	/* The moment with most bytes in use, including moments dropped since. */
	uint64_t peak_ns, peak_bytes; /* CLOCK_MONOTONIC; 0 = no moment was completed */
	uint64_t last_ns; /* the last completed moment */
	uint64_t widest_ns; /* longest distance of two moments */
	bool is_full; /* some sites were dropped */
};

/*
 * Begin a moment; every site holds nothing until it is set. False if it is too early for another
 * one.
 */
bool history_begin(struct history *history, uint64_t time_ns);
/* Increase the spacing, since reading a moment took long. */
void history_slow_down(struct history *history);
/* Remove the last moment. */
void history_take_back(struct history *history);
/* Set what a site holds at the moment begun last. */
void history_set(struct history *history, uint64_t key, const struct site_stats *stats);

/* Complete the moment: all sites are set. */
void history_end(struct history *history);
/* Bytes that the sites of a row held at the peak. */
uint64_t history_peak_of(const struct history *history, const struct snapshot_site *row);

/*
 * The index of the first history age that is not below the start of a lifespan class; the last one
 * if there is none.
 */
size_t history_age(unsigned int class);
/* Convert stats to a point. */
struct history_point history_point_of(const struct site_stats *stats);

/* Is the history of all sites of a row known? New sites count: they held nothing before. */
bool history_is_known(const struct history *history, const struct snapshot_site *row);
/* Add a row's sites to `sum`: one point for each moment. */
void history_add_row(const struct history *history, const struct snapshot_site *row,
		     struct history_point sum[HISTORY_POINTS]);
/* The same for all sites, including ended programs. */
void history_add_all(const struct history *history, struct history_point sum[HISTORY_POINTS]);
/* Copy all moments into an empty timeline, by time since tracing began. */
void history_take(const struct history *history, uint64_t start_ns, struct timeline *timeline);
void history_free(struct history *history);

#endif
