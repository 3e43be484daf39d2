/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs copied of a frame's code, as memory in which it stands where it stood. What was not copied is asked of
 * the process, as long as the code still stands there unchanged.
 */
#ifndef UNWIND_INTERP_COPY_H
#define UNWIND_INTERP_COPY_H

#include <linux/types.h>

#include "interp_abi.h"
#include "unwind/target_memory.h"

struct interp_copy {
	const struct interp_code *code;
	const struct target_memory *below;
	bool live;
};

/*
 * Look at a copy; `below` is the memory of the process. The code is taken to live if its bytes from `first` to `last` are
 * as they were. All must outlive the memory.
 */
void interp_copy_open(struct interp_copy *copy, const struct interp_code *code,
		      const struct target_memory *below, size_t first, size_t last);
struct target_memory interp_copy_memory(struct interp_copy *copy);

#endif
