/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See page.h. The stack and the coverage are those of the text format, whose styles are codes within the text. */
#include "top/page.h"

#include <stdint.h>
#include <string.h>

#include "render/text_parts.h"

/* The text format's styles. */
static const struct page_style {
	enum text_style text;
	enum screen_style screen;
} page_styles[] = {
	{ STYLE_PLAIN, SCREEN_PLAIN }, { STYLE_STRONG, SCREEN_STRONG },
	{ STYLE_QUIET, SCREEN_QUIET }, { STYLE_WARNING, SCREEN_WARNING },
	{ STYLE_CULPRIT, SCREEN_BAD },
};

/* The length of the code at `text`, with its style; 0 = there is none. Names have no escapes in them: text is safe. */
static size_t page_take_code(const char *text, enum screen_style *ret_style)
{
	const char *code;
	size_t i;

	for (i = 0; i < sizeof(page_styles) / sizeof(page_styles[0]); i++) {
		code = text_style_code(page_styles[i].text);
		if (strncmp(text, code, strlen(code)) != 0)
			continue;
		*ret_style = page_styles[i].screen;
		return strlen(code);
	}
	return 0;
}

/* Append lines of the text format. */
static void page_append(struct screen *page, const char *text)
{
	enum screen_style style;
	size_t length;

	while (*text) {
		length = page_take_code(text, &style);
		if (length) {
			screen_set(page, style);
		} else if (*text == '\n') {
			screen_end_line(page);
			length = 1;
		} else {
			length = strcspn(text, "\n\033");
			length += !length;
			buffer_append(&page->line.text, text, length);
		}
		text += length;
	}
}

static void page_remark(struct screen *page, const char *text)
{
	screen_set(page, SCREEN_QUIET);
	screen_append(page, text);
	screen_end_line(page);
}

static void page_stack(struct screen *page, const struct text_writer *writer,
		       const struct content *content, const struct view *view)
{
	const struct report_site *chosen = rows_chosen(content->rows, content->report, view);
	struct report_site site;

	if (!chosen || content->is_gone) {
		page_remark(page, " this row holds nothing any more: Esc leads back to the table");
		return;
	}
	site = report_open_site(content->report, (size_t)(chosen - content->report->sites));
	text_stack(writer, content->report, &site);
	/* With the stack it is not. */
	if (site.verdict.word == VERDICT_UNKNOWN)
		text_verdict(writer, content->report);
	report_close_site(&site);
	page_append(page, writer->out->data);
}

static void page_coverage(struct screen *page, const struct text_writer *writer,
			  const struct content *content)
{
	text_coverage(writer, content->report);
	page_append(page, writer->out->data);
}

struct page_key {
	const char *keys, *meaning;
};

static const struct page_key page_keys[] = {
	{ "Up Down PgUp PgDn", "choose a row; also j and k, Home and End" },
	{ "Enter", "its stack, lifespans and verdict; of a process: its sites" },
	{ "Esc", "back; at the table: end the filter, then the mark" },
	{ "p  s  F2 Tab", "rows are processes, are sites; the other ones" },
	{ "/  F4", "show only rows with a text in them" },
	{ "<  >  F6", "sort by the next column" },
	{ "V G M B A", "sort by verdict, growth, memory, blocks, age; I inverts" },
	{ "m  F7", "mark: show what grows from now on" },
	{ "u", "forget the mark" },
	{ "f  Space F8", "freeze the screen; tracing goes on" },
	{ "c", "coverage: what was counted, and what was lost" },
	{ "h  ?  F1", "these keys" },
	{ "q  F10", "quit; Ctrl-C, too" },
};

static void page_help_keys(struct screen *page)
{
	size_t i;

	for (i = 0; i < sizeof(page_keys) / sizeof(page_keys[0]); i++) {
		screen_set(page, SCREEN_STRONG);
		screen_printf(page, "%19s", page_keys[i].keys);
		screen_set(page, SCREEN_PLAIN);
		screen_printf(page, "  %s", page_keys[i].meaning);
		screen_end_line(page);
	}
}

static void page_help(struct screen *page)
{
	static const char *const remarks[] = {
		" IN USE    what was allocated since the attach, and is not freed",
		" GROWTH/s  how fast that grows: in the last ten seconds, or since the mark",
		" OLDEST    the age of the oldest of these blocks",
		" TREND     what was in use since the attach; each row has its own scale",
		" VERDICT   LEAK: some blocks are never freed, and the others far sooner; also",
		"           GROWING, FILLING, CACHE, WARM-UP, STEADY, TEMPORARY, UNCLEAR",
		" WHERE     the application's line; VIA: what allocated for it",
	};
	size_t i;

	page_help_keys(page);
	screen_end_line(page);
	for (i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++)
		page_remark(page, remarks[i]);
}

struct screen page_make(const struct content *content, const struct view *view, size_t columns,
			bool ascii)
{
	struct screen page = screen_new(columns, SIZE_MAX, ascii);
	struct buffer text = { 0 };
	const struct text_writer writer = { .out = &text,
					    .color = true,
					    .width = columns < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN
										: columns,
					    .frames = content->frames,
					    .verbose = true };

	buffer_append_string(&text, "");
	if (view->page == VIEW_HELP)
		page_help(&page);
	else if (!content->report)
		page_remark(&page, " nothing is traced yet");
	else if (view->page == VIEW_STACK)
		page_stack(&page, &writer, content, view);
	else
		page_coverage(&page, &writer, content);
	buffer_free(&text);
	return page;
}

const char *page_title(const struct view *view)
{
	switch (view->page) {
	case VIEW_STACK:
		return "Stack";
	case VIEW_COVERAGE:
		return "Coverage";
	default:
		return "Keys";
	}
}

void page_move_lines(struct screen *page, size_t from, size_t count, struct screen *screen)
{
	size_t i;

	for (i = from; i < page->count && i - from < count; i++) {
		screen->line = page->lines[i];
		page->lines[i] = (struct screen_line){ 0 };
		screen_end_line(screen);
	}
}
