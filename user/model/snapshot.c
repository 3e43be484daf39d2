/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a snapshot: see snapshot.h. How one is made is the business of whoever reads the counters. */
#include "model/snapshot.h"

#include <stdlib.h>

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->sites);
	free(snapshot);
}
