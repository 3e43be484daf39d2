/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a site held over time, from nothing at the start until now: the input of verdicts. Pure. */
#ifndef VERDICT_VERDICT_LINE_H
#define VERDICT_VERDICT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict/history.h"
#include "model/site_stats.h"

/* History points plus the start and now. */
#define VERDICT_LINE_POINTS (HISTORY_POINTS + 2)

/* The site to judge. */
struct verdict_input {
	const struct site_stats *stats; /* as recorded, including young blocks */
	/* CLOCK_MONOTONIC: start of tracing, and when the stats were read. */
	uint64_t start_ns, now_ns;
	/* The history in between; in time order. */
	const uint64_t *times;
	const struct history_point *points;
	size_t count;
	uint64_t step_ns; /* planned distance of these; 0 = HISTORY_SPACING_NS */
	bool several; /* a sum of sites: LEAK is not judged, since their lifespans do not mix */
};

struct verdict_moment {
	double time_s; /* since the start */
	double bytes, objects; /* in use */
	double born; /* blocks born so far */
	double freed[HISTORY_AGES]; /* of these, freed at or above each age */
};

struct verdict_line {
	struct verdict_moment moments[VERDICT_LINE_POINTS];
	size_t count; /* at least 2 */
	size_t half; /* index of the first moment in the second half of the time */
};

void verdict_line_make(const struct verdict_input *input, struct verdict_line *ret_line);

/* Interpolate linearly between moments. */
double verdict_line_at(const struct verdict_line *line, double time_s); /* bytes */
double verdict_line_born(const struct verdict_line *line, double time_s);

/* Growth in bytes per second between two fractions, 0 to 1, of the time. */
double verdict_line_rate(const struct verdict_line *line, double from, double to);

/* The longest distance of two moments, in seconds. */
double verdict_line_widest_s(const struct verdict_line *line);

/* The maximum of bytes in the moments [first, end); 0 if there are none. */
double verdict_line_peak(const struct verdict_line *line, size_t first, size_t end);

/* The standard deviation of the number of blocks, from `first` on. */
double verdict_line_deviation(const struct verdict_line *line, size_t first);

/* R2 of a line fitted to the bytes in use from `first` on; negative = no such line. */
double verdict_line_r2(const struct verdict_line *line, size_t first);

#endif
