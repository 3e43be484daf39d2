/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a session by which processes are followed and probed, and what happens in them becomes known sites. They refer
 * to each other; what is below them, session.c takes from the kernel, and tests write down.
 */
#ifndef SESSION_CORE_H
#define SESSION_CORE_H

#include "session/collect.h"
#include "session/events.h"
#include "session/filters.h"
#include "session/follow.h"
#include "session/regions.h"

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

/* What several of them use; it is the caller's, and outlives them. */
struct core_base {
	struct module_list *modules;
	const struct maps *maps;
	struct share *shares; /* by target_id */
	struct mapping_set *mappings;
	struct jit_names *jit_names;
	const struct log *log;
};

/* Nothing is open. `core` is zeroed. */
void core_init(struct core *core);

/* Let the parts refer to each other and to `base`. What else is in them stays. */
void core_connect(struct core *core, const struct core_base *base);

/* Free what the parts hold. Probes and events are closed before. */
void core_free(struct core *core);

#endif
