/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sites held at a moment, in terms that remain valid beyond the run: names, build IDs and
 * offsets, no process and no address. Made from a recording or a JSON report, so that any two can
 * be compared.
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
	const char *program; /* base name of its file, or process name; NULL = unknown */
	const char *allocator, *function; /* NULL = several, or unknown */
	enum memory_source source;
	enum region region;
	bool sampled; /* its figures are an estimate */
	/* With windows: growth in bytes since the moment that the profile is compared with, and whether that is known. */
	bool since_known;
	struct estimate since;
	bool by_line; /* its frame is a line of the application */
	/* Innermost first; each frame is kept once per profile. */
	const struct report_frame **frames;
	size_t frame_count;
	size_t line; /* index of the frame that names it; out of range = none */
	struct profile_figures figures;
	/* Births of blocks in use, if the profile has marks; owned by the profile's rows. */
	struct generations births;
};

struct profile {
	const char *name; /* as the user wrote it; not owned */
	int64_t wall_time; /* seconds since the epoch */
	uint64_t duration_ns; /* tracing time until then */
	uint64_t run; /* recording: unique secret of its run; 0 = unknown */
	uint64_t time_ns; /* the moment, by the clock of `marks`; with `run` */
	struct marks marks; /* the marks that births refer to */
	bool births_known;
	bool windows; /* its figures are estimates of --budget */
	int *pids; /* owned */
	size_t pid_count, pid_capacity;
	struct profile_row *rows; /* in no order */
	size_t row_count, row_capacity;
	struct profile_figures totals; /* of all rows, including missing ones */
	bool is_part; /* rows are missing: the report listed only the largest */
	struct strings strings; /* strings of the rows */
	struct table frames; /* struct profile_frame, chained */
	uint64_t seed; /* 0 = none yet */
};

void profile_add_pid(struct profile *profile, int pid);
/* Add a row; copies its texts and its `frame_count` `frames`. */
void profile_add(struct profile *profile, const struct profile_row *row,
		 const struct report_frame *frames);
/* Accepts {0}. */
void profile_free(struct profile *profile);

/* The base name of a process's executable, or else its name; NULL if both are unknown. */
const char *profile_program(const char *exe, const char *comm);

/* Saturating. */
void profile_figures_add(struct profile_figures *sum, const struct profile_figures *more);
/* Never negative, even for untrusted figures. */
uint64_t profile_inuse_bytes(const struct profile_figures *figures);
uint64_t profile_inuse_objects(const struct profile_figures *figures);

#endif
