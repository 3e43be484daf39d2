/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See view.h. */
#include "top/view.h"

#include <string.h>

#include "base/text.h"

/* In the order of the columns, and the letters that choose them. */
static const struct view_sort {
	enum report_sort sort;
	char letter;
} view_sorts[] = {
	{ SORT_GROWTH, 'G' }, { SORT_INUSE, 'M' }, { SORT_INUSE_OBJECTS, 'B' },
	{ SORT_AGE, 'A' },    { SORT_LEAK, 'V' },
};

#define SORTS (sizeof(view_sorts) / sizeof(view_sorts[0]))

struct view view_new(enum report_sort sort, bool has_verdicts)
{
	struct view view = { .sort = sort, .has_verdicts = has_verdicts };

	if (!view_can_sort(&view, sort))
		view.sort = SORT_INUSE;
	return view;
}

bool view_can_sort(const struct view *view, enum report_sort sort)
{
	size_t i;

	for (i = 0; i < SORTS && view_sorts[i].sort != sort; i++)
		;
	return i < SORTS && (sort != SORT_LEAK || view->has_verdicts);
}

/* Places */

static size_t view_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

void view_limit(struct view *view, const struct view_extent *extent)
{
	const size_t room = extent->room ? extent->room : 1;

	view->chosen = view_least(view->chosen, extent->rows ? extent->rows - 1 : 0);
	view->first = view_least(view->first, extent->rows > room ? extent->rows - room : 0);
	if (view->chosen < view->first)
		view->first = view->chosen;
	if (view->chosen >= view->first + room)
		view->first = view->chosen - room + 1;
	view->offset = view_least(view->offset, extent->lines > room ? extent->lines - room : 0);
}

/* Where a key leads to from a place. False if it is no such key. */
static bool view_move(size_t *place, size_t last, size_t page, uint32_t key)
{
	switch (key) {
	case VIEW_KEY_UP:
	case 'k':
		*place -= *place > 0;
		return true;
	case VIEW_KEY_DOWN:
	case 'j':
		*place += *place < last;
		return true;
	case VIEW_KEY_PAGE_UP:
		*place -= view_least(page, *place);
		return true;
	case VIEW_KEY_PAGE_DOWN:
		*place = view_least(*place + page, last);
		return true;
	case VIEW_KEY_HOME:
		*place = 0;
		return true;
	case VIEW_KEY_END:
		*place = last;
		return true;
	default:
		return false;
	}
}

static unsigned int view_open(struct view *view, enum view_page page)
{
	view->page = page;
	view->offset = 0;
	return VIEW_DRAW;
}

/* The filter */

static unsigned int view_type_rune(struct view *view, uint32_t key)
{
	char *end = view->filter + strlen(view->filter);
	const size_t room = sizeof(view->filter) - (size_t)(end - view->filter);

	if (key >= 0x110000 || room <= 4 || text_rune_is_unsafe(key))
		return 0;
	if (key < 0x80) {
		*end++ = (char)key;
	} else if (key < 0x800) {
		*end++ = (char)(0xc0 | key >> 6);
		*end++ = (char)(0x80 | (key & 0x3f));
	} else if (key < 0x10000) {
		*end++ = (char)(0xe0 | key >> 12);
		*end++ = (char)(0x80 | (key >> 6 & 0x3f));
		*end++ = (char)(0x80 | (key & 0x3f));
	} else {
		*end++ = (char)(0xf0 | key >> 18);
		*end++ = (char)(0x80 | (key >> 12 & 0x3f));
		*end++ = (char)(0x80 | (key >> 6 & 0x3f));
		*end++ = (char)(0x80 | (key & 0x3f));
	}
	*end = '\0';
	return VIEW_DRAW | VIEW_RANK;
}

static void view_untype_rune(struct view *view)
{
	char *end = view->filter + strlen(view->filter);

	while (end > view->filter && (*--end & 0xc0) == 0x80)
		;
	*end = '\0';
}

static unsigned int view_type(struct view *view, uint32_t key)
{
	switch (key) {
	case VIEW_KEY_ENTER:
		view->typing = false;
		return VIEW_DRAW;
	case VIEW_KEY_ESCAPE:
		view->typing = false;
		view->filter[0] = '\0';
		return VIEW_DRAW | VIEW_RANK;
	case VIEW_KEY_BACKSPACE:
		view_untype_rune(view);
		return VIEW_DRAW | VIEW_RANK;
	case 'U' - '@': /* Ctrl-U */
		view->filter[0] = '\0';
		return VIEW_DRAW | VIEW_RANK;
	default:
		return view_type_rune(view, key);
	}
}

/* The order */

static unsigned int view_sort_by(struct view *view, enum report_sort sort)
{
	if (!view_can_sort(view, sort))
		return 0;
	view->sort = sort;
	view->inverted = false;
	view->chosen = view->first = 0;
	view->chosen_id = 0;
	return VIEW_DRAW | VIEW_RANK;
}

static unsigned int view_sort_next(struct view *view, size_t step)
{
	size_t at = 0;

	while (at + 1 < SORTS && view_sorts[at].sort != view->sort)
		at++;
	do
		at = (at + step) % SORTS;
	while (!view_can_sort(view, view_sorts[at].sort));
	return view_sort_by(view, view_sorts[at].sort);
}

