/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes sites known: reads their stacks from the maps, resolves and names frames, while what they lie in is still mapped. */
#ifndef SESSION_SITE_READER_H
#define SESSION_SITE_READER_H

#include <stdint.h>

#include "interp/jit_names.h"
#include "kernel/interp_table.h"
#include "kernel/maps.h"
#include "session/ended.h"
#include "session/process_table.h"
#include "session/scan.h"
#include "session/sites.h"

struct site_reader {
	const struct maps *maps;
	struct process_table *processes;
	struct sites *sites;
	struct scan *scan;
	struct ended *ended;
	struct jit_names *jit_names;
	struct notices *notices;
};

/*
 * Make the site with this key and record known, or give a known one its new counters. NULL if it is of no traced process. May
 * read the mappings of the process, and probe what is new.
 */
struct known_site *site_reader_read(const struct site_reader *reader, uint64_t key,
				    const struct site *record);

#endif
