/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the table: targets, memory in use, growth, verdicts. Pure. */
#ifndef TOP_HEADING_H
#define TOP_HEADING_H

#include "top/content.h"
#include "top/screen.h"

/* Number of lines if the screen has room. */
#define HEADING_LINES 6

/* Write at most `lines` lines, the most important ones; none without a report. */
void heading_draw(struct screen *screen, const struct content *content, const struct view *view,
		  size_t lines);

#endif
