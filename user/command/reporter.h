/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a snapshot to the bytes of a report, as the options ask; not when. */
#ifndef COMMAND_REPORTER_H
#define COMMAND_REPORTER_H

#include "command/options.h"
#include "command/output.h"
#include "command/watcher.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"

/* Where a report may go instead of to an output: memory, up to a limit. */
struct reporter_room {
	struct buffer *out;
	size_t most; /* bytes; a larger report fails with -EFBIG */
};

struct reporter {
	const struct options *options; /* not owned, and neither are the next two */
	const struct log *log;
	struct symbolizer *symbolizer; /* of what is traced; NULL = nothing is */
	struct report_names names; /* of frames */
	struct output output;
	/* The next report goes here alone, as the first one; NULL = to `output`. Not owned. */
	const struct output *aside;
	/* The same: to memory; NULL = to an output. Not owned. */
	const struct reporter_room *room;
	struct growth_base base; /* what sites held at the last report */
	/* With estimates: growth is since this moment; NULL = it is not asked for; not owned. */
	const struct budget_report *before;
	/* What sites held before; with `is_judged`, rows have verdicts by it. */
	struct history history;
	bool is_judged;
	/* Of a recording; NULL = not wanted, or not known; not owned. */
	const struct timeline *timeline;
	/* Reports are what a watch has come to; NULL = they are not; not owned. */
	struct watcher *watcher;
	bool color;
	uint64_t written; /* reports */
	uint64_t inuse_bytes; /* of the last report: all that was in use */
	size_t leaks; /* rows of the last report that are leaks */
	bool is_last; /* so is the next one: it may take a little longer */
	struct reporter_process *processes; /* whose objects were counted before; owned */
	size_t process_count, process_capacity;
	/* CLOCK_MONOTONIC: a report that is not the last counts objects from then on. */
	uint64_t count_from_ns;
};

/* How sites are added up: what is not shown makes no difference. */
enum group_by reporter_by(const struct options *options);

/* Frames shown of a stack, as struct render_options has them. */
size_t reporter_frames(const struct options *options);

/* Open the output for reports on these pids. Returns 0 or a negative errno with `error` filled. */
int reporter_open(struct reporter *reporter, const struct options *options, const int *pids,
		  size_t pid_count, struct error *error);

/* Count the objects of a process that will be traced, so that the last report has which classes have grown. For a limited time. */
void reporter_count_objects(struct reporter *reporter, pid_t pid);

/* Growth is since `snapshot`, as if that had been reported last. It must outlive all reports. */
void reporter_set_base(struct reporter *reporter, const struct snapshot *snapshot);

/*
 * Write a report of `snapshot`, in which estimates take the place of figures of windows. Returns 0; -EPIPE, without an error, if there is
 * no reader; or another negative errno.
 */
int reporter_write(struct reporter *reporter, struct snapshot *snapshot, struct error *error);

/* What names a session's frames. The symbolizer must outlive the session. */
struct frame_namer reporter_names(const struct reporter *reporter);

/* Returns 0, or a negative errno with `error` filled if the output could not be kept. */
int reporter_close(struct reporter *reporter, struct error *error);

#endif
