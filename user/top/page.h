/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages shown in place of the table: the stack of a row, coverage, help. Pure. */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include "top/content.h"
#include "top/screen.h"

/* All lines of the view's page, as a screen of its own. Free with screen_free. */
struct screen page_make(const struct content *content, const struct view *view, size_t columns,
			bool ascii);

/* "Stack of row 3", for a title. */
const char *page_title(const struct view *view);

/* Move up to `count` lines of a page, starting at `from`, to the end of a screen. */
void page_move_lines(struct screen *page, size_t from, size_t count, struct screen *screen);

#endif
