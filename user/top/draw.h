/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole screen of `tracer top`: content, view and size in, lines out. Pure. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "top/content.h"
#include "top/screen.h"

/*
 * Draw a view on a screen of any size, with `rows` lines. Limits the view's positions to the
 * content, and sets `ret_extent` for the next key. Free with screen_free.
 */
struct screen draw_screen(const struct content *content, struct view *view, size_t columns,
			  size_t rows, bool ascii, struct view_extent *ret_extent);

#endif
