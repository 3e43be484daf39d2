/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Presents the copy that BPF programs made of a frame's code as memory at its original addresses.
 * Other addresses are read from the process: the caller must make sure that the code is still
 * there.
 */
#ifndef INTERP_COPY_H
#define INTERP_COPY_H

#include <linux/types.h>

#include "interp_abi.h"
#include "interp/target_memory.h"

struct interp_copy {
	const struct interp_code *code;
	const struct target_memory *below; /* memory of the process; NULL = use the copy only */
	bool asked; /* memory of the process was read */
};

/* Copy and memory below must outlive the result. */
struct target_memory interp_copy_memory(struct interp_copy *copy);

#endif
