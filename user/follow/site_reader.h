/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads new sites: fetches their stacks from the maps, and resolves and names the frames while
 * their files are still mapped.
 */
#ifndef FOLLOW_SITE_READER_H
#define FOLLOW_SITE_READER_H

#include <stdint.h>

#include "interp/jit_names.h"
#include "kernel/interp_table.h"
#include "kernel/maps.h"
#include "follow/ended.h"
#include "follow/process_table.h"
#include "follow/scan.h"
#include "follow/sites.h"

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
 * Add the site with this key and record, or update the counters of a known one. NULL if it belongs
 * to no traced process. May read the mappings of the process and probe new ones.
 */
struct known_site *site_reader_read(const struct site_reader *reader, uint64_t key,
				    const struct site *record);

#endif