static unsigned int view_sort_letter(struct view *view, uint32_t key)
{
	size_t i;

	for (i = 0; i < SORTS; i++)
		if (key == (unsigned char)view_sorts[i].letter)
			return view_sort_by(view, view_sorts[i].sort);
	return 0;
}

/* The rows */

static unsigned int view_list(struct view *view, bool by_process, int pid)
{
	view->page = VIEW_TABLE;
	view->by_process = by_process;
	view->pid = pid;
	view->chosen = view->first = 0;
	view->chosen_id = 0;
	return VIEW_DRAW | VIEW_GROUP;
}

static unsigned int view_enter(struct view *view, const struct view_extent *extent)
{
	if (!extent->rows)
		return 0;
	if (view->by_process)
		return extent->chosen_pid ? view_list(view, false, extent->chosen_pid) : 0;
	return view_open(view, VIEW_STACK);
}

/* One step back to the table of all sites. */
static unsigned int view_leave(struct view *view)
{
	if (view->filter[0]) {
		view->filter[0] = '\0';
		return VIEW_DRAW | VIEW_RANK;
	}
	if (view->marked) {
		view->marked = false;
		return VIEW_DRAW | VIEW_RANK | VIEW_UNMARK;
	}
	return view->pid ? view_list(view, true, 0) : 0;
}

static unsigned int view_freeze(struct view *view)
{
	view->frozen = !view->frozen;
	return VIEW_DRAW | (view->frozen ? 0 : VIEW_THAW);
}

static unsigned int view_mark(struct view *view, bool marked)
{
	if (!marked && !view->marked)
		return 0;
	view->marked = marked;
	view->frozen = false;
	return VIEW_DRAW | VIEW_RANK | (marked ? VIEW_MARK | VIEW_THAW : VIEW_UNMARK);
}

/* Keys that mean the same on all pages; 0 = it is none. */
static unsigned int view_press_anywhere(struct view *view, uint32_t key)
{
	switch (key) {
	case VIEW_KEY_F10:
		return VIEW_QUIT;
	case VIEW_KEY_F1:
	case 'h':
	case '?':
		return view_open(view, view->page == VIEW_HELP ? VIEW_TABLE : VIEW_HELP);
	case 'L' - '@': /* Ctrl-L */
		return VIEW_DRAW;
	case VIEW_KEY_F1 + 7:
	case ' ':
	case 'f':
	case 'Z':
		return view_freeze(view);
	default:
		return 0;
	}
}

static unsigned int view_press_page(struct view *view, const struct view_extent *extent,
				    uint32_t key)
{
	const size_t room = extent->room ? extent->room : 1;
	const size_t last = extent->lines > room ? extent->lines - room : 0;

	if (view_move(&view->offset, last, room, key))
		return VIEW_DRAW;
	switch (key) {
	case VIEW_KEY_ENTER:
	case VIEW_KEY_ESCAPE:
	case VIEW_KEY_BACKSPACE:
	case 'q':
		return view_open(view, VIEW_TABLE);
	default:
		return 0;
	}
}

static unsigned int view_press_table(struct view *view, const struct view_extent *extent,
				     uint32_t key)
{
	switch (key) {
	case 'q':
		return VIEW_QUIT;
	case VIEW_KEY_ENTER:
		return view_enter(view, extent);
	case VIEW_KEY_ESCAPE:
	case VIEW_KEY_BACKSPACE:
		return view_leave(view);
	case VIEW_KEY_F1 + 3:
	case '/':
	case '\\':
		view->typing = true;
		return VIEW_DRAW;
	case VIEW_KEY_F1 + 5:
	case '>':
	case '.':
		return view_sort_next(view, 1);
	case '<':
	case ',':
		return view_sort_next(view, SORTS - 1);
	case 'I':
		view->inverted = !view->inverted;
		return VIEW_DRAW | VIEW_RANK;
	case VIEW_KEY_F1 + 1:
	case VIEW_KEY_TAB:
		return view_list(view, !view->by_process, 0);
	case 'p':
		return view_list(view, true, 0);
	case 's':
		return view_list(view, false, 0);
	case VIEW_KEY_F1 + 6:
	case 'm':
		return view_mark(view, true);
	case 'u':
		return view_mark(view, false);
	case 'c':
		return view_open(view, VIEW_COVERAGE);
	default:
		return view_sort_letter(view, key);
	}
}

unsigned int view_press(struct view *view, const struct view_extent *extent, uint32_t key)
{
	unsigned int effect;

	view_limit(view, extent);
	if (view->typing)
		return view_type(view, key);
	effect = view_press_anywhere(view, key);
	if (effect)
		return effect;
	if (view->page != VIEW_TABLE)
		return view_press_page(view, extent, key);
	if (view_move(&view->chosen, extent->rows ? extent->rows - 1 : 0, extent->room, key)) {
		view->chosen_id = 0;
		return VIEW_DRAW;
	}
	return view_press_table(view, extent, key);
}
