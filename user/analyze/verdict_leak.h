/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a share of a site's blocks is never freed. Pure. */
#ifndef ANALYZE_VERDICT_LEAK_H
#define ANALYZE_VERDICT_LEAK_H

#include "analyze/verdict_line.h"
#include "model/estimate.h"

/* Blocks that are never freed are a leak if others are freed: so many of them, and this part of all blocks. */
#define VERDICT_OTHERS_MIN 10
#define VERDICT_OTHERS_PART 0.05
/* Where garbage is collected, what stays may be garbage until the oldest block has outlived so many major collections. */
#define VERDICT_COLLECTIONS_MIN 2

struct verdict_leak {
	bool found;
	bool may_be_garbage; /* it would be found but for collections that there were not yet */
	struct estimate share; /* of all blocks: those that are never freed; if found */
	uint64_t others_ns; /* an age that almost none of the others outlives; 0 = not known */
	uint64_t survivors; /* blocks in use that are twice as old */
	uint64_t wait_ns; /* after which it may be known; 0 = unknown */
};

struct verdict_leak verdict_leak_find(const struct verdict_line *line,
				      const struct site_stats *stats);

#endif
