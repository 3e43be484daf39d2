/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches for separate debug files. Opens candidates and only checks that they are ELF files; the
 * caller decides whether one matches.
 */
#ifndef DISCOVER_DEBUG_SEARCH_H
#define DISCOVER_DEBUG_SEARCH_H

#include <stdbool.h>

#include "discover/debug_index.h"

struct debug_search {
	const char *directory; /* --debug-dir, in any layout; NULL = none */
	struct debug_index index; /* index of that directory */
	const char *host_directory; /* "/usr/lib/debug" */
	bool debuginfod; /* finally, ask the servers of $DEBUGINFOD_URLS */
};

/*
 * Open a candidate for a debug file that `module` lacks, from number `*candidate` on. Order: the
 * chosen directory, if laid out like /usr/lib/debug; the root of the process that maps the module;
 * this system; any matching file of the chosen directory; servers. Returns a descriptor, with its
 * number in `*candidate`, or -1.
 */
int debug_search_open(const struct debug_search *search, const struct module *module,
		      const struct debug_want *want, uint32_t *candidate);

/* Is a candidate of this number from the chosen directory? */
bool debug_search_is_chosen(const struct debug_search *search, uint32_t candidate);

#endif
