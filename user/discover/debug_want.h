/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request for a missing file with debug information. The sandboxed worker has parsed the program
 * and knows what is missing; only the tracer may open files. The request is untrusted.
 */
#ifndef DISCOVER_DEBUG_WANT_H
#define DISCOVER_DEBUG_WANT_H

#include <stddef.h>
#include <stdint.h>

#include "model/module.h"

enum debug_want_kind {
	WANT_MODULE = 1, /* the mapped file itself */
	WANT_BUILD_ID, /* the separate debug file of a build ID */
	WANT_DEBUGLINK, /* the file that .gnu_debuglink names */
	WANT_ALTLINK, /* the shared file that .gnu_debugaltlink names (dwz) */
};

struct debug_want {
	enum debug_want_kind kind;
	const char *name; /* as the section has it; "" = none */
	unsigned char build_id[BUILD_ID_MAX]; /* of the file that is wanted */
	size_t build_id_size; /* bytes; 0 = unknown */
};

/*
 * Opens candidates for the wanted file. `open` starts with candidate number `*candidate`, skips
 * missing ones, stores the number that it opened and returns its descriptor, or -1 when none is
 * left. The caller owns the descriptor, decides whether it is the right file, and otherwise asks
 * again from the next number.
 */
struct debug_source {
	int (*open)(void *context, const struct debug_want *want, uint32_t *candidate);
	void *context;
};

#endif
