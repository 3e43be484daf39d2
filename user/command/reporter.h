/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a snapshot as a report, as the options ask. Does not decide when. */
#ifndef COMMAND_REPORTER_H
#define COMMAND_REPORTER_H

#include "command/exit_status.h"
#include "command/options.h"
#include "command/output.h"
#include "command/watcher.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"

/* Memory that a report can go to instead of an output, up to a limit. */
struct reporter_room {
	struct buffer *out;
	size_t most; /* bytes; a larger report fails with -EFBIG */
};

struct reporter {
	const struct options *options; /* not owned, like the next two */
	const struct log *log;
	struct symbolizer *symbolizer; /* of the trace; NULL = none */
	struct report_names names; /* names of frames */
	struct output output;
	/* The next report goes only here, as a first report; NULL = to `output`. Not owned. */
	const struct output *aside;
	/* Likewise, to memory; NULL = to an output. Not owned. */
	const struct reporter_room *room;
	struct growth_base base; /* what sites held at the last report */
	/* With estimates: growth is since this moment; NULL = it is not asked for; not owned. */
	const struct budget_report *before;
	/* What sites held before; with `is_judged`, rows get verdicts from it. */
	struct history history;
	bool is_judged;
	/* History of a recording; NULL = unwanted or unknown; not owned. */
	const struct timeline *timeline;
	/* The watch whose results are reported; NULL = none; not owned. */
	struct watcher *watcher;
	bool color;
	uint64_t written; /* reports */
	/* Of the last report, what --fail-on-leak and --fail-over are about. */
	enum exit_finding finding;
	bool is_last; /* the next report is the last one: it may take longer */
	struct reporter_process *processes; /* whose objects were counted before the trace; owned */
	size_t process_count, process_capacity;
	/* CLOCK_MONOTONIC: reports before the last count objects only after this time. */
	uint64_t count_from_ns;
};

/* How sites are grouped. */
enum group_by reporter_by(const struct options *options);

/* Frames shown of a stack; see struct render_options. */
size_t reporter_frames(const struct options *options);

/* Open the output for reports on these pids. Returns 0 or a negative errno with `error` filled. */
int reporter_open(struct reporter *reporter, const struct options *options, const int *pids,
		  size_t pid_count, struct error *error);

/*
 * Count the objects of a process before it is traced, within a time limit, so that the last report
 * can show which classes have grown.
 */
void reporter_count_objects(struct reporter *reporter, pid_t pid);

/* Use `snapshot` as the base of growth, as if it had been reported last. */
void reporter_set_base(struct reporter *reporter, const struct snapshot *snapshot);

/*
 * Write a report of `snapshot`; with a budget, estimates replace the figures of windows. Returns 0;
 * -EPIPE, without an error, if the reader has gone; or another negative errno.
 */
int reporter_write(struct reporter *reporter, struct snapshot *snapshot, struct error *error);

/*
 * What the last report has of what --fail-on-leak and --fail-over look for; logs that nothing could
 * be judged.
 */
enum exit_finding reporter_finding(const struct reporter *reporter);

/* The callbacks that name a session's frames. The symbolizer must outlive the session. */
struct frame_namer reporter_names(const struct reporter *reporter);

/* Returns 0, or a negative errno with `error` filled if the output could not be saved. */
int reporter_close(struct reporter *reporter, struct error *error);

#endif
