/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What BPF programs copied of a frame's code, as memory in which it is where it was. What was not copied is asked of
 * the process: who looked at it must make sure that the code still is there.
 */
#ifndef INTERP_COPY_H
#define INTERP_COPY_H

#include <linux/types.h>

#include "interp_abi.h"
#include "interp/target_memory.h"

struct interp_copy {
	const struct interp_code *code;
	const struct target_memory *below; /* memory of the process; NULL = ask the copy only */
	bool asked; /* that memory was */
};

/* Copy and memory below must outlive the result. */
struct target_memory interp_copy_memory(struct interp_copy *copy);

#endif
