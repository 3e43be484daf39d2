/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See showing.h. */
#include "command/showing.h"

#include <stdlib.h>

#include "base/memory.h"

static void showing_drop_report(struct showing *showing)
{
	report_free(showing->report);
	showing->report = NULL;
}

static void showing_drop_group(struct showing *showing)
{
	showing_drop_report(showing);
	group_free(showing->grouped);
	free(showing->part.sites);
	showing->grouped = NULL;
	showing->part.sites = NULL;
}

void showing_free(struct showing *showing)
{
	showing_drop_group(showing);
	judge_free(showing->judge);
	budget_estimates_free(showing->estimates);
	snapshot_free(showing->snapshot);
	*showing = (struct showing){ 0 };
}

void showing_take(struct showing *showing, struct snapshot *snapshot,
		  const struct frame_rules *rules, const struct report_names *names)
{
	showing_free(showing);
	showing->snapshot = snapshot;
	showing->estimates = budget_estimates_new(snapshot->budget);
	if (showing->estimates)
		budget_estimates_apply(showing->estimates, snapshot);
	showing->judge = judge_new(snapshot, rules, names);
}

static void showing_add(struct showing *showing, const struct snapshot_site *site, bool by_process)
{
	struct snapshot_site *added = &showing->part.sites[showing->part.site_count++];

	*added = *site;
	/* What a process has mapped, and what it has in heaps, would be two rows. */
	if (by_process)
		added->source = SOURCE_HEAP;
}

static const struct snapshot *showing_part(struct showing *showing, bool by_process, int pid)
{
	const struct snapshot *whole = showing->snapshot;
	size_t i;

	if (!pid && !by_process)
		return whole;
	showing->part = *whole;
	showing->part.sites = memory_alloc(whole->site_count, sizeof(*whole->sites));
	showing->part.site_count = 0;
	for (i = 0; i < whole->site_count; i++)
		if (!pid || whole->sites[i].target->pid == pid)
			showing_add(showing, &whole->sites[i], by_process);
	return &showing->part;
}

void showing_group(struct showing *showing, enum group_by by, int pid, bool internal)
{
	showing_drop_group(showing);
	showing->grouped = group_build(showing_part(showing, by == GROUP_BY_PROCESS, pid), by,
				       internal, showing->judge);
}

void showing_rank(struct showing *showing, const struct report_options *options)
{
	struct report_options wanted = *options;

	showing_drop_report(showing);
	wanted.estimates = showing->estimates;
	wanted.light = showing->snapshot->light;
	wanted.judge = showing->judge;
	showing->report =
		report_build(&showing->grouped->snapshot, &wanted, judge_names(showing->judge));
}
