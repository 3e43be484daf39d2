/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report has of its sites, as a profile. */
#ifndef ANALYZE_REPORT_PROFILE_H
#define ANALYZE_REPORT_PROFILE_H

#include "analyze/report.h"
#include "model/profile.h"

/*
 * Add the listed sites to `profile`, which is {0} but for its name, with their frames, and set what it has of the moment. What ended
 * programs held is in use no more, and left out. Free it with profile_free.
 */
void report_profile_fill(struct profile *profile, const struct report *report);

#endif
