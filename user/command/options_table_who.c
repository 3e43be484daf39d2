/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option by which the holders of a block are asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/options_table.h"

/* An address as reports write it, "0x" before it or not. */
static int who_store(const struct option_row *row, const char *text, struct options *options,
		     struct error *error)
{
	uint64_t address;
	char *end;

	errno = 0;
	address = strtoull(text, &end, 16);
	if (!address || errno || *end || !strchr("0123456789abcdefABCDEF", *text))
		return option_row_refuse(row, text, "an address such as 0x7f12a0", error);
	options->who = address;
	return 0;
}

static const struct option_row who_rows[] = {
	{ .name = "who",
	  .argument = "ADDR",
	  .help = "what points to the block at ADDR",
	  .store = who_store },
};

const struct option_list options_table_who = { who_rows, 1 };
