/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is shown, whatever the user looks at. */
#ifndef TOP_CONTENT_H
#define TOP_CONTENT_H

#include "analyze/history.h"
#include "analyze/report.h"
#include "top/rows.h"

struct content {
	const struct report *report; /* NULL = there is none yet */
	const struct rows *rows; /* of it */
	const struct history *history; /* of its sites, for trends */
	uint64_t growth_ns; /* the report's growth is of so long; 0 = there was nothing before */
	size_t frames; /* shown of a stack; 0 = all */
	const char *message; /* the last one; NULL = none */
	bool is_gone; /* the row whose stack is shown holds nothing any more */
};

#endif
