/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a text report, in reading order. */
#ifndef RENDER_TEXT_PARTS_H
#define RENDER_TEXT_PARTS_H

#include "render/text_style.h"

/* Does text show the site? */
bool text_shows_site(const struct report *report, const struct report_site *site);

/* The table of sites, with the remainder and the totals. */
void text_sites(const struct text_writer *writer, const struct report *report,
		const struct render_options *options);
/* The totals of the processes. */
void text_processes(const struct text_writer *writer, const struct report *report);
/* The stacks of the first rows; `room` screen lines are left for them. */
void text_stacks(const struct text_writer *writer, const struct report *report,
		 const struct render_options *options, size_t room);
/* The complete stack of one row, with its verdict, and with `verbose` its lifespans. */
void text_stack(const struct text_writer *writer, const struct report *report,
		const struct report_site *site);
/*
 * What realloc did to blocks in use, if anything: their growth, their container, and what is
 * unknown about them.
 */
void text_realloc(const struct text_writer *writer, const struct report_site *site);
/* The verdict of a row, if any, and that of all. */
void text_verdict_site(const struct text_writer *writer, const struct report *report,
		       const struct report_site *site);
void text_verdict(const struct text_writer *writer, const struct report *report);
/*
 * With `verbose`, the lifespans of a row's blocks: by the survival curve, and of freed blocks. See
 * site_survival_estimate for `born`.
 */
void text_lives(const struct text_writer *writer, const struct report_site *site,
		const double *born);
/* With -v: the peak, and for a row, what it held then and how fast it allocates. */
void text_peak(const struct text_writer *writer, const struct report *report);
void text_peak_site(const struct text_writer *writer, const struct report *report,
		    const struct report_site *site);
/* Write "~5.6 (5.4-5.9) MiB", or ">0.4 MiB" of a lower bound, in at most UNITS_TEXT_MAX bytes. Returns `text`. */
/* "yes", "no", "?" */
const char *text_budget_verdict(const struct budget_estimate *estimate);
const char *text_budget_rate(const struct budget_estimate *estimate, char *text);
/*
 * The estimates of a row, and their basis; with `verbose`, the ages of its blocks and the survival
 * curve.
 */
void text_budget_site(const struct text_writer *writer, const struct report *report,
		      const struct report_site *site);
/* The cost of tracing in windows, and growth without a site. */
void text_budget(const struct text_writer *writer, const struct report *report);
/* The heaps in which memory in use was determined without frees, and what is undecided. */
void text_light(const struct text_writer *writer, const struct light_report *light);
/* What of a row may have been freed. */
void text_light_site(const struct text_writer *writer, const struct report_site *site);
/* Losses, coverage and summary. */
void text_coverage(const struct text_writer *writer, const struct report *report);

#endif
