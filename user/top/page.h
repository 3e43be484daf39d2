/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown in place of the table: the stack of a row, what was counted, the keys. Pure. */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include "top/content.h"
#include "top/screen.h"

/* All lines of the view's page, however many: a screen of its own. Free with screen_free. */
struct screen page_make(const struct content *content, const struct view *view, size_t columns,
			bool ascii);

/* "Stack of row 3", for a title. */
const char *page_title(const struct view *view);

/* Move lines of a page to the end of a screen, from one on, at most so many. */
void page_move_lines(struct screen *page, size_t from, size_t count, struct screen *screen);

#endif
