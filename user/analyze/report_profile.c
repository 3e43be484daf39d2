/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_profile.h. */
#include "analyze/report_profile.h"

static struct profile_figures report_profile_figures(const struct site_stats *stats)
{
	return (struct profile_figures){ stats->alloc_bytes, stats->alloc_objects,
					 stats->free_bytes, stats->free_objects };
}

static void report_profile_add(struct profile *profile, const struct report_site *site)
{
	struct profile_row row = {
		.program = profile_program(site->target->exe, site->target->comm),
		.allocator = site->allocator,
		.function = site->function,
		.source = site->source,
		.region = site->region,
		.sampled = site->sampled,
		.by_line = site->by_line,
		.frame_count = site->frame_count,
		/* With a line, that of its stack, which is not here. */
		.line = site->by_line ? 0 : site->line,
		.figures = report_profile_figures(&site->stats),
		.since_known = site->estimate.since_known,
		.since = site->estimate.since,
	};

	row.births = snapshot_births(site->origin);
	profile_add(profile, &row, site->frames);
	generations_free(&row.births);
	profile_figures_add(&profile->totals, &row.figures);
}

void report_profile_fill(struct profile *profile, const struct report *report)
{
	struct report_site site;
	size_t i;

	profile->wall_time = report->wall_time;
	profile->duration_ns = report->duration_ns;
	for (i = 0; i < report->target_count; i++)
		profile_add_pid(profile, report->targets[i]->pid);
	for (i = 0; i < report->site_count; i++) {
		if (report->sites[i].ended)
			continue;
		site = report_open_site(report, i);
		report_profile_add(profile, &site);
		report_close_site(&site);
	}
}
