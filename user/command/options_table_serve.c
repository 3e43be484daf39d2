/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of serving: see options_table.h. */
#include "command/options_table.h"

static const struct option_row serve_rows[] = {
	{ .name = "listen",
	  .argument = "ADDR",
	  .help = "where: 127.0.0.1:PORT, [::1]:PORT, unix:/PATH",
	  .store = option_row_store_text,
	  .field = offsetof(struct options, listen) },
	{ .name = "token-file",
	  .argument = "FILE",
	  .help = "who asks must know the token in FILE",
	  .store = option_row_store_text,
	  .field = offsetof(struct options, token_file) },
	{ .name = "otlp",
	  .argument = "URL",
	  .help = "push profiles by OTLP, too: http://127.0.0.1:4318",
	  .store = option_row_store_text,
	  .field = offsetof(struct options, otlp) },
	{ .name = "otlp-interval",
	  .argument = "TIME",
	  .help = "with --otlp: how often (default 60s)",
	  .store = option_row_store_time,
	  .field = offsetof(struct options, otlp_interval_ns),
	  .min = 1000000000,
	  .max = OPTION_TIME_MAX_NS },
};

const struct option_list options_table_serve = { serve_rows,
						 sizeof(serve_rows) / sizeof(serve_rows[0]) };
