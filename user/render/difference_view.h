/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A site of a difference as one of a report, as far as names and places are concerned. */
#ifndef RENDER_DIFFERENCE_VIEW_H
#define RENDER_DIFFERENCE_VIEW_H

#include "analyze/difference.h"
#include "analyze/report.h"

struct difference_view {
	struct report_site site; /* without figures */
	struct target target; /* which has a name only */
};

/* The view must stay where it is. Close with difference_view_close. */
void difference_view_open(struct difference_view *view, const struct difference_site *site);
void difference_view_close(struct difference_view *view);

#endif
