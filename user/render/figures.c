/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See figures.h. */
#include "render/figures.h"

#include "render/difference_view.h"

static const struct figure figures_of_lost[FIGURES] = {
	{ "inuse_bytes", "lost, bytes", true },
	{ "inuse_objects", "lost, blocks", false },
	{ "alloc_bytes", "allocated at these sites, bytes", true },
	{ "alloc_objects", "allocated at these sites, blocks", false },
};

static const struct figure figures_in_use[FIGURES] = {
	{ "inuse_bytes", "in use, bytes", true },
	{ "inuse_objects", "in use, blocks", false },
	{ "alloc_bytes", "allocated, bytes", true },
	{ "alloc_objects", "allocated, blocks", false },
};

const struct figure *figures_of_report(const struct report *report)
{
	return report->options.is_lost ? figures_of_lost : figures_in_use;
}

const struct figure figures_of_difference[FIGURES] = {
	{ "grown_bytes", "grown, bytes", true },
	{ "grown_objects", "grown, blocks", false },
	{ "shrunk_bytes", "shrunk, bytes", true },
	{ "shrunk_objects", "shrunk, blocks", false },
};

void figures_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

void figures_walk_report(const struct report *report, figures_take *take, void *context)
{
	struct report_site site;
	size_t i;

	for (i = 0; i < report->site_count; i++) {
		const struct site_stats *stats = &report->sites[i].stats;
		const uint64_t values[FIGURES] = { site_stats_inuse_bytes(stats),
						   site_stats_inuse_objects(stats),
						   stats->alloc_bytes, stats->alloc_objects };

		if (report->sites[i].ended)
			continue;
		site = report_open_site(report, i);
		take(context, &site, values);
		report_close_site(&site);
	}
}

static uint64_t figures_above(int64_t growth)
{
	return growth > 0 ? (uint64_t)growth : 0;
}

static uint64_t figures_below(int64_t growth)
{
	return growth < 0 ? -(uint64_t)growth : 0;
}

void figures_walk_difference(const struct difference *difference,
			     const struct render_difference_options *options, figures_take *take,
			     void *context)
{
	const size_t top = options->top ? options->top : difference->site_count;
	struct difference_view view;
	size_t i;

	for (i = 0; i < difference->site_count && i < top; i++) {
		const struct difference_site *site = &difference->sites[i];
		const uint64_t values[FIGURES] = { figures_above(site->growth_bytes),
						   figures_above(site->growth_objects),
						   figures_below(site->growth_bytes),
						   figures_below(site->growth_objects) };

		if (site->word == DIFFERENCE_UNKNOWN)
			continue;
		difference_view_open(&view, site);
		take(context, &view.site, values);
		difference_view_close(&view);
	}
}
