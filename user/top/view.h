/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the display, and what each key changes. Pure. */
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

/* Actions required after a key; bits. */
enum view_effect {
	VIEW_DRAW = 1, /* draw the screen again */
	VIEW_RANK = 2, /* rank or filter the rows again */
	VIEW_GROUP = 4, /* regroup the same snapshot */
	VIEW_QUIT = 8,
	VIEW_MARK = 16, /* count growth from now on */
	VIEW_UNMARK = 32, /* stop that */
	VIEW_THAW = 64, /* take a snapshot now */
};

#define VIEW_FILTER_MAX 64

struct view {
	enum view_page page;
	bool by_process; /* rows are processes, not sites */
	int pid; /* only sites of this process; 0 = all */
	enum report_sort sort;
	bool inverted; /* reversed order */
	bool has_verdicts; /* verdicts are available for sorting */
	bool frozen; /* the display is frozen */
	bool marked; /* show growth since the mark */
	bool typing; /* keys go to the filter */
	char filter[VIEW_FILTER_MAX]; /* "" = none */
	uint64_t chosen_id; /* id of the chosen row; 0 = none yet */
	size_t chosen; /* its index among the rows */
	size_t first; /* index of the row at the top of the table */
	size_t offset; /* index of the line at the top of a page */
};

/* The extent of what a view shows. */
struct view_extent {
	size_t rows; /* rows of the table, visible or not */
	size_t lines; /* lines of a page */
	size_t room; /* visible lines of the table or page */
	int chosen_pid; /* pid of the chosen row, if it is a process; 0 = none */
};

/* The initial view. */
struct view view_new(enum report_sort sort, bool has_verdicts);

/* Handle a key. Returns required actions: bits of enum view_effect. */
unsigned int view_press(struct view *view, const struct view_extent *extent, uint32_t key);

/* Limit all positions to the content, and make the chosen row visible. */
void view_limit(struct view *view, const struct view_extent *extent);

/* Can rows be sorted by it? */
bool view_can_sort(const struct view *view, enum report_sort sort);

#endif
