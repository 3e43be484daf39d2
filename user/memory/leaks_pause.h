/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stop of the process for one pass, which sees one moment then. It is as short as the pass, and never longer than is allowed. */
#ifndef MEMORY_LEAKS_PAUSE_H
#define MEMORY_LEAKS_PAUSE_H

#include "memory/leaks_look.h"

struct leaks_pause {
	const struct leaks_wanted *wanted;
	struct image *image;
	/* Since leaks_pause_begin; and what the image had before. */
	uint64_t begin_ns, until_ns;
	const struct image_patience *patience;
	struct image_patience own; /* while it is stopped */
	bool was_stopped; /* a thread of it, at least */
};

/*
 * May a pass be one in a stop that takes `pass_ns`, as the last one, and memory for `blocks` a second time? If not, `report` has a remark
 * on it.
 */
bool leaks_pause_is_allowed(const struct leaks_pause *pause, uint64_t pass_ns, uint64_t blocks,
			    struct leak_report *report);

/*
 * Stop the process; false if it does not stop in time, or all must end now. From then on there is no more time than the stop may take. Follow
 * it by leaks_pause_end in any case.
 */
bool leaks_pause_begin(struct leaks_pause *pause);

/*
 * Let the process go on. `is_whole`: a pass saw one moment. Else `report` has a remark on why none did: it never stopped; or `refused` has the
 * error of the pass, or it is no error, and the process ran again.
 */
void leaks_pause_end(struct leaks_pause *pause, struct leak_report *report, bool is_whole,
		     const struct error *refused);

#endif
