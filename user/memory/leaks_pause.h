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
};

/* May a pass that takes so long be one in a stop? If not, `report` has a remark on it. */
bool leaks_pause_is_allowed(const struct leaks_pause *pause, uint64_t pass_ns,
			    struct leak_report *report);

/* Stop the process; false if it does not stop in time. From then on there is no more time than the stop may take. */
bool leaks_pause_begin(struct leaks_pause *pause);

/* In any case. `is_whole`: the pass saw one moment; else `report` has a remark that none did. */
void leaks_pause_end(struct leaks_pause *pause, struct leak_report *report, bool is_whole);

#endif
