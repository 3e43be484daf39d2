/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the results of --budget windows as of an interval, from an untrusted file. */
#ifndef RECORDING_BUDGET_READER_H
#define RECORDING_BUDGET_READER_H

#include "model/snapshot.h"
#include "recording/database.h"

/* A range of intervals: from the last complete one to the wanted one. */
struct budget_range {
	uint64_t first, last;
};

/*
 * Fill snapshot->budget, which stays NULL if all calls were traced. Impossible values are damage.
 */
void budget_reader_load(struct database *database, struct budget_range range,
			struct snapshot *snapshot);

#endif
