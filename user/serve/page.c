/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See page.h. */
#include "serve/page.h"

#include <string.h>

#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"

static const struct page pages[] = {
	{ PAGE_REPORT, "/", "html", HTML, "the report as a page", false },
	{ PAGE_REPORT, "/report", "text", TEXT, "the report as text", false },
	{ PAGE_REPORT, "/report.json", "json", "application/json", "the report as JSON", false },
	{ PAGE_REPORT, "/folded", "folded", TEXT, "stacks for flame graph tools", false },
	{ PAGE_REPORT, "/metrics", "metrics", "text/plain; version=0.0.4; charset=utf-8",
	  "figures for Prometheus", false },
	{ PAGE_REPORT, "/debug/pprof/heap", "pprof", "application/octet-stream",
	  "the report for go tool pprof, Pyroscope and Parca; with ?seconds=N growth in N seconds",
	  true },
	{ PAGE_REPORT, "/debug/pprof/allocs", "pprof", "application/octet-stream",
	  "the same; with ?seconds=N what was allocated in N seconds", true },
	{ PAGE_INDEX, "/pages", NULL, HTML, "this list", false },
	{ PAGE_HEALTH, "/healthz", NULL, TEXT, "whether this server answers", false },
};

#define PAGE_COUNT (sizeof(pages) / sizeof(pages[0]))

_Static_assert(PAGE_COUNT <= PAGE_MAX, "pages");

static bool page_is_there(const struct page *page)
{
	return !page->format || render_format_find(page->format);
}

const struct page *page_find(const char *path)
{
	size_t i;

	for (i = 0; i < PAGE_COUNT; i++)
		if (page_is_there(&pages[i]) && !strcmp(pages[i].path, path))
			return &pages[i];
	return NULL;
}

const struct page *page_at(size_t index)
{
	size_t i;

	for (i = 0; i < PAGE_COUNT; i++)
		if (page_find(pages[i].path) == &pages[i] && !index--)
			return &pages[i];
	return NULL;
}

size_t page_number(const struct page *page)
{
	return (size_t)(page - pages);
}

void page_append_index(struct buffer *out)
{
	const struct page *page;
	size_t i;

	buffer_append_string(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"color-scheme\" content=\"light dark\"><title>tracer</title>"
		"<style>body{font-family:sans-serif;margin:2em}dt{font-family:monospace}</style>"
		"</head><body><h1>tracer</h1>\n<dl>\n");
	for (i = 0; (page = page_at(i)); i++)
		buffer_printf(out, "<dt><a href=\"%s\">%s</a></dt><dd>%s</dd>\n", page->path,
			      page->path, page->title);
	buffer_append_string(out, "</dl></body></html>\n");
}
