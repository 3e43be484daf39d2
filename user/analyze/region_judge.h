/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The region of a site. */
#ifndef ANALYZE_REGION_JUDGE_H
#define ANALYZE_REGION_JUDGE_H

#include "analyze/frame_view.h"
#include "model/snapshot.h"

/*
 * The region that the session has found, or else the one that the functions on the stack indicate.
 */
enum region region_of_site(const struct snapshot_site *site, const struct report_names *names);

#endif
