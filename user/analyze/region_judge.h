/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The region of a site, as far as its stack shows. */
#ifndef ANALYZE_REGION_JUDGE_H
#define ANALYZE_REGION_JUDGE_H

#include "analyze/frame_view.h"
#include "model/snapshot.h"

/* What the session has found out about the site; else what the functions that made the mapping are for. */
enum region region_of_site(const struct snapshot_site *site, const struct report_names *names);

#endif
