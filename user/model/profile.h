/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sites held at a moment, in words that mean the same beyond their run: names, build IDs, offsets, no process and no address.
 * Made of a recording or of a JSON report; so two of them can be compared, whatever they are of.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/table.h"
#include "model/estimate.h"
#include "model/generations.h"
#include "model/region.h"
#include "model/report_frame.h"
#include "tracer_abi.h"

/* In use = alloc - free. */
struct profile_figures {
	uint64_t alloc_bytes, alloc_objects;
	uint64_t free_bytes, free_objects;
};

struct profile_row {
	const char *program; /* the base name of its file, or of the process; NULL = unknown */
	const char *allocator, *function; /* NULL = several, or unknown */
	enum memory_source source;
	enum region region;
	bool sampled; /* its figures are an estimate */
	/* With windows: growth in bytes since the moment that the profile is compared with, and whether that is known. */
	bool since_known;
	struct estimate since;
	bool by_line; /* its frame is a line of the application */
	/* Innermost first; each is kept once in a profile. */
	const struct report_frame **frames;
	size_t frame_count;
	size_t line; /* the frame that it is named by; its number, or more than there are */
	struct profile_figures figures;
	/* Of what is in use, if the profile has marks; owned by the profile's rows. */
	struct generations births;
};

struct profile {
	const char *name; /* as the user wrote it; not owned */
	int64_t wall_time; /* seconds since the epoch */
	uint64_t duration_ns; /* of tracing until then */
	uint64_t run; /* of a recording: its run's secret, which no other one has; 0 = not known */
	uint64_t time_ns; /* with it: the moment, by the clock of `marks` */
	struct marks marks; /* by which the rows' births are counted */
	bool births_known;
	bool windows; /* its figures are estimates of --budget */
	int *pids; /* owned */
	size_t pid_count, pid_capacity;
	struct profile_row *rows; /* in no order */
	size_t row_count, row_capacity;
	struct profile_figures totals; /* of all rows, also of those that are not here */
	bool is_part; /* there are rows that are not here: the report had the largest ones only */
	struct strings strings; /* of the rows */
	struct table frames; /* struct profile_frame, chained */
	uint64_t seed; /* 0 = none yet */
};

void profile_add_pid(struct profile *profile, int pid);
/* Add a row, with copies of its texts and of `frames`, of which it has `frame_count`. */
void profile_add(struct profile *profile, const struct profile_row *row,
		 const struct report_frame *frames);
/* Accepts {0}. */
void profile_free(struct profile *profile);

/* The base name of what a process executes, or else what it is called; NULL if neither is known. */
const char *profile_program(const char *exe, const char *comm);

/* Sums stay at their limits. */
void profile_figures_add(struct profile_figures *sum, const struct profile_figures *more);
/* Not below 0, whoever has written them. */
uint64_t profile_inuse_bytes(const struct profile_figures *figures);
uint64_t profile_inuse_objects(const struct profile_figures *figures);

#endif
