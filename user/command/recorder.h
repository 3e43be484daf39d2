/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes snapshots to a recording, as the options ask. Does not decide when. */
#ifndef COMMAND_RECORDER_H
#define COMMAND_RECORDER_H

#include "verdict/budget_estimate.h"
#include "verdict/history.h"
#include "command/options.h"
#include "model/snapshot.h"
#include "recording/marker.h"
#include "recording/writer.h"
#include "symbolize/symbolizer.h"
#include "system/loop.h"

struct recorder {
	const struct log *log; /* not owned, like the next one */
	struct symbolizer *symbolizer; /* NULL = all frames have their names */
	char *path; /* owned */
	struct writer writer;
	uint64_t marks; /* marks set so far */
	bool is_marked; /* the next snapshot has the next mark */
	/* or this one, named by a trigger or the user; "" = none */
	char named_mark[MARKER_NAME_MAX + 1];
	struct marks times; /* times of all marked intervals; owned */
	struct history history; /* of the snapshots, for verdicts */
	/* Estimates of the current snapshot; NULL = all calls are traced. */
	struct budget_estimates *estimates;
	bool is_asked; /* it also takes the marks that other programs have requested */
	/* Readable when the user may have pressed the key that sets a mark; -1 = no terminal */
	int key_fd;
	/* Readable when another program may have requested a mark; -1 = checked at each interval */
	int asked_fd;
	struct watch on_asked, on_key;
};

/*
 * Create the recording that -o names, for these pids. Returns 0 or a negative errno with `error`
 * filled.
 */
int recorder_open(struct recorder *recorder, const struct options *options, const int *pids,
		  size_t pid_count, struct error *error);

/* Call `handle` when another program, or the user at the terminal, may have requested a mark. */
void recorder_start(struct recorder *recorder, struct loop *loop,
		    void (*handle)(void *context, struct watch *watch), void *context);
/* Call from `handle`: was a mark requested? If so, the next snapshot gets it. */
bool recorder_is_asked(struct recorder *recorder, struct loop *loop, struct watch *watch);
/* Has another program requested a mark? Call before each snapshot. */
bool recorder_sees_mark(struct recorder *recorder);

/* Give the next snapshot the mark of a trigger: "on-oom-1". */
void recorder_mark(struct recorder *recorder, const char *word, uint64_t number);

/*
 * Record a snapshot; if a mark is due, it is "m1", "m2" ... Returns 0 or a negative errno with
 * `error` filled.
 */
int recorder_write(struct recorder *recorder, struct snapshot *snapshot, struct error *error);

/*
 * Close the recording and log what it contains. Returns 0 or a negative errno with `error` filled.
 * Accepts one that is not open.
 */
int recorder_close(struct recorder *recorder, struct error *error);

#endif
