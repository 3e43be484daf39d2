/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of all sites in files of other tools, one after the other: for a report, in use and
 * allocated; for a difference, grown and shrunk, since such files have no negative numbers.
 */
#ifndef RENDER_FIGURES_H
#define RENDER_FIGURES_H

#include "analyze/difference.h"
#include "render/difference.h"
#include "render/render.h"

#define FIGURES 4

struct figure {
	const char *name; /* in one word */
	const char *title;
	bool is_bytes; /* otherwise blocks */
};

/* The first one is what readers show first. */
extern const struct figure figures_of_difference[FIGURES];
const struct figure *figures_of_report(const struct report *report);

/* Receives a site, which is open during the call. */
typedef void figures_take(void *context, const struct report_site *site,
			  const uint64_t values[FIGURES]);

/* Visit the sites of a report, except ended programs. */
void figures_walk_report(const struct report *report, figures_take *take, void *context);
/* Visit the shown sites of a difference whose figures are both known. */
void figures_walk_difference(const struct difference *difference,
			     const struct render_difference_options *options, figures_take *take,
			     void *context);

/* Saturating addition. */
void figures_add(uint64_t *sum, uint64_t more);

#endif
