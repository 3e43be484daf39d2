/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sites had allocated and freed at the intervals of a recording, in one pass: for verdicts, which need what was before. */
#ifndef RECORDING_PAST_READER_H
#define RECORDING_PAST_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/site_stats.h"
#include "recording/reader.h"

/* Who wants it. Times are CLOCK_MONOTONIC. */
struct past_sink {
	/* An interval. False = its sites are not wanted. */
	bool (*begin)(void *context, uint64_t time_ns);
	/* Each site that there is then, but those of ended programs. Its ages are not read. */
	void (*set)(void *context, uint64_t key, const struct site_stats *stats);
	void (*end)(void *context);
	void *context;
};

/* Has the recording lifespans at all? Those of former versions lack them. Errors are those of the next call. */
bool past_reader_is_known(struct reader *reader);

/* All intervals up to `last`, the oldest first. Returns 0 or a negative errno with `error` filled. */
int past_reader_read(struct reader *reader, uint64_t last, const struct past_sink *sink,
		     struct error *error);

#endif
