/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops the process for one pass, which then sees a single moment; for the duration of the pass,
 * within the limit.
 */
#ifndef MEMORY_LEAKS_PAUSE_H
#define MEMORY_LEAKS_PAUSE_H

#include "memory/leaks_look.h"

struct leaks_pause {
	const struct leaks_wanted *wanted;
	struct image *image;
	/* Start of the stop; saved time limit and patience of the image. */
	uint64_t begin_ns, until_ns;
	const struct image_patience *patience;
	struct image_patience own; /* while it is stopped */
	bool was_stopped; /* at least one thread stopped */
};

/*
 * Is a pass in a stop possible, given `pass_ns` of the last pass and memory for `blocks` a second
 * time? If not, adds a remark to `report`.
 */
bool leaks_pause_is_allowed(const struct leaks_pause *pause, uint64_t pass_ns, uint64_t blocks,
			    struct leak_report *report);

/*
 * Stop the process; false if it does not stop in time, or everything must end now. Limits the
 * image's time to that of the stop. Always call leaks_pause_end afterwards.
 */
bool leaks_pause_begin(struct leaks_pause *pause);

/*
 * Continue the process. `is_whole`: a pass saw a single moment. Otherwise adds a remark on the
 * reason: it never stopped; or `refused` has the error of the pass, or, without one, the process
 * ran again.
 */
void leaks_pause_end(struct leaks_pause *pause, struct leak_report *report, bool is_whole,
		     const struct error *refused);

#endif
