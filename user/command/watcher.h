/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a watch between its looks: settled words, the memory of the process over time, and
 * what was written.
 */
#ifndef COMMAND_WATCHER_H
#define COMMAND_WATCHER_H

#include "verdict/course.h"
#include "analyze/report.h"
#include "verdict/settled.h"
#include "model/snapshot.h"

/* {0} = no look yet. Free with watcher_free. */
struct watcher {
	struct settled settled;
	struct course course;
	uint64_t look_ns; /* duration of the last look */
	uint64_t next_ns; /* CLOCK_MONOTONIC: no look before this time, since looks take long */
	uint64_t heap_next_ns; /* the same for looks at the heap */
	bool is_asked; /* write the next report in any case */
	/* State when last written; 0 = nothing was written yet */
	uint64_t written_changes, written_ns;
};

/*
 * Call before a report is made of a snapshot, by `wanted`: examines the heaps, and lets the report
 * settle words.
 */
void watcher_prepare(struct watcher *watcher, const struct snapshot *snapshot,
		     struct report_options *wanted);

/* Should this report be written? The last one always is. */
bool watcher_wants(struct watcher *watcher, bool is_last);

/*
 * A clock that stands still while this thread waits for a CPU: a look that waits takes nothing from
 * the process.
 */
uint64_t watcher_own_ns(void);

/*
 * A look that began at `own_ns`, by that clock, is over: delay the next one so that looks take a
 * small part of the time.
 */
void watcher_rest(struct watcher *watcher, uint64_t own_ns);

/* Is the watch sure? */
bool watcher_is_over(const struct watcher *watcher);

void watcher_free(struct watcher *watcher);

#endif
