/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a report to a profile. */
#ifndef ANALYZE_REPORT_PROFILE_H
#define ANALYZE_REPORT_PROFILE_H

#include "analyze/report.h"
#include "model/profile.h"

/*
 * Add the listed sites, with frames, and the moment to `profile`, which is {0} except for its name.
 * Leaves out ended programs. Free with profile_free.
 */
void report_profile_fill(struct profile *profile, const struct report *report);

#endif
