/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See screen.h. */
#include "top/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* The bars of trends: those eighths of a character that all terminals have in one column. */
#define BAR_FIRST 0x2581
#define BAR_LAST 0x2588

struct screen screen_new(size_t columns, size_t rows, bool ascii)
{
	return (struct screen){ .columns = columns, .rows = rows, .ascii = ascii };
}

static void screen_free_line(struct screen_line *line)
{
	buffer_free(&line->text);
	free(line->runs);
	*line = (struct screen_line){ 0 };
}

void screen_free(struct screen *screen)
{
	size_t i;

	for (i = 0; i < screen->count; i++)
		screen_free_line(&screen->lines[i]);
	screen_free_line(&screen->line);
	free(screen->lines);
	*screen = (struct screen){ 0 };
}

void screen_set(struct screen *screen, enum screen_style style)
{
	struct screen_line *line = &screen->line;

	line->runs =
		memory_grow(line->runs, line->run_count, &line->run_capacity, sizeof(*line->runs));
	line->runs[line->run_count++] = (struct screen_run){ line->text.length, style };
}

void screen_append(struct screen *screen, const char *text)
{
	buffer_append_string(&screen->line.text, text);
}

void screen_printf(struct screen *screen, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) >= 0)
		screen_append(screen, text);
	va_end(arguments);
	free(text);
}

/* Takes a NUL for the end. */
static size_t screen_rune(const char *text, size_t *ret_width)
{
	unsigned int rune;
	size_t length = text_decode_utf8(text, &rune);

	*ret_width = !length || (rune >= BAR_FIRST && rune <= BAR_LAST) ? 1 : text_rune_width(rune);
	return length ? length : 1;
}

size_t screen_width(const char *text)
{
	size_t sum = 0, width;

	while (*text) {
		text += screen_rune(text, &width);
		sum += width;
	}
	return sum;
}

size_t screen_column(const struct screen *screen)
{
	return screen->line.text.data ? screen_width(screen->line.text.data) : 0;
}

void screen_pad(struct screen *screen, size_t column)
{
	size_t used = screen_column(screen);

	if (used < column)
		buffer_printf(&screen->line.text, "%*s", (int)(column - used), "");
}

/* Leave of the line what has room. */
static void screen_cut(struct screen *screen)
{
	struct buffer *text = &screen->line.text;
	size_t used = 0, at = 0, width, length;

	while (at < text->length) {
		length = screen_rune(text->data + at, &width);
		if (used + width > screen->columns)
			break;
		used += width;
		at += length;
	}
	if (at < text->length)
		text->data[text->length = at] = '\0';
}

void screen_end_line(struct screen *screen)
{
	if (screen->count == screen->rows) {
		screen_free_line(&screen->line);
		return;
	}
	screen_append(screen, "");
	screen_cut(screen);
	screen->lines = memory_grow(screen->lines, screen->count, &screen->capacity,
				    sizeof(*screen->lines));
	screen->lines[screen->count++] = screen->line;
	screen->line = (struct screen_line){ 0 };
}

void screen_limit(struct screen *screen, size_t rows)
{
	while (screen->count > rows)
		screen_free_line(&screen->lines[--screen->count]);
}

void screen_fill(struct screen *screen, size_t rows)
{
	while (screen->count < rows && screen->count < screen->rows)
		screen_end_line(screen);
}

size_t screen_room(const struct screen *screen)
{
	return screen->rows - screen->count;
}

enum screen_style screen_style_at(const struct screen_line *line, size_t at)
{
	enum screen_style style = SCREEN_PLAIN;
	size_t i;

	for (i = 0; i < line->run_count && line->runs[i].from <= at; i++)
		style = line->runs[i].style;
	return style;
}
