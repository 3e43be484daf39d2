/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that the screen can show. */
#ifndef TOP_CONTENT_H
#define TOP_CONTENT_H

#include "verdict/history.h"
#include "analyze/report.h"
#include "top/rows.h"

struct content {
	const struct report *report; /* NULL = none yet */
	const struct rows *rows; /* of the report */
	const struct history *history; /* history of its sites, for trends */
	uint64_t growth_ns; /* time span of the report's growth; 0 = no earlier report */
	size_t frames; /* shown of a stack; 0 = all */
	const char *message; /* the last message; NULL = none */
	bool is_gone; /* the row whose stack is shown no longer holds anything */
};

#endif
