/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the table: what is traced, what it holds, how that grows, what is known of it. Pure. */
#ifndef TOP_HEADING_H
#define TOP_HEADING_H

#include "top/content.h"
#include "top/screen.h"

/* Lines that there are where the screen has room. */
#define HEADING_LINES 6

/* Write at most so many lines, those that matter most; none without a report. */
void heading_draw(struct screen *screen, const struct content *content, const struct view *view,
		  size_t lines);

#endif
