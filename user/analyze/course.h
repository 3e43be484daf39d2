/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process over time: what is resident, what of that is malloc's, in use and free, and what tracing knows to be in use. By that
 * fragmentation, where memory is free and not given back, and a leak are distinguished. Pure.
 */
#ifndef ANALYZE_COURSE_H
#define ANALYZE_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/estimate.h"

#define COURSE_MOMENTS 48

/* A process at a moment, in bytes. */
struct course_moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t rss;
	uint64_t tracked; /* allocated since tracing began, and in use; of windows an estimate */
	struct estimate gained; /* of windows: the same with its limits */
	uint64_t live, free; /* in malloc: blocks in use, and what is free and in memory */
};

/* {0} = no moment. */
struct course {
	struct course_moment moments[COURSE_MOMENTS];
	size_t count;
	uint64_t spacing_ns; /* between two of them, at least */
};

enum course_word {
	COURSE_UNKNOWN, /* not looked at for long enough */
	COURSE_PLAIN, /* little is free */
	COURSE_FRAGMENTED, /* much is free in malloc, and that does not grow */
	COURSE_FRAGMENTING, /* what is free grows, and what is in use does not keep up with it */
};

/* What a course comes to, of its second half. */
struct course_verdict {
	enum course_word word;
	uint64_t free; /* the last moment's */
	struct estimate rss, live, free_growth; /* bytes per second */
};

/* Add a moment. When there is no room for another one, every second is dropped. */
void course_add(struct course *course, const struct course_moment *moment);

struct course_verdict course_judge(const struct course *course);

/* "fragmented": as programs read it; of COURSE_UNKNOWN NULL. */
const char *course_name(enum course_word word);

#endif
