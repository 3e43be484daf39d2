/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the BPF maps into snapshots, and removes what ended programs have left in them. Totals are
 * the counters of the sites; blocks are read only for their ages. So the target keeps running
 * during the read, and totals are exact whatever it does meanwhile.
 */
#ifndef SESSION_COLLECT_H
#define SESSION_COLLECT_H

#include <stdint.h>

#include "verdict/history.h"
#include "model/generations.h"
#include "model/mapping_set.h"
#include "model/snapshot.h"
#include "follow/events.h"
#include "windows/light.h"

struct collect {
	const struct maps *maps;
	struct share *shares; /* of the BPF programs; by target_id */
	struct events *events;
	struct site_reader *reader;
	struct mapping_set *mappings;
	struct light *light; /* NULL = frees are probed */
	uint64_t min_age_ns; /* blocks in use that are younger are counted apart */
	uint64_t survived; /* so are those that have outlived fewer major garbage collections */
	/* Blocks in use are counted by birth between these marks; NULL = they are not. */
	const struct marks *marks;
	uint64_t reap_ns; /* remains of ended programs are not removed before this time */
};

/*
 * Read the counters of all sites and the ages of all blocks as of `time_ns`. Removes what belongs
 * to ended programs from the maps and the known sites; --keep-exited keeps their rows. Returns 0 or
 * a negative errno. After 0, the maps hold nothing of processes that had ended before the call.
 */
int collect_read(struct collect *collect, uint64_t time_ns);

/* Only remove what ended programs have left; sets reap_ns. */
int collect_reap(struct collect *collect);

/* See session_find_site. */
uint64_t collect_find_site(const struct collect *collect, pid_t pid, uint64_t address,
			   uint64_t size);

/* Add what the known sites hold at `time_ns` to the history, if it is due. Does not read blocks. */
void collect_keep(const struct collect *collect, uint64_t time_ns, struct history *history);

/* Add the modules, names, targets and sites that collect_read has read to a snapshot. */
void collect_fill(const struct collect *collect, struct snapshot *snapshot);

#endif
