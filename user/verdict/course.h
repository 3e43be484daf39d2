/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process over time: resident, in use and free in malloc, and in use according to
 * the trace. Distinguishes fragmentation, where free memory is not returned, from a leak. Pure.
 */
#ifndef VERDICT_COURSE_H
#define VERDICT_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/estimate.h"

#define COURSE_MOMENTS 48

/* A process at a moment, in bytes. */
struct course_moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t rss;
	uint64_t tracked; /* in use, and allocated since tracing began; with windows an estimate */
	struct estimate gained; /* of windows: the same with its limits */
	uint64_t live, free; /* in malloc: blocks in use, and resident free memory */
};

/* {0} is empty. */
struct course {
	struct course_moment moments[COURSE_MOMENTS];
	size_t count;
	uint64_t spacing_ns; /* minimum distance of two moments */
};

enum course_word {
	COURSE_UNKNOWN, /* not observed for long enough */
	COURSE_PLAIN, /* little is free */
	COURSE_FRAGMENTED, /* much is free in malloc, but does not grow */
	COURSE_FRAGMENTING, /* free memory grows, and memory in use does not keep up */
};

/* The verdict on the second half of a course. */
struct course_verdict {
	enum course_word word;
	uint64_t free; /* at the last moment */
	struct estimate rss, live, free_growth; /* bytes per second */
};

/* Add a moment. When full, drops every second one. */
void course_add(struct course *course, const struct course_moment *moment);

struct course_verdict course_judge(const struct course *course);

/* The word for machine-readable output: "fragmented"; NULL for COURSE_UNKNOWN. */
const char *course_name(enum course_word word);

#endif
