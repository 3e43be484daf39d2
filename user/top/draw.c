/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See draw.h. */
#include "top/draw.h"

#include <string.h>

#include "render/columns.h"
#include "top/heading.h"
#include "top/page.h"
#include "top/table.h"

struct draw_key {
	const char *key, *table, *page; /* what it does there; NULL = nothing */
};

static const struct draw_key draw_keys[] = {
	{ "F1", "Help", "Back" },  { "F2", NULL, NULL /* the other rows */ },
	{ "F4", "Filter", NULL },  { "F6", "SortBy", NULL },
	{ "F7", "Mark", NULL },	   { "F8", "Freeze", "Freeze" },
	{ "F10", "Quit", "Quit" }, { "Enter", "Stack", NULL },
	{ "Esc", NULL, "Back" },
};

static const char *draw_key_name(const struct draw_key *key, const struct view *view)
{
	if (view->page != VIEW_TABLE)
		return !strcmp(key->key, "F1") && view->page != VIEW_HELP ? "Help" : key->page;
	if (!strcmp(key->key, "F2"))
		return view->by_process ? "Sites" : "Procs";
	if (!strcmp(key->key, "F8") && view->frozen)
		return "Thaw";
	if (!strcmp(key->key, "Enter") && view->by_process)
		return "Sites";
	return key->table;
}

static void draw_key_bar(struct screen *screen, const struct view *view)
{
	const char *name;
	size_t i;

	for (i = 0; i < sizeof(draw_keys) / sizeof(draw_keys[0]); i++) {
		name = draw_key_name(&draw_keys[i], view);
		if (!name)
			continue;
		screen_set(screen, SCREEN_PLAIN);
		screen_append(screen, draw_keys[i].key);
		screen_set(screen, SCREEN_KEY);
		screen_printf(screen, "%-6s", name);
		screen_set(screen, SCREEN_PLAIN);
		screen_append(screen, " ");
	}
	screen_end_line(screen);
}

static void draw_filter(struct screen *screen, const struct view *view)
{
	screen_set(screen, SCREEN_PLAIN);
	screen_append(screen, "Enter");
	screen_set(screen, SCREEN_KEY);
	screen_append(screen, "Done  ");
	screen_set(screen, SCREEN_PLAIN);
	screen_append(screen, "Esc");
	screen_set(screen, SCREEN_KEY);
	screen_append(screen, "Clear ");
	screen_append(screen, " Filter: ");
	columns_append_start(&screen->line.text, view->filter, COLUMNS_ANY);
	screen_append(screen, "_");
	screen_pad(screen, screen->columns);
	screen_end_line(screen);
}

/* The last line: a message as long as there is one, or what keys do. */
static void draw_bottom(struct screen *screen, const struct content *content,
			const struct view *view)
{
	screen_fill(screen, screen->rows - 1);
	if (view->typing) {
		draw_filter(screen, view);
	} else if (content->message) {
		screen_set(screen, SCREEN_STRONG);
		columns_append_start(&screen->line.text, content->message, screen->columns);
		screen_end_line(screen);
	} else {
		draw_key_bar(screen, view);
	}
}

/* So many lines of the heading has a screen. */
static size_t draw_heading_lines(const struct view *view, size_t rows)
{
	if (view->page != VIEW_TABLE)
		return rows >= 8;
	return rows >= 20 ? HEADING_LINES : rows >= 16 ? 4 : rows >= 10 ? 2 : rows >= 6 ? 1 : 0;
}

static void draw_page(struct screen *screen, struct screen *page, const struct view *view,
		      const struct view_extent *extent)
{
	screen_set(screen, SCREEN_TITLE);
	screen_printf(screen, " %s", page_title(view));
	if (extent->lines > extent->room)
		screen_printf(screen, "  lines %zu to %zu of %zu", view->offset + 1,
			      view->offset + extent->room < extent->lines
				      ? view->offset + extent->room
				      : extent->lines,
			      extent->lines);
	screen_pad(screen, screen->columns);
	screen_end_line(screen);
	page_move_lines(page, view->offset, extent->room, screen);
}

static void draw_table(struct screen *screen, const struct content *content,
		       const struct view *view, const struct view_extent *extent)
{
	if (content->report) {
		table_draw(screen, content, view, extent->room);
		return;
	}
	screen_set(screen, SCREEN_QUIET);
	screen_append(screen, " nothing is traced yet");
	screen_end_line(screen);
}

struct screen draw_screen(const struct content *content, struct view *view, size_t columns,
			  size_t rows, bool ascii, struct view_extent *ret_extent)
{
	const size_t heading = draw_heading_lines(view, rows);
	struct screen screen = screen_new(columns, rows, ascii), page = { 0 };
	struct view_extent extent = { .room = rows > heading + 2 ? rows - heading - 2 : 0 };
	const struct report_site *chosen;

	if (view->page != VIEW_TABLE)
		page = page_make(content, view, columns, ascii);
	extent.rows = content->report ? content->rows->count : 0;
	extent.lines = page.count;
	view_limit(view, &extent);
	chosen = content->report ? rows_chosen(content->rows, content->report, view) : NULL;
	extent.chosen_pid = chosen && view->by_process ? chosen->pid : 0;
	if (rows > 1) {
		heading_draw(&screen, content, view, heading);
		if (view->page == VIEW_TABLE)
			draw_table(&screen, content, view, &extent);
		else
			draw_page(&screen, &page, view, &extent);
	}
	if (rows)
		draw_bottom(&screen, content, view);
	screen_free(&page);
	*ret_extent = extent;
	return screen;
}
