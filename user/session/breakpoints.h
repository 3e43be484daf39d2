/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a breakpoint of the kernel's still in the code of a process? The kernel believes so once it has put it there; a
 * debugger that writes back what it had found, or the process itself, may have taken it out.
 */
#ifndef SESSION_BREAKPOINTS_H
#define SESSION_BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timed_call.h"

/* Reads the code of one process. */
struct breakpoints {
	pid_t pid;
	int pagemap, memory; /* -1: whose files are not ours to open */
	struct call_patience patience; /* with memory that is read without them */
	uint64_t page_size;
	uint64_t page; /* number of the page that was looked at last, plus one; 0 = none */
	uint64_t entry; /* of it in the page map */
};

/* Close with breakpoints_close. */
void breakpoints_open(struct breakpoints *breakpoints, pid_t pid);
void breakpoints_close(struct breakpoints *breakpoints);

/*
 * Is there one at `address`, which maps `offset` of the file behind the descriptor `file`? True if that is unknown.
 * Where the page map may be read, this neither faults a page in nor waits for one: a page with a breakpoint is private
 * to the process, so one that is missing, or the file's own, has none.
 */
bool breakpoints_has(struct breakpoints *breakpoints, uint64_t address, int file, uint64_t offset);

/* Does the memory at `address` begin with the same instructions as the file at `offset`? */
bool breakpoints_is_copy(struct breakpoints *breakpoints, uint64_t address, int file,
			 uint64_t offset);

#endif
