/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of triggers: what asks for a report on the way. */
#include "base/units.h"
#include "command/options_table.h"

/* Readings are a tenth of a second apart. */
#define WINDOW_MIN_NS 1000000000ULL

static int options_table_store_growth(const struct option_row *row, const char *text,
				      struct options *options, struct error *error)
{
	uint64_t bytes, ns;

	if (!units_parse_rate(text, &bytes, &ns) || ns < WINDOW_MIN_NS || ns > OPTION_TIME_MAX_NS)
		return option_row_refuse(row, text,
					 "a size per time of at least 1s, such as 10m/min or 1g/2h",
					 error);
	options->when_growth_bytes = bytes;
	options->when_growth_ns = ns;
	return 0;
}

static int options_table_store_rss(const struct option_row *row, const char *text,
				   struct options *options, struct error *error)
{
	if (!units_parse_size(text, &options->when_rss) || !options->when_rss)
		return option_row_refuse(row, text, "a size such as 500m or 2g", error);
	return 0;
}

static int options_table_store_exec(const struct option_row *row, const char *text,
				    struct options *options, struct error *error)
{
	if (!*text)
		return option_row_refuse(row, text, "a command", error);
	options->exec = text;
	return 0;
}

static const struct option_row trigger_rows[] = {
	{ .name = "when-rss",
	  .argument = "SIZE",
	  .help = "report when so much memory is resident",
	  .store = options_table_store_rss },
	{ .name = "when-growth",
	  .argument = "SIZE/TIME",
	  .help = "report when that has grown so fast: 10m/min",
	  .store = options_table_store_growth },
	{ .name = "on-oom",
	  .help = "report when the kernel kills one of its control group",
	  .store = option_row_store_true,
	  .field = offsetof(struct options, on_oom) },
	{ .name = "exec",
	  .argument = "CMD",
	  .help = "then run CMD by a shell; $1 is the report: FILE.1, ...",
	  .store = options_table_store_exec },
};

const struct option_list options_table_trigger = { trigger_rows,
						   sizeof(trigger_rows) / sizeof(trigger_rows[0]) };
