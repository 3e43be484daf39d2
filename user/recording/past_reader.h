/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what sites had allocated and freed at each interval of a recording, in one pass: for
 * verdicts, which need the history.
 */
#ifndef RECORDING_PAST_READER_H
#define RECORDING_PAST_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/site_stats.h"
#include "recording/reader.h"

/* Receives the intervals. Times are CLOCK_MONOTONIC. */
struct past_sink {
	/* Begin an interval. False = skip its sites. */
	bool (*begin)(void *context, uint64_t time_ns);
	/*
	 * Called for each site of the interval, except those of ended programs. Ages are not set.
	 */
	void (*set)(void *context, uint64_t key, const struct site_stats *stats);
	void (*end)(void *context);
	void *context;
};

/*
 * Does the recording have lifespans? Those of earlier versions lack them. The next call reports
 * errors.
 */
bool past_reader_is_known(struct reader *reader);

/*
 * Read all intervals up to `last`, oldest first. Returns 0 or a negative errno with `error` filled.
 */
int past_reader_read(struct reader *reader, uint64_t last, const struct past_sink *sink,
		     struct error *error);

#endif
