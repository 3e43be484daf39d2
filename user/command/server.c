/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See server.h. Each page has options of its own, which differ in the format, and its own growth since it was made last. */
#include "command/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/serve_options.h"
#include "command/stats_before.h"
#include "render/otlp.h"
#include "render/render.h"
#include "system/proc_text.h"

/* Larger reports are refused: they would be held in memory as a whole. */
#define REPORT_BYTES_MAX ((size_t)64 << 20)

/* After the pages: what is pushed. */
#define PUSHED PAGE_MAX

struct server_page {
	struct options options;
	struct growth_base base; /* what sites held when it was made last */
};

static int server_open_pushing(struct server *server, struct error *error)
{
	const struct options *options = server->options;

	return options->otlp ? pushing_open(&server->pushing, options, server->log, error) : 0;
}

int server_open(struct server *server, const struct options *options, const struct log *log,
		struct error *error)
{
	struct buffer text = { 0 };
	int code;

	*server = (struct server){
		.options = options, .log = log, .fd = -1, .pushing.push.socket = -1
	};
	code = address_parse(options->listen, &server->address, error);
	if (!code && options->token_file)
		code = token_read(options->token_file, &server->policy.token, error);
	if (code)
		return code;
	server->policy.checks_host = server->address.is_loopback;
	server->fd = address_listen(&server->address, error);
	if (server->fd < 0)
		return server->fd;
	code = server_open_pushing(server, error);
	if (code)
		return code;
	address_describe(&server->address, server->fd, &text);
	/* Scripts wait for this line, too, where the port is any. */
	log_write(log, LOG_ERROR, "listening at %s", text.data);
	buffer_free(&text);
	return 0;
}

/* What the server itself takes, by the names that such figures have in Prometheus. */
static void server_append_own(struct buffer *out)
{
	struct buffer statm = { 0 };
	struct rusage usage;
	const char *resident;

	if (!proc_read_text("/proc", getpid(), "statm", &statm)) {
		resident = strchr(statm.data, ' ');
		buffer_printf(
			out,
			"# HELP process_resident_memory_bytes Resident memory of the tracer.\n"
			"# TYPE process_resident_memory_bytes gauge\n"
			"process_resident_memory_bytes %" PRIu64 "\n",
			(resident ? strtoul(resident, NULL, 10) : 0) *
				(uint64_t)sysconf(_SC_PAGESIZE));
	}
	buffer_free(&statm);
	if (getrusage(RUSAGE_SELF, &usage))
		return;
	buffer_printf(out,
		      "# HELP process_cpu_seconds_total CPU time that the tracer has taken.\n"
		      "# TYPE process_cpu_seconds_total counter\n"
		      "process_cpu_seconds_total %.6f\n",
		      (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

/*
 * Make a page of a snapshot. Growth counts from the last page of all figures: a page of a
 * difference has no base, and is not one.
 */
static int server_render(struct server *server, size_t number, struct snapshot *snapshot,
			 bool is_difference, struct buffer *out)
{
	struct server_page *own = &server->pages[number];
	struct reporter *reporter = server->reporter;
	const struct growth_base base = reporter->base;
	const struct options *options = reporter->options;
	struct reporter_room room = { .out = out, .most = REPORT_BYTES_MAX };
	struct error error = { 0 };
	int code;

	reporter->options = &own->options;
	reporter->base = is_difference ? (struct growth_base){ 0 } : own->base;
	reporter->room = &room;
	code = reporter_write(reporter, snapshot, &error);
	if (is_difference)
		growth_free(&reporter->base);
	else
		own->base = reporter->base;
	reporter->room = NULL;
	reporter->base = base;
	reporter->options = options;
	if (!code)
		return 0;
	buffer_clear(out);
	buffer_append_string(out, error.text);
	return code;
}

static int server_make(void *context, const struct page *page, void *before, struct buffer *out)
{
	struct server *server = context;
	struct snapshot *snapshot;
	int code = session_snapshot(server->session, &snapshot);

	if (code) {
		buffer_printf(out, "cannot read the counters from the kernel: %s", strerror(-code));
		return code;
	}
	if (before)
		stats_before_subtract(before, snapshot);
	code = server_render(server, page_number(page), snapshot, before != NULL, out);
	snapshot_free(snapshot);
	if (!code && !strcmp(page->format, "metrics")) {
		http_append_metrics(server->http, out);
		pushing_append_metrics(&server->pushing, out);
		server_append_own(out);
	}
	return code;
}

static int server_make_pushed(void *context, struct buffer *out)
{
	struct server *server = context;
	struct snapshot *snapshot;
	int code = session_snapshot(server->session, &snapshot);

	if (code)
		return code;
	code = server_render(server, PUSHED, snapshot, false, out);
	snapshot_free(snapshot);
	return code;
}

static void *server_begin(void *context)
{
	struct server *server = context;
	struct snapshot *snapshot;
	struct stats_before *before;

	/* Of windows there are estimates, which are of all the time. */
	if (server->options->budget || session_snapshot(server->session, &snapshot))
		return NULL;
	before = stats_before_new(snapshot);
	snapshot_free(snapshot);
	return before;
}

static void server_drop(void *before)
{
	stats_before_free(before);
}

static void server_set_pages(struct server *server)
{
	const struct page *page;
	struct options *options;
	size_t i;

	server->pages = memory_alloc(PAGE_MAX + 1, sizeof(*server->pages));
	for (i = 0; (page = page_at(i)); i++) {
		if (page->kind != PAGE_REPORT)
			continue;
		options = &server->pages[page_number(page)].options;
		*options = *server->options;
		options->format = render_format_find(page->format);
		serve_options_set_format_defaults(options);
	}
	options = &server->pages[PUSHED].options;
	*options = *server->options;
	options->format = &otlp_format;
	serve_options_set_format_defaults(options);
}

int server_start(struct server *server, struct session *session, struct reporter *reporter,
		 struct loop *loop, struct error *error)
{
	const struct http_options options = { .fd = server->fd,
					      .policy = server->policy,
					      .make = server_make,
					      .begin = server_begin,
					      .drop = server_drop,
					      .context = server };
	int code;

	server->session = session;
	server->reporter = reporter;
	server->fd = -1;
	reporter->options = server->options;
	server_set_pages(server);
	code = http_open(&options, loop, &server->http, error);
	if (!code && server->options->otlp)
		code = pushing_start(&server->pushing, loop, server_make_pushed, server, error);
	return code;
}

void server_close(struct server *server)
{
	size_t i;

	http_close(server->http);
	server->http = NULL;
	pushing_close(&server->pushing);
	for (i = 0; server->pages && i <= PUSHED; i++)
		growth_free(&server->pages[i].base);
	free(server->pages);
	server->pages = NULL;
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
	explicit_bzero(&server->policy.token, sizeof(server->policy.token));
}
