/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that have ended by exit or exec. An exec without a kernel record is inferred from sites.
 * With --keep-exited, the sites of an ended program stay as rows that no longer change, while its
 * map entries and its process slot are released for reuse.
 */
#ifndef FOLLOW_ENDED_H
#define FOLLOW_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/process.h"
#include "model/snapshot.h"
#include "probe/plan.h"
#include "follow/sites.h"

/* A program that has ended, with --keep-exited. */
struct ended_program {
	const struct process *process; /* NULL = its slot has been reused */
	uint64_t until_ns; /* sites that began before this time belong to it */
	struct target *target; /* owned */
	bool has_sites;
	/*
	 * By source, and for exact figures and estimates: index + 1 of the row that sums up sites
	 * holding nothing; 0 = none.
	 */
	size_t rest[SOURCE_COUNT][2];
};

/*
 * A site of an ended program. The plan's functions move when new ones are added, so a kept row
 * holds an index instead of a pointer.
 */
struct ended_site {
	struct snapshot_site row; /* with its stack, which is owned; without a function */
	uint32_t function; /* index in the plan; ENDED_SEVERAL = a sum of sites */
};

#define ENDED_SEVERAL UINT32_MAX

struct ended {
	bool keeps; /* --keep-exited */
	bool has_records; /* the kernel's exec records are available */
	bool lost_records; /* some of its records were dropped */
	bool needs_reap; /* the maps still hold sites and blocks of ended programs */
	struct ended_program *programs;
	size_t program_count, program_capacity;
	struct ended_site *sites;
	size_t site_count, site_capacity;
};

void ended_free(struct ended *ended);

/* The program of `process` has ended at `time_ns`. With `keeps`, keeps a copy of its target. */
void ended_add_program(struct ended *ended, struct process *process, uint64_t time_ns);

/* Kernel records were dropped: pending execs will not get one. */
void ended_lose_records(struct ended *ended, struct process *process);

/*
 * Detect from a new site whether its process runs another program than before. Sites may arrive in
 * any order.
 */
void ended_compare_site(struct ended *ended, struct process *process, const struct site *record);

/* Does a site belong to the program that its process runs now? */
bool ended_is_current(const struct known_site *site);

/*
 * With `keeps`, keep the row of a site of an ended program: as a row of its own, which takes over
 * the stack of `site`, or within the program's sum if it holds nothing.
 */
void ended_keep_site(struct ended *ended, struct known_site *site, const struct snapshot_site *row);

/* The row of a kept site; valid until a function is planned or another site is kept. */
struct snapshot_site ended_row(const struct ended *ended, const struct plan *plan, size_t index);

/* Should a program be listed? */
bool ended_lists(const struct ended_program *program);

/* `process` is about to be freed. */
void ended_forget_process(struct ended *ended, const struct process *process);

#endif
