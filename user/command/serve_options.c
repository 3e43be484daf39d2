/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See serve_options.h. */
#include "command/serve_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "command/target_options.h"
#include "command/trace_options.h"
#include "render/render.h"
#include "serve/address.h"
#include "serve/push_url.h"

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

/* Sites of a page whose format has a part of them only. */
#define SITES_DEFAULT 50
#define OTLP_INTERVAL_NS 60000000000

const struct option_list *const serve_options[] = {
	&options_table_target,
	&options_table_follow,
	&options_table_serve,
	&options_table_frames,
	&options_table_sites,
	&options_table_count,
	&options_table_top,
	&options_table_record,
	&options_table_probe,
	&options_table_general,
	NULL,
};

const struct command_note serve_options_notes[] = {
	{ "top", .help = "sites of a page (50); 0 = all" },
	{ NULL },
};

const struct argument_row serve_options_arguments[] = { { NULL } };

static int serve_check_address(const struct options *options, struct error *error)
{
	struct address address;
	int code;

	if (!options->listen)
		return USAGE("'tracer serve' needs an address to listen at: --listen "
			     "127.0.0.1:9797, or --listen unix:/run/tracer.sock");
	code = address_parse(options->listen, &address, error);
	if (!code && !address.is_loopback && !address.is_unix && !options->token_file)
		return USAGE("others can reach '%s', and reports have names from processes: add "
			     "--token-file FILE, or listen at 127.0.0.1 or unix:/PATH",
			     options->listen);
	return code;
}

/* Without a push, no interval of pushes. */
static int serve_check_otlp(struct options *options, struct error *error)
{
	struct push_url url;

	if (!options->otlp && options->otlp_interval_ns)
		return USAGE("--otlp-interval is how often --otlp pushes: add --otlp URL");
	if (!options->otlp_interval_ns)
		options->otlp_interval_ns = OTLP_INTERVAL_NS;
	return options->otlp ? push_url_parse(options->otlp, &url, error) : 0;
}

int serve_options_check(const struct command_line *line, struct options *options,
			struct error *error)
{
	int code = target_options_check(line, options, error);

	if (!code)
		code = serve_check_address(options, error);
	if (!code)
		code = serve_check_otlp(options, error);
	if (!code)
		code = trace_options_check_blocks(options, error);
	if (!code)
		code = trace_options_check_budget(options, error);
	if (!code)
		code = trace_options_check_light(options, error);
	if (code)
		return code;
	trace_options_set_defaults(options);
	/* Reports are made when somebody asks. */
	options->interval_ns = 0;
	options->format = render_format_find("metrics");
	return 0;
}

void serve_options_set_format_defaults(struct options *options)
{
	if (options->top == OPTIONS_TOP_DEFAULT && !options->format->all_sites)
		options->top = SITES_DEFAULT;
	trace_options_set_format_defaults(options);
}
