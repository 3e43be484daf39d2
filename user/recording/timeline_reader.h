/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each site of a recording held at each of its intervals. */
#ifndef RECORDING_TIMELINE_READER_H
#define RECORDING_TIMELINE_READER_H

#include "model/timeline.h"
#include "recording/reader.h"

/*
 * All intervals up to `last` into an empty timeline, which is to be freed in any case. `without_young`: as reports are counted by
 * --min-age and --survived. Returns 0 or a negative errno with `error` filled.
 */
int timeline_reader_read(struct reader *reader, uint64_t last, bool without_young,
			 struct timeline *timeline, struct error *error);

#endif
