/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presents a site of a difference as one of a report, for names and places. */
#ifndef RENDER_DIFFERENCE_VIEW_H
#define RENDER_DIFFERENCE_VIEW_H

#include "analyze/difference.h"
#include "analyze/report.h"

struct difference_view {
	struct report_site site; /* without figures */
	struct target target; /* only its name is set */
};

/* The view must not be moved. Close with difference_view_close. */
void difference_view_open(struct difference_view *view, const struct difference_site *site);
void difference_view_close(struct difference_view *view);

#endif
