/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of one captured frame: its function and those inlined into it. */
#ifndef MODEL_SYMBOLS_H
#define MODEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function of a frame. Strings belong to the symbolizer; NULL = unknown. */
struct symbol {
	const char *function; /* demangled */
	const char *file; /* as in the debug information, absolute or relative */
	uint32_t line; /* 0 = unknown */
	bool inlined; /* inlined into the next one of the list */
};

/* Innermost first; the last one is the actual function. At least one entry. */
struct symbol_list {
	size_t count;
	struct symbol *items;
};

#endif
