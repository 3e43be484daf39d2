/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One stack from two: the native frames of a thread and those of the interpreter that runs in it.
 *
 * A call of the function that runs the interpreter's code ("loop") is one native frame and one run
 * of interpreter frames, which ends with an entry. Where loops and entries match in number, as far
 * as none were cut off, each run is put before the frame of its loop. Where the loop is unknown (a
 * stripped file) or hidden (generated code), all interpreter frames are put together, after the
 * native frames that were called from the interpreter: before its first own frame.
 */
#ifndef INTERP_MERGE_H
#define INTERP_MERGE_H

#include <stddef.h>

#include "model/stack.h"

enum merge_place {
	MERGE_OTHER = 0,
	MERGE_RUNTIME, /* code of the interpreter itself */
	MERGE_LOOP, /* the same, and in the loop */
	MERGE_START, /* code that starts programs and threads: libc's */
};

struct merge_native {
	struct frame frame;
	enum merge_place place;
};

struct merge_interp {
	struct frame frame;
	bool entry;
};

/*
 * Merge `native` and `interp`, both innermost first, into `to`, which has room for all. The interpreter's own frames
 * become `internal`, and so do generated code, and what starts a thread or program if only that is further out
 * than the interpreter. Returns the number of frames, which is the sum of both; an error frame stays the last one.
 */
size_t interp_merge(const struct merge_native *native, size_t native_count,
		    const struct merge_interp *interp, size_t interp_count, struct frame *to);

#endif
