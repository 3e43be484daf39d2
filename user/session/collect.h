/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the maps of the BPF programs into snapshots, and removes from them what ended programs have left. Totals are the counters
 * of the sites; the blocks are only read for their ages. So the target runs on while they are read, and totals hold whatever
 * it does meanwhile.
 */
#ifndef SESSION_COLLECT_H
#define SESSION_COLLECT_H

#include <stdint.h>

#include "analyze/history.h"
#include "model/generations.h"
#include "model/mapping_set.h"
#include "model/snapshot.h"
#include "session/events.h"
#include "session/light.h"

struct collect {
	const struct maps *maps;
	struct share *shares; /* of the programs; by target_id */
	struct events *events;
	struct site_reader *reader;
	struct mapping_set *mappings;
	struct light *light; /* NULL = frees are probed */
	uint64_t min_age_ns; /* blocks in use that are younger are counted apart */
	uint64_t survived; /* so are those that have outlived fewer major garbage collections */
	/* By which blocks in use are counted by their births; NULL = none. */
	const struct marks *marks;
	uint64_t reap_ns; /* what ended programs have left is not removed before this time */
};

/*
 * Read the counters of all sites and the ages of all blocks as of `time_ns`; what is of programs
 * that have ended is removed, from the maps and from the known sites, and kept with --keep-exited.
 * Returns 0 or a negative errno. If it is 0, the maps hold nothing of processes that had ended
 * before.
 */
int collect_read(struct collect *collect, uint64_t time_ns);

/* The same for what ended programs have left only; sets reap_ns. */
int collect_reap(struct collect *collect);

/* As session_find_site. */
uint64_t collect_find_site(const struct collect *collect, pid_t pid, uint64_t address,
			   uint64_t size);

/* Keep what the known sites hold as of `time_ns`, if that is wanted again. Blocks are not read. */
void collect_keep(const struct collect *collect, uint64_t time_ns, struct history *history);

/* Add modules, names, targets and sites, as collect_read has read them, to a snapshot. */
void collect_fill(const struct collect *collect, struct snapshot *snapshot);

#endif
