/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the verdict that each site had at recording time, and since when. */
#ifndef RECORDING_VERDICT_READER_H
#define RECORDING_VERDICT_READER_H

#include "base/strings.h"
#include "recording/database.h"

struct recorded_verdict {
	const char *word; /* in the strings; NULL = none */
	uint64_t since_ns; /* time_ns of the first interval that has it */
};

/*
 * Read the last struct recorded_verdict of each site, up to interval `last`, into `ret_verdicts`,
 * by site id. Empty if the recording lacks the table. Free with verdict_reader_free.
 */
void verdict_reader_load(struct database *database, uint64_t last, struct strings *strings,
			 struct table *ret_verdicts);
void verdict_reader_free(struct table *verdicts);

#endif
