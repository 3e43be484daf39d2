/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts of a report: from what sites held before, or from the estimates of --budget. */
#ifndef ANALYZE_REPORT_VERDICT_H
#define ANALYZE_REPORT_VERDICT_H

#include "analyze/report.h"

/* Are there verdicts at all? */
bool report_verdict_is_known(const struct report_options *options);

/* The verdict on a row, or on a recorded site; none for samples and ended programs. */
struct verdict report_verdict_of(const struct snapshot *snapshot,
				 const struct report_options *options,
				 const struct snapshot_site *row);

/* What windows have found of a row, of which `verdict` is known. */
struct budget_estimate report_verdict_estimate(const struct report_options *options,
					       const struct snapshot_site *row,
					       const struct verdict *verdict);

/*
 * For each lifespan class, the number of the row's blocks born longer ago than its end. False if
 * unknown: for samples, ended programs, and without history.
 */
bool report_verdict_born(const struct report *report, const struct report_site *site,
			 double ret_born[LIFE_CLASSES]);

/* The verdict on all sites; `worst` is the most important word of a row. */
struct verdict report_verdict_of_all(const struct snapshot *snapshot,
				     const struct report_options *options, enum verdict_word worst);

#endif
