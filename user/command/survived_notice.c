/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See survived_notice.h. */
#include "command/survived_notice.h"

#include "base/units.h"

bool survived_notice(const struct snapshot *snapshot, struct buffer *out)
{
	char size[UNITS_TEXT_MAX];
	struct site_stats sum = { 0 };
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		const struct site_stats stats =
			site_stats_counted(&snapshot->sites[i].stats, false);

		if (!stats.gcs_known)
			site_stats_add(&sum, &stats);
	}
	if (!site_stats_hold(&sum))
		return false;
	buffer_printf(out,
		      "--survived leaves out %s of processes in which no garbage collector is "
		      "known: no Ruby 2.7 to 3.4, and no CPython 3.8 to 3.13",
		      units_format_size(site_stats_inuse_bytes(&sum), size));
	return true;
}
