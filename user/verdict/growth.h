/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The growth of rows from one report to the next. It is the sum over the row's sites, so it does
 * not depend on rank or grouping. What ended programs held does not reduce the growth of the others
 * in their row.
 */
#ifndef VERDICT_GROWTH_H
#define VERDICT_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

/* What each site held at the last report. {0} = no report yet. Free with growth_free. */
struct growth_base {
	struct growth_site *sites; /* by key; only those that held something */
	size_t count;
	bool known;
};

struct growth {
	int64_t bytes; /* change of bytes in use; in the first report, all in use */
	bool known; /* there was an earlier report */
	bool appeared; /* there was, and its sites held nothing in it */
};

/* The growth of a row, or of a recorded site. `without_young`: as the report counts it. */
struct growth growth_of(const struct growth_base *base, const struct snapshot_site *row,
			bool without_young);

/* Saturating addition. */
void growth_add(int64_t *sum, int64_t more);

/* Keep what the sites of `snapshot`, grouped or not, hold now, for the next report. */
void growth_keep(struct growth_base *base, const struct snapshot *snapshot, bool without_young);
void growth_free(struct growth_base *base);

#endif
