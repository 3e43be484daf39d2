/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands on a terminal, as lines of text in styles: made without a terminal, and drawn by terminal.c. No line is wider than the
 * screen, and all text of it is safe if what was appended was.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_STRONG, /* what to read first */
	SCREEN_QUIET, /* what to read last */
	SCREEN_BAD, /* a leak, the application's line */
	SCREEN_WARNING, /* it grows, something was lost */
	SCREEN_GOOD, /* it does not grow */
	SCREEN_METER, /* the filled part of a bar */
	SCREEN_TITLE, /* the titles of a table */
	SCREEN_SORTED, /* that of the column which orders it */
	SCREEN_CHOSEN, /* the chosen row */
	SCREEN_KEY, /* what a key does */
	SCREEN_STYLES,
};

/* From a byte of the line on, its text has a style. */
struct screen_run {
	size_t from;
	enum screen_style style;
};

struct screen_line {
	struct buffer text;
	struct screen_run *runs;
	size_t run_count, run_capacity;
};

/* Free with screen_free. */
struct screen {
	size_t columns, rows;
	bool ascii; /* the terminal has no other characters */
	struct screen_line *lines; /* at most `rows` */
	size_t count, capacity;
	struct screen_line line; /* that is being written */
};

/* An empty screen of a size. */
struct screen screen_new(size_t columns, size_t rows, bool ascii);
void screen_free(struct screen *screen);

/* What is appended from here on has a style. */
void screen_set(struct screen *screen, enum screen_style style);
/* Append text that is safe. */
void screen_append(struct screen *screen, const char *text);
void screen_printf(struct screen *screen, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Append blanks up to a column; nothing if the line is that wide. */
void screen_pad(struct screen *screen, size_t column);
/* Columns of the line so far. */
size_t screen_column(const struct screen *screen);
/* Columns that a text takes, in which the bars of trends take one each. */
size_t screen_width(const char *text);

/* End the line. What has no room is cut; a line below the last row is dropped. */
void screen_end_line(struct screen *screen);
/* Drop the lines behind the first `rows`. */
void screen_limit(struct screen *screen, size_t rows);
/* Empty lines, until there are so many. */
void screen_fill(struct screen *screen, size_t rows);

/* How many of `rows` are left. */
size_t screen_room(const struct screen *screen);

/* The style of the byte at `at` of a line. */
enum screen_style screen_style_at(const struct screen_line *line, size_t at);

#endif
