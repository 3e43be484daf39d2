/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of formats. A new format is a file with one function and a row here. */
#include "render/render.h"

#include <string.h>

#include "render/difference.h"
#include "render/formats.h"
#include "render/leaks.h"
#include "render/memory.h"

static const struct render_format render_formats[] = {
	{ .name = "text",
	  .description = "for people: sites with their stacks (default)",
	  .by_line = true,
	  .leaks_first = true,
	  .classes = true,
	  .separator = "\n",
	  .render = render_text,
	  .render_watch = render_watch_text,
	  .render_memory = render_memory_text,
	  .render_leaks = render_leaks_text,
	  .render_difference = render_difference_text },
	{ .name = "json",
	  .ending = ".json",
	  .description = "one JSON object on one line per report",
	  .timeline = true,
	  .classes = true,
	  .separator = "",
	  .render = render_json,
	  .render_watch = render_json,
	  .render_memory = render_memory_json,
	  .render_leaks = render_leaks_json,
	  .render_difference = render_difference_json },
	{ .name = "folded",
	  .ending = ".folded",
	  .description = "one line per stack, for flame graph tools",
	  .all_sites = true,
	  .separator = "",
	  .render = render_folded,
	  .render_difference = render_difference_folded },
	{ .name = "pprof",
	  .ending = ".pb.gz",
	  .description = "for go tool pprof, Pyroscope, Parca: -o FILE.pb.gz",
	  .all_sites = true,
	  .binary = true,
	  .render = render_pprof,
	  .render_difference = render_difference_pprof },
	{ .name = "speedscope",
	  .ending = ".speedscope.json",
	  .description = "for speedscope.app: graphs of each figure",
	  .all_sites = true,
	  .render = render_speedscope,
	  .render_difference = render_difference_speedscope },
	{ .name = "callgrind",
	  .description = "for KCachegrind and callgrind_annotate",
	  .all_sites = true,
	  .render = render_callgrind,
	  .render_difference = render_difference_callgrind },
	{ .name = "massif",
	  .description = "for ms_print: what was in use over time",
	  .all_sites = true,
	  .timeline = true,
	  .render = render_massif },
	{ .name = "heaptrack",
	  .ending = ".heaptrack",
	  .description = "for heaptrack_print and heaptrack_gui",
	  .all_sites = true,
	  .timeline = true,
	  .render = render_heaptrack },
	{ .name = "jeprof",
	  .description = "for jeprof, as jemalloc's heap profiles",
	  .all_sites = true,
	  .render = render_jeprof },
	{ .name = "svg",
	  .ending = ".svg",
	  .description = "a flame graph, for a browser",
	  .all_sites = true,
	  .render = render_svg },
	{ .name = "html",
	  .ending = ".html",
	  .description = "a page with graphs and tables, for a browser",
	  .classes = true,
	  .all_sites = true,
	  .page = true,
	  .timeline = true,
	  .render = render_html,
	  .render_memory = render_html_memory,
	  .render_difference = render_html_difference },
	{ .name = "metrics",
	  .ending = ".prom",
	  .description = "for Prometheus: figures of processes and of sites",
	  .by_line = true,
	  .render = render_metrics },
	{ 0 },
};

const struct render_format *render_format_list(void)
{
	return render_formats;
}

const struct render_format *render_format_find(const char *name)
{
	const struct render_format *format;

	for (format = render_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

const struct render_format *render_format_of_file(const char *path)
{
	const struct render_format *format, *found = NULL;
	const size_t length = strlen(path);
	size_t most = 0;

	for (format = render_formats; format->name; format++) {
		const size_t size = format->ending ? strlen(format->ending) : 0;

		if (size <= most || size >= length ||
		    strcmp(path + length - size, format->ending) != 0)
			continue;
		found = format;
		most = size;
	}
	return found;
}
