/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects that a share of a site's blocks is never freed. Pure. */
#ifndef VERDICT_VERDICT_LEAK_H
#define VERDICT_VERDICT_LEAK_H

#include "verdict/verdict_line.h"
#include "model/estimate.h"

/*
 * Blocks that are never freed are a leak only if others are freed: at least this many, and this
 * part of all.
 */
#define VERDICT_OTHERS_MIN 10
#define VERDICT_OTHERS_PART 0.05
/*
 * With a garbage collector, remaining blocks may be garbage until the oldest has survived this many
 * major collections.
 */
#define VERDICT_COLLECTIONS_MIN 2

struct verdict_leak {
	bool found;
	bool may_be_garbage; /* would be found, but too few collections have run yet */
	struct estimate share; /* share of all blocks that are never freed; if found */
	uint64_t others_ns; /* an age by which almost all others are freed; 0 = unknown */
	uint64_t survivors; /* blocks in use twice as old */
	uint64_t wait_ns; /* how much longer to observe; 0 = unknown */
};

struct verdict_leak verdict_leak_find(const struct verdict_line *line,
				      const struct site_stats *stats);

#endif
