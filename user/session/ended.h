/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that have ended, by exit or exec: execs without a record are inferred from sites; with --keep-exited, what a program
 * held stays as rows that do not change any more. The kernel's maps and the slots of the processes are free for others meanwhile.
 */
#ifndef SESSION_ENDED_H
#define SESSION_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/process.h"
#include "model/snapshot.h"
#include "probe/plan.h"
#include "session/sites.h"

/* A program that has ended, with --keep-exited. */
struct ended_program {
	const struct process *process; /* NULL = its slot has been reused */
	uint64_t until_ns; /* sites that began before are its */
	struct target *target; /* owned */
	bool has_sites;
	/* By source, and for exact figures and estimates: index + 1 of the sum of sites that hold nothing; 0 = none. */
	size_t rest[SOURCE_COUNT][2];
};

/* A site of an ended program. The plan's functions move when new ones come, so a row in store does not point to its. */
struct ended_site {
	struct snapshot_site row; /* with its stack, which is owned; without a function */
	uint32_t function; /* its index in the plan; ENDED_SEVERAL for a sum of sites */
};

#define ENDED_SEVERAL UINT32_MAX

struct ended {
	bool keeps; /* what ended programs held is kept */
	bool has_records; /* the kernel reports execs */
	bool lost_records; /* some of its records were dropped */
	bool needs_reap; /* the maps hold sites and blocks of programs that have ended */
	struct ended_program *programs;
	size_t program_count, program_capacity;
	struct ended_site *sites;
	size_t site_count, site_capacity;
};

void ended_free(struct ended *ended);

/* The program of a process has ended at `time_ns`; with `keeps`, a copy of its target is kept. */
void ended_add_program(struct ended *ended, struct process *process, uint64_t time_ns);

/* The kernel's records were dropped: execs that were waited for have no record. */
void ended_lose_records(struct ended *ended, struct process *process);

/* A new site of a process: is it of another program than the last one was? Sites may come to be known in any order. */
void ended_compare_site(struct ended *ended, struct process *process, const struct site *record);

/* Does a site belong to the program that its process runs now? */
bool ended_is_current(const struct known_site *site);

/*
 * Keep the row of a site of an ended program if that is wanted: as it is, taking the stack of `site`, or in the program's sum if
 * it holds nothing.
 */
void ended_keep_site(struct ended *ended, struct known_site *site, const struct snapshot_site *row);

/* The row of a kept site; valid until functions are planned or sites are kept. */
struct snapshot_site ended_row(const struct ended *ended, const struct plan *plan, size_t index);

/* Is a program to be listed? */
bool ended_lists(const struct ended_program *program);

/* `process` is going to be freed. */
void ended_forget_process(struct ended *ended, const struct process *process);

#endif
