/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a report as text, in the order in which a reader meets them. */
#ifndef RENDER_TEXT_PARTS_H
#define RENDER_TEXT_PARTS_H

#include "render/text_style.h"

/* Is the site among those that text shows? */
bool text_shows_site(const struct report *report, const struct report_site *site);

/* The table of sites, with the rest and the totals. */
void text_sites(const struct text_writer *writer, const struct report *report,
		const struct render_options *options);
/* The totals of the processes. */
void text_processes(const struct text_writer *writer, const struct report *report);
/* The stacks of the first rows: `room` lines of the screen are left for them. */
void text_stacks(const struct text_writer *writer, const struct report *report,
		 const struct render_options *options, size_t room);
/* Print what realloc has done with blocks in use, if anything: that they grow, what they are part of, and what cannot be known of them. */
void text_realloc(const struct text_writer *writer, const struct report_site *site);
/* What was lost, the coverage and the summary. */
void text_coverage(const struct text_writer *writer, const struct report *report);

#endif
