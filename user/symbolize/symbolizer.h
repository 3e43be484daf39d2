/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses to function, file, line and inlined functions. Results are cached for the whole run. */
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H

#include "model/module.h"
#include "model/stack.h"
#include "model/symbols.h"

struct symbolizer;

struct symbolizer_options {
	const char *debug_directory; /* searched before /usr/lib/debug; NULL = none */
	bool debuginfod; /* ask debuginfod servers */
};

/* Never fails; free with symbolizer_free. `modules` must outlive it. */
struct symbolizer *symbolizer_new(const struct module_list *modules,
				  const struct symbolizer_options *options);

/*
 * The names of `frame`: at least one symbol, valid until symbolizer_free. A frame without a name has
 * `function` NULL in its only symbol. FRAME_ERROR frames give their reason as the function.
 */
const struct symbol_list *symbolizer_lookup(struct symbolizer *symbolizer,
					    const struct frame *frame);

void symbolizer_free(struct symbolizer *symbolizer);

#endif
