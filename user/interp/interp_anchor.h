/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where an interpreter keeps the state of the current thread: at the same distance from the
 * thread pointer in every thread, in a thread-local variable or a slot of pthread_setspecific.
 * Needs no symbols: tests the words around the thread pointer of each thread, one by one, whether
 * they point to a state.
 *
 * glibc on x86-64: the thread's control block, at the thread pointer, contains its own address, the
 * vector of the modules' thread-local blocks, and its own address again. The first modules'
 * variables lie below it.
 *
 * glibc on arm64: the control block lies below the thread pointer; its list of robust mutexes,
 * which is mostly empty, points to itself. At the thread pointer is the vector's address; the first
 * modules' variables lie above.
 */
#ifndef INTERP_ANCHOR_H
#define INTERP_ANCHOR_H

#include <linux/types.h>
#include <stddef.h>

#include "interp_abi.h"
#include "interp/target_memory.h"

struct memory_range {
	uint64_t start, end;
};

struct anchor_question {
	/* Does `value` point to the state of the thread whose pthread_self is `identity`? */
	bool (*is_state)(void *context, uint64_t value, uint64_t identity);
	void *context;
};

/*
 * Search all threads of the process. `ranges` is its writable memory without a file, in address
 * order. Fills in anchor_kind, anchor and module of `ret_process`, and the state found. False, with
 * both untouched, if no thread has a state now; `*ret_spent` is set if the search was cut short,
 * because too many words look like threads.
 */
bool anchor_find(const struct target_memory *memory, const struct memory_range *ranges,
		 size_t range_count, const struct anchor_question *question,
		 struct interp_process *ret_process, uint64_t *ret_state, bool *ret_spent);

#endif
