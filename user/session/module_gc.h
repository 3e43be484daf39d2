/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that no traced process has mapped any more: their unwind tables make room for others, their descriptors are
 * closed, and what is kept of them goes when no stack shows them.
 *
 * A site that shows frames in such a file is known by then, and resolved: whatever can still come is a stack that was taken
 * when the file was mapped, a moment ago. So mappings that ended less than GRACE_NS before events were last read, however long
 * what was read has taken, count as if they were there. A site
 * whose event was dropped must have been read from the map of sites first. The names of the frames that are shown are asked for
 * before the file is closed, and kept.
 *
 * It is done when many files have come since the last time, so that it costs each of them little; and at once when there are
 * no descriptors left or no room for tables.
 */
#ifndef SESSION_MODULE_GC_H
#define SESSION_MODULE_GC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/ended.h"
#include "session/frame_namer.h"
#include "session/process_table.h"
#include "session/scan.h"
#include "session/sites.h"

struct module_gc {
	struct process_table *processes;
	struct scan *scan;
	const struct sites *sites;
	const struct ended *ended;
	struct notices *notices;
	struct frame_namer names;
	size_t opens; /* of the list, at the last time */
	size_t step; /* how many come until the next time */
	/* When something has run out: not before, and how long that was. */
	uint64_t due_ns, wait_ns;
};

/* Is it time? */
bool module_gc_is_due(const struct module_gc *gc, uint64_t now_ns);

/* Close and forget files. All events up to `read_ns` have been read and handled. */
void module_gc_run(struct module_gc *gc, uint64_t read_ns);

/* When it has to be run though nothing happens; 0 = need not. Warns, once, if no more files can be opened. */
uint64_t module_gc_deadline(const struct module_gc *gc);

#endif
