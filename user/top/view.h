/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user looks at, and what each key makes of that. Pure. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"

/* A key is a Unicode character, or one of these. */
enum view_key {
	VIEW_KEY_NONE = 0x110000,
	VIEW_KEY_UP,
	VIEW_KEY_DOWN,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_ENTER,
	VIEW_KEY_ESCAPE,
	VIEW_KEY_BACKSPACE,
	VIEW_KEY_TAB,
	VIEW_KEY_F1,
	VIEW_KEY_F10 = VIEW_KEY_F1 + 9,
	VIEW_KEYS,
};

enum view_page {
	VIEW_TABLE,
	VIEW_STACK, /* of the chosen row */
	VIEW_COVERAGE, /* what was counted and what was lost */
	VIEW_HELP,
};

/* What has to be done after a key; bits. */
enum view_effect {
	VIEW_DRAW = 1, /* draw the screen again */
	VIEW_RANK = 2, /* rank or filter the rows again */
	VIEW_GROUP = 4, /* make other rows of the same snapshot */
	VIEW_QUIT = 8,
	VIEW_MARK = 16, /* growth is counted from now on */
	VIEW_UNMARK = 32, /* or no more */
	VIEW_THAW = 64, /* take a snapshot now */
};

#define VIEW_FILTER_MAX 64

struct view {
	enum view_page page;
	bool by_process; /* rows are processes, or else sites */
	int pid; /* only sites of this process; 0 = of all */
	enum report_sort sort;
	bool inverted; /* the last one comes first */
	bool has_verdicts; /* there are verdicts to sort by */
	bool frozen; /* nothing new is shown */
	bool marked; /* rows are what has grown since the mark */
	bool typing; /* keys go to the filter */
	char filter[VIEW_FILTER_MAX]; /* "" = none */
	uint64_t chosen_id; /* of the chosen row; 0 = none yet */
	size_t chosen; /* its place among the rows */
	size_t first; /* the row at the top of the table */
	size_t offset; /* the line at the top of another page */
};

/* What is seen with a view. */
struct view_extent {
	size_t rows; /* of the table, seen or not */
	size_t lines; /* of another page */
	size_t room; /* of the table or page, on the screen */
	int chosen_pid; /* of the chosen row, if it is a process; 0 = none */
};

/* As it is at first. */
struct view view_new(enum report_sort sort, bool has_verdicts);

/* Returns what has to be done: bits of enum view_effect. */
unsigned int view_press(struct view *view, const struct view_extent *extent, uint32_t key);

/* Put all places within what there is, and let the chosen row be seen. */
void view_limit(struct view *view, const struct view_extent *extent);

/* Can rows be ranked by it? */
bool view_can_sort(const struct view *view, enum report_sort sort);

#endif
