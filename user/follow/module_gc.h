/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Releases files that no traced process maps any more: frees their unwind tables, closes their
 * descriptors, and drops their records once no stack shows them.
 *
 * By then, every site with frames in such a file is known and resolved. Only a stack that was taken
 * a moment ago, while the file was still mapped, can arrive later. So mappings that ended less than
 * GRACE_NS before events were last read count as present, however long reading took. Sites whose
 * event was dropped must have been read from the map of sites first. Frames that are shown are
 * named before the file is closed, and the names are kept.
 *
 * It runs after many new files, so that each pays a small share of the cost, and at once when
 * descriptors or table space run out.
 */
#ifndef FOLLOW_MODULE_GC_H
#define FOLLOW_MODULE_GC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "follow/ended.h"
#include "follow/frame_namer.h"
#include "follow/process_table.h"
#include "follow/scan.h"
#include "follow/sites.h"

struct module_gc {
	struct process_table *processes;
	struct scan *scan;
	const struct sites *sites;
	const struct ended *ended;
	struct notices *notices;
	struct frame_namer names;
	size_t opens; /* opens of the list at the last run */
	size_t step; /* new opens until the next run */
	/* After something ran out: earliest time of the next run, and the current delay. */
	uint64_t due_ns, wait_ns;
};

/* Is a run due? */
bool module_gc_is_due(const struct module_gc *gc, uint64_t now_ns);

/* Close and forget files. All events before `read_ns` must have been handled. */
void module_gc_run(struct module_gc *gc, uint64_t read_ns);

/*
 * Time of the next run even if nothing happens; 0 = none. Warns once if no more files can be
 * opened.
 */
uint64_t module_gc_deadline(const struct module_gc *gc);

#endif
