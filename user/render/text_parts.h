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
/* All of one row's stack, with its verdict, and with `verbose` how long its blocks live. */
void text_stack(const struct text_writer *writer, const struct report *report,
		const struct report_site *site);
/* Print what realloc has done with blocks in use, if anything: that they grow, what they are part of, and what cannot be known of them. */
void text_realloc(const struct text_writer *writer, const struct report_site *site);
/* Print the verdict of a row, if there is one, and that of all. */
void text_verdict_site(const struct text_writer *writer, const struct report *report,
		       const struct report_site *site);
void text_verdict(const struct text_writer *writer, const struct report *report);
/* With `verbose`, print how long the row's blocks live: by its survival curve, and those that were freed. `born` as of site_survival_estimate. */
void text_lives(const struct text_writer *writer, const struct report_site *site,
		const double *born);
/* With -v: the most that was in use, and, of a row, what it held then and how fast it allocates. */
void text_peak(const struct text_writer *writer, const struct report *report);
void text_peak_site(const struct text_writer *writer, const struct report *report,
		    const struct report_site *site);
/* Write "~5.6 (5.4-5.9) MiB", or ">0.4 MiB" of a lower bound, in at most UNITS_TEXT_MAX bytes. Returns `text`. */
/* "yes", "no", "?" */
const char *text_budget_verdict(const struct budget_estimate *estimate);
const char *text_budget_rate(const struct budget_estimate *estimate, char *text);
/* Print what is estimated of a row, and from what; with `verbose`, of which ages its blocks are and all of their survival curve. */
void text_budget_site(const struct text_writer *writer, const struct report *report,
		      const struct report_site *site);
/* Print what tracing in windows has cost, and the growth that no site has. */
void text_budget(const struct text_writer *writer, const struct report *report);
/* Print where what is in use was read without frees, and what could not be decided. */
void text_light(const struct text_writer *writer, const struct light_report *light);
/* Print what of a row may have been freed. */
void text_light_site(const struct text_writer *writer, const struct report_site *site);
/* What was lost, the coverage and the summary. */
void text_coverage(const struct text_writer *writer, const struct report *report);

#endif
