/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peak of a report, and what its rows held then. */
#ifndef ANALYZE_REPORT_PEAK_H
#define ANALYZE_REPORT_PEAK_H

#include "analyze/report.h"

/* Were moments read before that of the report? */
bool report_peak_is_tracked(const struct report *report);
/* Of a report whose totals are known. Blocks that do not count as in use are not left out of a run's history: then it is not known. */
struct peak report_peak_find(const struct report *report);
/* What a listed site held at the report's peak. False if that is not known. */
bool report_peak_of(const struct report *report, const struct report_site *site,
		    uint64_t *ret_bytes);
/* So many bytes in the time that the report covers, as bytes per second. */
uint64_t report_peak_rate(const struct report *report, uint64_t bytes);

#endif
