/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads which verdict each site had when the recording was made, and since when. */
#ifndef RECORDING_VERDICT_READER_H
#define RECORDING_VERDICT_READER_H

#include "base/strings.h"
#include "recording/database.h"

struct recorded_verdict {
	const char *word; /* of the strings; NULL = none */
	uint64_t since_ns; /* time_ns of the first interval that has it */
};

/*
 * Put the last struct recorded_verdict of each site up to the interval `last` into `ret_verdicts`, by the id of the site. None if the recording
 * lacks the table. Free with verdict_reader_free.
 */
void verdict_reader_load(struct database *database, uint64_t last, struct strings *strings,
			 struct table *ret_verdicts);
void verdict_reader_free(struct table *verdicts);

#endif
