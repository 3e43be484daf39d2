/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a watch keeps over its looks: words, the memory of the process, and what was written of it. */
#ifndef COMMAND_WATCHER_H
#define COMMAND_WATCHER_H

#include "analyze/course.h"
#include "analyze/report.h"
#include "analyze/settled.h"
#include "model/snapshot.h"

/* {0} = no look yet. Free with watcher_free. */
struct watcher {
	struct settled settled;
	struct course course;
	uint64_t look_ns; /* what the last look took */
	uint64_t next_ns; /* CLOCK_MONOTONIC: no look sooner, since the last ones took long */
	uint64_t heap_next_ns; /* the same of looks at the heap */
	bool is_asked; /* the next report is written in any case */
	uint64_t written_changes, written_ns; /* as of what was written last; 0 = nothing was */
};

/* Before a report is made of a snapshot, by `wanted`: look at the heaps, and have words settle in it. */
void watcher_prepare(struct watcher *watcher, const struct snapshot *snapshot,
		     struct report_options *wanted);

/* Is the report that was made to be written? The last one is. */
bool watcher_wants(struct watcher *watcher, bool is_last);

/* A look began then, and is over: the next one is to be so much later that looks take a small part of the time. */
void watcher_rest(struct watcher *watcher, uint64_t begin_ns);

/* Is it sure, or has it taken so long? 0 = any time. */
bool watcher_is_over(const struct watcher *watcher, uint64_t duration_ns);

void watcher_free(struct watcher *watcher);

#endif
