/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peak of a report, and what its rows held then. */
#ifndef ANALYZE_REPORT_PEAK_H
#define ANALYZE_REPORT_PEAK_H

#include "analyze/report.h"

/* Are there moments before the report? */
bool report_peak_is_tracked(const struct report *report);
/*
 * Find the peak; the totals must be known. Unknown with without_young, since a run's history
 * includes young blocks.
 */
struct peak report_peak_find(const struct report *report);
/* What a listed site held at the report's peak. False if unknown. */
bool report_peak_of(const struct report *report, const struct report_site *site,
		    uint64_t *ret_bytes);
/* Bytes per second, from `bytes` over the report's duration. */
uint64_t report_peak_rate(const struct report *report, uint64_t bytes);

#endif
