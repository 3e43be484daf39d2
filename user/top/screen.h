/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of a terminal as styled lines of text: made without a terminal, and drawn by
 * terminal.c. No line is wider than the screen, and its text is safe if the appended text was.
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
	SCREEN_WARNING, /* it grows, or something was lost */
	SCREEN_GOOD, /* it does not grow */
	SCREEN_METER, /* the filled part of a bar */
	SCREEN_TITLE, /* the titles of a table */
	SCREEN_SORTED, /* title of the sort column */
	SCREEN_CHOSEN, /* the chosen row */
	SCREEN_KEY, /* what a key does */
	SCREEN_STYLES,
};

/* From byte `from` of the line on, text has this style. */
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
	bool ascii; /* the terminal supports ASCII only */
	struct screen_line *lines; /* at most `rows` */
	size_t count, capacity;
	struct screen_line line; /* the current line */
};

/* An empty screen of a size. */
struct screen screen_new(size_t columns, size_t rows, bool ascii);
void screen_free(struct screen *screen);

/* Set the style of the text appended next. */
void screen_set(struct screen *screen, enum screen_style style);
/* Append safe text. */
void screen_append(struct screen *screen, const char *text);
void screen_printf(struct screen *screen, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Append blanks up to a column; none if the line is that wide already. */
void screen_pad(struct screen *screen, size_t column);
/* Columns of the line so far. */
size_t screen_column(const struct screen *screen);
/* Width of a text in columns; bars of trends count one each. */
size_t screen_width(const char *text);

/* End the line. Truncates it to the width; drops a line below the last row. */
void screen_end_line(struct screen *screen);
/* Drop the lines behind the first `rows`. */
void screen_limit(struct screen *screen, size_t rows);
/* Append empty lines up to `rows`. */
void screen_fill(struct screen *screen, size_t rows);

/* Number of rows left. */
size_t screen_room(const struct screen *screen);

/* The style of the byte at `at` of a line. */
enum screen_style screen_style_at(const struct screen_line *line, size_t at);

#endif
