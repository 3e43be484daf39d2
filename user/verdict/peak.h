/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moment with most memory in use, and what each site held then. Counters are read periodically,
 * so it is the greatest of the moments read, and more may have been in use in between. For a run,
 * the moments are those of its history and the report itself; for a recording, its intervals.
 */
#ifndef VERDICT_PEAK_H
#define VERDICT_PEAK_H

#include "verdict/history.h"
#include "model/timeline.h"

struct peak {
	bool known;
	bool is_last; /* the peak is the report itself */
	uint64_t bytes; /* in use, ended programs excluded */
	uint64_t time_ns; /* time since tracing began */
	uint64_t spacing_ns; /* greatest distance of moments */
	size_t moment; /* index in the timeline */
};

/* At most one of the first two; NULL = none. */
struct peak_source {
	const struct history *history;
	const struct timeline *timeline;
	uint64_t start_ns; /* start of tracing, by the clock of the history */
};

/* Find the peak, including the report itself: `bytes` in use, `duration_ns` after tracing began. */
struct peak peak_find(const struct peak_source *source, uint64_t bytes, uint64_t duration_ns);
/* What a row, which holds `bytes` now, held at the peak. False if unknown. */
bool peak_of_row(const struct peak *peak, const struct peak_source *source,
		 const struct snapshot_site *row, uint64_t bytes, uint64_t *ret_bytes);

#endif
