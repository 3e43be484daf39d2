/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks of a running process nothing leads to any more. It is not stopped, unless that is wanted: passes are repeated until several in a row agree,
 * and one in which no thread ran is as good as a stop.
 */
#ifndef MEMORY_LEAKS_LOOK_H
#define MEMORY_LEAKS_LOOK_H

#include "base/error.h"
#include "decode/name_reader.h"
#include "heap/image.h"
#include "model/leak_report.h"
#include "model/leak_who.h"
#include "recording/leak_state.h"
#include "system/thread_registers.h"
#include "system/watchdog.h"

/* Passes at most, one in a pause, and one where that had no end; and how often registers are read: as a pass begins, and when all memory has been read. */
#define LEAKS_PASSES_MAX 40
#define LEAKS_REGISTER_READS (2 * (LEAKS_PASSES_MAX + 2))

struct leaks_wanted {
	pid_t pid;
	uint64_t until_ns; /* CLOCK_MONOTONIC: what is not known by then is an error */
	uint64_t max_memory; /* that may be taken for the blocks, in bytes */
	uint64_t gap_ns; /* between two passes */
	/* Bits by enum leak_heuristic: which pointers to the inside of a block count. */
	unsigned int heuristics;
	bool (*is_over)(void); /* must all end now? NULL = never */
	/* A pass begins; the first is 1. NULL = nobody asks. */
	void (*on_pass)(unsigned int number);
	struct name_reader *names; /* NULL = places and types have none */
	/*
	 * Append the registers of all threads of the process; false if there were none to be had. Called LEAKS_REGISTER_READS times at most.
	 * NULL = there are none.
	 */
	bool (*registers)(void *context, struct thread_registers_list *registers);
	/* The key of the site that has allocated the block at `address`; 0 = that was not seen. NULL = nobody was watching. */
	uint64_t (*find_site)(void *context, uint64_t address, uint64_t size);
	void *context;
	/* To stop the process for one pass, where none was quiet; NULL = it is not to be stopped. */
	struct watchdog *pause;
	uint64_t max_pause_ns;
	bool is_ending; /* the process is stopped where it ends: what only stale words lead to is lost */
	struct leak_state *before; /* of an earlier look at the process; NULL = none */
	struct leak_state *ret_state; /* {0}: of this look; NULL = not wanted */
	struct leak_who *who; /* a block whose holders are wanted instead of groups; NULL = none */
};

/*
 * Fill `*ret_report`, which is {0}; free it with leak_report_free, also after a failure. Returns 0, or a negative errno with `error`
 * filled: ERROR_TARGET if there is no such process, or it has ended, or executed another program; ERROR_PERMISSION if it may not be
 * looked at, or there was no time, or not enough memory; ERROR_NOTHING if its blocks cannot be listed, or `who` is none; ERROR_USAGE if `before` is of another
 * process, or of a program that it executed before.
 */
int leaks_look(const struct leaks_wanted *wanted, struct leak_report *ret_report,
	       struct error *error);

#endif
