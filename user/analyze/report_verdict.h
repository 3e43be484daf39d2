/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts of a report: by what sites held before, or by what --budget has estimated. */
#ifndef ANALYZE_REPORT_VERDICT_H
#define ANALYZE_REPORT_VERDICT_H

#include "analyze/report.h"

/* Are there verdicts at all? */
bool report_verdict_is_known(const struct report_options *options);

/* Of a row, or of a site as it was recorded. None of samples, nor of what ended programs held. */
struct verdict report_verdict_of(const struct snapshot *snapshot,
				 const struct report_options *options,
				 const struct snapshot_site *row);

/*
 * How many blocks of a listed row were born longer ago than where each class of lifespans ends. False if that is not known: of samples, of what
 * ended programs held, and where moments were not kept.
 */
bool report_verdict_born(const struct report *report, const struct report_site *site,
			 double ret_born[LIFE_CLASSES]);

/* Of all sites; `worst` is the word of a row that matters most. */
struct verdict report_verdict_of_all(const struct snapshot *snapshot,
				     const struct report_options *options, enum verdict_word worst);

#endif
