/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether a breakpoint that the kernel has set is still in the code of a process. The kernel
 * assumes that it is; but a debugger may have written back the original instruction, or the process
 * may have replaced its own code.
 */
#ifndef FOLLOW_BREAKPOINTS_H
#define FOLLOW_BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/timed_call.h"

/* Reads the code of one process. */
struct breakpoints {
	pid_t pid;
	int pagemap, memory; /* -1 = no permission to open the file */
	struct call_patience patience; /* for reads that do not use these files */
	uint64_t page_size;
	uint64_t page; /* number of the page read last, plus one; 0 = none */
	uint64_t entry; /* page map entry of `page` */
};

/* Close with breakpoints_close. */
void breakpoints_open(struct breakpoints *breakpoints, pid_t pid);
void breakpoints_close(struct breakpoints *breakpoints);

/*
 * Is there a breakpoint at `address`, where the process maps `offset` of the file open as `file`?
 * True if this cannot be determined. Where the page map is readable, the check neither faults a
 * page in nor waits for one: a page with a breakpoint is private to the process, so a page that is
 * absent, or still the file's own, has none.
 */
bool breakpoints_has(struct breakpoints *breakpoints, uint64_t address, int file, uint64_t offset);

/* Does the memory at `address` begin with the same instructions as the file at `offset`? */
bool breakpoints_is_copy(struct breakpoints *breakpoints, uint64_t address, int file,
			 uint64_t offset);

#endif
