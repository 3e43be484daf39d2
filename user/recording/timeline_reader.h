/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what each site of a recording held at each interval. */
#ifndef RECORDING_TIMELINE_READER_H
#define RECORDING_TIMELINE_READER_H

#include "model/timeline.h"
#include "recording/reader.h"

/*
 * Read all intervals up to `last` into an empty timeline, which must be freed in either case.
 * `without_young`: count as reports do with --min-age and --survived. Returns 0 or a negative errno
 * with `error` filled.
 */
int timeline_reader_read(struct reader *reader, uint64_t last, bool without_young,
			 struct timeline *timeline, struct error *error);

#endif
