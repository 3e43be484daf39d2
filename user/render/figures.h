/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of all sites that a file of another tool has, one after the other: of a report what is in use and what was allocated; of a
 * difference what has grown and what has shrunk, since such files have no numbers below 0.
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

/* Takes a site, which is open until it returns. */
typedef void figures_take(void *context, const struct report_site *site,
			  const uint64_t values[FIGURES]);

/* The sites of a report, but for those of ended programs. */
void figures_walk_report(const struct report *report, figures_take *take, void *context);
/* Those of a difference, as many as are shown, of which both figures are known. */
void figures_walk_difference(const struct difference *difference,
			     const struct render_difference_options *options, figures_take *take,
			     void *context);

/* Add to a sum, which stays at its limit. */
void figures_add(uint64_t *sum, uint64_t more);

#endif
