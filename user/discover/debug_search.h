/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search for separate debug files. Opens candidates and reads no more of them than that they are ELF
 * files; whether one is the right one is for the asker to find out.
 */
#ifndef DISCOVER_DEBUG_SEARCH_H
#define DISCOVER_DEBUG_SEARCH_H

#include <stdbool.h>

#include "discover/debug_index.h"

struct debug_search {
	const char *directory; /* the chosen one, laid out in any way; NULL = none */
	struct debug_index index; /* of all that is in it */
	const char *host_directory; /* "/usr/lib/debug" */
	bool debuginfod; /* at last, ask the servers of $DEBUGINFOD_URLS */
};

/*
 * Open a candidate for a debug file that `module` lacks, beginning with number `*candidate`. The order: the chosen directory
 * if it is laid out like /usr/lib/debug, the root of the process that maps the module, this system, any file of the chosen
 * directory that fits, servers. Returns a descriptor, with its number in `*candidate`, or -1.
 */
int debug_search_open(const struct debug_search *search, const struct module *module,
		      const struct debug_want *want, uint32_t *candidate);

/* Is a candidate of this number from the chosen directory? */
bool debug_search_is_chosen(const struct debug_search *search, uint32_t candidate);

#endif
