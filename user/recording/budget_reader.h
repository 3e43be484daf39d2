/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what windows of --budget had yielded up to an interval, whoever has written it. */
#ifndef RECORDING_BUDGET_READER_H
#define RECORDING_BUDGET_READER_H

#include "model/snapshot.h"
#include "recording/database.h"

/* Intervals of a recording: those from the last one with all figures up to the one that is wanted. */
struct budget_range {
	uint64_t first, last;
};

/* Fill snapshot->budget, which stays NULL if all calls were traced. Values that cannot be are damage. */
void budget_reader_load(struct database *database, struct budget_range range,
			struct snapshot *snapshot);

#endif
