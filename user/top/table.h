/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of `tracer top`: one row per site or process, as wide as the screen. Pure. */
#ifndef TOP_TABLE_H
#define TOP_TABLE_H

#include "top/content.h"
#include "top/screen.h"

/* "+12.4 KiB" a second, in at most UNITS_TEXT_MAX + 1 bytes; "-" if growth is not known. Returns `text`. */
const char *table_format_rate(int64_t bytes, uint64_t ns, char *text);

/* The style of a verdict. */
enum screen_style table_style_of(enum verdict_word word);

/* Write the titles and rows, `room` lines in total. */
void table_draw(struct screen *screen, const struct content *content, const struct view *view,
		size_t room);

#endif
