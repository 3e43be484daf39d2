/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moment at which most was in use, and what each site held then. Counters are read now and then, so it is the greatest of the moments
 * that were read: what was in use between two of them may have been more. Of a run they are those of its history, and that of the report;
 * of a recording its intervals.
 */
#ifndef ANALYZE_PEAK_H
#define ANALYZE_PEAK_H

#include "analyze/history.h"
#include "model/timeline.h"

struct peak {
	bool known;
	bool is_last; /* it is the moment of the report */
	uint64_t bytes; /* in use, but for what ended programs held */
	uint64_t time_ns; /* since tracing began */
	uint64_t spacing_ns; /* moments were no further apart */
	size_t moment; /* of the timeline */
};

/* Of one of both, if there is any; NULL = none. */
struct peak_source {
	const struct history *history;
	const struct timeline *timeline;
	uint64_t start_ns; /* when tracing began, by the clock of the history */
};

/* With what is in use at the moment of the report, so long after tracing began. */
struct peak peak_find(const struct peak_source *source, uint64_t bytes, uint64_t duration_ns);
/* What a row held then, of which `bytes` are in use now. False if that is not known. */
bool peak_of_row(const struct peak *peak, const struct peak_source *source,
		 const struct snapshot_site *row, uint64_t bytes, uint64_t *ret_bytes);

#endif
