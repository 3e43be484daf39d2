/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page for a browser: the files of user/render/html in one (scripts/embed-page), with the report as JSON in it, as the JSON format
 * writes it. In JSON, <, > and & are in texts only, where they are written as \uNNNN: so no name ends the element that the JSON is in,
 * or begins another one. The page takes names as text and never as HTML.
 */
#include "html_page.h"
#include "render/difference.h"
#include "render/formats.h"
#include "render/html_more.h"
#include "render/memory.h"

/* Where JSON goes that is being made. */
struct html {
	const struct render_options *options;
	struct buffer *out;
};

static void html_append_json(struct buffer *out, const struct buffer *json)
{
	const char *at = json->data, *end = json->data + json->length, *from = at;

	for (; at < end; at++) {
		if (*at != '<' && *at != '>' && *at != '&')
			continue;
		buffer_append(out, from, (size_t)(at - from));
		buffer_printf(out, "\\u%04x", (unsigned int)*at);
		from = at + 1;
	}
	if (from < end)
		buffer_append(out, from, (size_t)(end - from));
}

static bool html_drain(void *context, struct buffer *json)
{
	const struct html *html = context;

	html_append_json(html->out, json);
	buffer_clear(json);
	return render_drain(html->options, html->out);
}

/* The options by which JSON is made that goes through html_drain. */
static struct render_options html_options(struct html *html)
{
	struct render_options options = *html->options;

	options.schema = 2;
	options.drain = html_drain;
	options.context = html;
	return options;
}

static void html_begin(const struct html *html)
{
	buffer_append(html->out, html_page_begin, sizeof(html_page_begin) - 1);
}

/* Between the report and what the page shows beside it. */
static void html_turn(struct html *html, struct buffer *json)
{
	html_drain(html, json);
	buffer_append(html->out, html_page_turn, sizeof(html_page_turn) - 1);
}

static void html_end(struct html *html, struct buffer *json)
{
	html_drain(html, json);
	buffer_append(html->out, html_page_end, sizeof(html_page_end) - 1);
	buffer_free(json);
}

void render_html(const struct report *report, const struct render_options *options,
		 struct buffer *out)
{
	struct html html = { options, out };
	const struct render_options own = html_options(&html);
	struct buffer json = { 0 };

	html_begin(&html);
	render_json(report, &own, &json);
	html_turn(&html, &json);
	html_more_write(report, &own, &json);
	html_end(&html, &json);
}

void render_html_memory(const struct memory_report *report,
			const struct render_memory_options *options, struct buffer *out)
{
	struct html html = { &options->base, out };
	const struct render_memory_options own = { html_options(&html), options->top };
	struct buffer json = { 0 };

	html_begin(&html);
	render_memory_json(report, &own, &json);
	html_turn(&html, &json);
	html_more_write_titles(&json);
	html_end(&html, &json);
}

void render_html_difference(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out)
{
	struct html html = { &options->base, out };
	const struct render_difference_options own = { html_options(&html), options->top };
	struct buffer json = { 0 };

	html_begin(&html);
	render_difference_json(difference, &own, &json);
	html_turn(&html, &json);
	html_more_write_difference(difference, &own, &json);
	html_end(&html, &json);
}
