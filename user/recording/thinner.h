/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the size of a recording: removes intervals, so that older ones are further apart. The rest
 * stays exact, since figures only grow and ages are births: values of a removed interval that the
 * next one lacks move to that one.
 */
#ifndef RECORDING_THINNER_H
#define RECORDING_THINNER_H

#include "recording/database.h"

/* Number of tables with rows per interval; the first ones always exist. */
#define THINNER_TABLES 9
#define THINNER_ALWAYS 5

struct thinner {
	struct database *database;
	uint64_t limit; /* bytes; 0 = none */
	bool budget; /* the tables of --budget exist, too */
	struct query find, next, count_pages;
	struct query move[THINNER_TABLES], drop[THINNER_TABLES], pass_whole, drop_interval;
};

/* The database must outlive it, and have its tables. Close with thinner_close. */
void thinner_open(struct thinner *thinner, struct database *database, uint64_t limit, bool budget);
/* Accepts {0}. */
void thinner_close(struct thinner *thinner);

/*
 * If the file is too large, remove some intervals, except the first, the last, and those with a
 * mark. Call after each interval, outside of a transaction.
 */
void thinner_run(struct thinner *thinner);

#endif
