/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the lost blocks of a running process without stopping it, unless requested: passes are
 * repeated until several in a row agree; a pass in which no thread ran is as good as a stop.
 */
#ifndef MEMORY_LEAKS_LOOK_H
#define MEMORY_LEAKS_LOOK_H

#include "base/error.h"
#include "decode/name_reader.h"
#include "image/image.h"
#include "model/leak_report.h"
#include "model/leak_who.h"
#include "recording/leak_state.h"
#include "system/thread_registers.h"
#include "system/watchdog.h"

/*
 * Limit of passes, plus one in a pause and one after a failed pause; and limit of register reads:
 * at the start of a pass, and after all memory has been read.
 */
#define LEAKS_PASSES_MAX 40
#define LEAKS_REGISTER_READS (2 * (LEAKS_PASSES_MAX + 2))

struct leaks_wanted {
	pid_t pid;
	uint64_t until_ns; /* CLOCK_MONOTONIC: time limit; exceeding it is an error */
	uint64_t max_memory; /* limit of own memory for the blocks, bytes */
	uint64_t gap_ns; /* pause between two passes */
	/* Bits by enum leak_heuristic: which pointers to the inside of a block count. */
	unsigned int heuristics;
	bool (*is_over)(void); /* must everything end now? NULL = never */
	/* Called at the start of each pass, from 1; may be NULL. */
	void (*on_pass)(unsigned int number);
	struct name_reader *names; /* NULL = no names of symbols and types */
	/*
	 * Append the registers of all threads of the process; false if unavailable. Called at most
	 * LEAKS_REGISTER_READS times. NULL = unavailable.
	 */
	bool (*registers)(void *context, struct thread_registers_list *registers);
	/*
	 * The key of the site that allocated the block at `address`; 0 = not seen. NULL = nothing
	 * was traced.
	 */
	uint64_t (*find_site)(void *context, uint64_t address, uint64_t size);
	/*
	 * Has a trace since the start of the program, which lost nothing, seen no call of a
	 * function that allocates or frees? Asked where no allocator is recognized. NULL = unknown.
	 */
	bool (*saw_no_call)(void *context);
	void *context;
	/* Stops the process for one pass if none was quiet; NULL = never stop. */
	struct watchdog *pause;
	uint64_t max_pause_ns;
	/* The process is stopped at its exit: blocks reached by stale words only are lost */
	bool is_ending;
	struct leak_state *before; /* state of an earlier look; NULL = none */
	struct leak_state *ret_state; /* result, {0}: state of this look; NULL = not wanted */
	struct leak_who *who; /* a block whose holders to find instead of groups; NULL = none */
};

/*
 * Fill `*ret_report`, which is {0}; free it with leak_report_free, also after a failure. Returns 0,
 * or a negative errno with `error` filled: ERROR_TARGET if the process does not exist, has ended,
 * or executed another program; ERROR_PERMISSION if it cannot be examined, or time or memory ran
 * out; ERROR_NOTHING if its blocks cannot be listed, or `who` is not a block; ERROR_USAGE if
 * `before` belongs to another process or program.
 */
int leaks_look(const struct leaks_wanted *wanted, struct leak_report *ret_report,
	       struct error *error);

#endif
