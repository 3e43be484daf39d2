/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option by which the kernel's own memory is traced. */
#include "command/options_table.h"

static const struct option_row kernel_rows[] = {
	{ .name = "kernel",
	  .help = "the kernel's own memory; with -p what it is for PIDs",
	  .store = option_row_store_true,
	  .field = offsetof(struct options, kernel) },
};

const struct option_list options_table_kernel = { kernel_rows, 1 };
