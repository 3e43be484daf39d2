/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a site held over time, from nothing at the beginning until now: as a line that verdicts are read from. Pure. */
#ifndef ANALYZE_VERDICT_LINE_H
#define ANALYZE_VERDICT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/history.h"
#include "model/site_stats.h"

/* With the beginning, and now. */
#define VERDICT_LINE_POINTS (HISTORY_POINTS + 2)

/* What is judged. */
struct verdict_input {
	const struct site_stats *stats; /* as recorded, with the young blocks */
	/* CLOCK_MONOTONIC: when tracing began, and when the stats were read. */
	uint64_t start_ns, now_ns;
	/* What was in use between; in the order of time. */
	const uint64_t *times;
	const struct history_point *points;
	size_t count;
	bool several; /* sums over sites: lifespans of different sites do not mix, so LEAK is not judged */
};

struct verdict_moment {
	double time_s; /* since the beginning */
	double bytes, objects; /* in use */
	double born; /* blocks so far */
	double freed[HISTORY_AGES]; /* of these, at such ages */
};

struct verdict_line {
	struct verdict_moment moments[VERDICT_LINE_POINTS];
	size_t count; /* at least 2 */
	size_t half; /* the first moment of the second half of the time */
};

void verdict_line_make(const struct verdict_input *input, struct verdict_line *ret_line);

/* Between two moments: as if there were a straight line. */
double verdict_line_at(const struct verdict_line *line, double time_s); /* bytes */
double verdict_line_born(const struct verdict_line *line, double time_s);

/* Bytes per second between two parts of the time, from 0 to 1. */
double verdict_line_rate(const struct verdict_line *line, double from, double to);

/* The most bytes at one of the moments [first, end); 0 if there are none. */
double verdict_line_peak(const struct verdict_line *line, size_t first, size_t end);

/* The standard deviation of the number of blocks, from `first` on. */
double verdict_line_deviation(const struct verdict_line *line, size_t first);

/* R2 of a line through the bytes in use from `first` on; below 0 = there is no such line. */
double verdict_line_r2(const struct verdict_line *line, size_t first);

#endif
