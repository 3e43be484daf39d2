/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rows.h. */
#include "top/rows.h"

#include <stdlib.h>
#include <string.h>

#include "verdict/verdict_clause.h"
#include "base/memory.h"
#include "render/text_place.h"

/* All that a row shows, as text, and the name of its process. */
static void rows_append_text(const struct report *report, size_t index, struct buffer *text)
{
	struct report_site site = report_open_site(report, index);

	text_place_append_row(text, &site, COLUMNS_ANY);
	buffer_append_string(text, " ");
	text_place_append_more(text, &site, COLUMNS_ANY);
	buffer_append_string(text, " ");
	text_place_append_via(text, &site, COLUMNS_ANY);
	buffer_printf(text, " %s %d ", verdict_clause_title(site.verdict.word), site.pid);
	columns_append_start(text, site.target->comm, COMM_MAX);
	report_close_site(&site);
}

static bool rows_fit(const struct report *report, size_t index, const struct view *view)
{
	struct buffer text = { 0 };
	bool fits;

	if (!site_stats_hold(&report->sites[index].stats) ||
	    (view->marked && report->sites[index].growth.bytes <= 0))
		return false;
	if (!view->filter[0])
		return true;
	rows_append_text(report, index, &text);
	fits = strcasestr(text.data, view->filter) != NULL;
	buffer_free(&text);
	return fits;
}

void rows_find(struct rows *rows, const struct report *report, const struct view *view)
{
	size_t i, index;

	rows->count = 0;
	for (i = 0; i < report->site_count; i++) {
		index = view->inverted ? report->site_count - 1 - i : i;
		if (!rows_fit(report, index, view))
			continue;
		rows->sites = memory_grow(rows->sites, rows->count, &rows->capacity,
					  sizeof(*rows->sites));
		rows->sites[rows->count++] = index;
	}
}

void rows_free(struct rows *rows)
{
	free(rows->sites);
	*rows = (struct rows){ 0 };
}

static uint64_t rows_id(const struct rows *rows, const struct report *report, size_t place)
{
	return report->sites[rows->sites[place]].origin->id;
}

bool rows_follow(const struct rows *rows, const struct report *report, struct view *view)
{
	const bool is_shown = view->page == VIEW_STACK;
	size_t i;

	for (i = 0; view->chosen_id && i < rows->count; i++)
		if (rows_id(rows, report, i) == view->chosen_id) {
			view->chosen = i;
			return true;
		}
	if (view->chosen_id && is_shown)
		return false;
	if (view->chosen >= rows->count)
		view->chosen = rows->count ? rows->count - 1 : 0;
	view->chosen_id =
		rows->count && (view->chosen || is_shown) ? rows_id(rows, report, view->chosen) : 0;
	return rows->count || !is_shown;
}

const struct report_site *rows_chosen(const struct rows *rows, const struct report *report,
				      const struct view *view)
{
	return view->chosen < rows->count ? &report->sites[rows->sites[view->chosen]] : NULL;
}
