/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a session that follow processes, probe them, and turn events into known sites. They
 * point to each other. What they need from the kernel comes from session.c; unit tests replace it
 * by tables.
 */
#ifndef SESSION_CORE_H
#define SESSION_CORE_H

#include "session/collect.h"
#include "follow/events.h"
#include "follow/filters.h"
#include "follow/follow.h"
#include "follow/regions.h"

struct core {
	struct notices notices;
	struct filters filters;
	struct process_table processes;
	struct planned_files files;
	struct probe_set probes;
	struct returns returns;
	struct late late;
	struct ended ended;
	struct sites sites;
	struct scan scan;
	struct follow follow;
	struct site_reader reader;
	struct events events;
	struct collect collect;
	struct regions regions;
};

/* What several parts share. Owned by the caller; outlives them. */
struct core_base {
	struct module_list *modules;
	const struct maps *maps;
	struct share *shares; /* by target_id */
	struct mapping_set *mappings;
	struct jit_names *jit_names;
	const struct log *log;
};

/* Initialize a zeroed `core`; opens nothing. */
void core_init(struct core *core);

/* Set the parts' pointers to each other and to `base`; leaves all other fields alone. */
void core_connect(struct core *core, const struct core_base *base);

/* Free what the parts own. Close probes and events first. */
void core_free(struct core *core);

#endif
