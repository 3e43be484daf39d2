/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a recording below a size: takes out intervals, so that what is longer ago is in wider steps. All that is left stays exact, since
 * figures only grow and ages are births: what an interval had and the next one has not goes on to that one.
 */
#ifndef RECORDING_THINNER_H
#define RECORDING_THINNER_H

#include "recording/database.h"

/* Tables with rows of an interval, of which the first ones are always there. */
#define THINNER_TABLES 9
#define THINNER_ALWAYS 5

struct thinner {
	struct database *database;
	uint64_t limit; /* bytes; 0 = none */
	bool budget; /* there are the tables of --budget, too */
	struct query find, next, count_pages;
	struct query move[THINNER_TABLES], drop[THINNER_TABLES], pass_whole, drop_interval;
};

/* The database must outlive it, and have its tables. Close with thinner_close. */
void thinner_open(struct thinner *thinner, struct database *database, uint64_t limit, bool budget);
/* Accepts {0}. */
void thinner_close(struct thinner *thinner);

/*
 * If the file is too large, take out some intervals, but for the first, the last, and those with a mark. To be called after each
 * interval, outside of a transaction.
 */
void thinner_run(struct thinner *thinner);

#endif
