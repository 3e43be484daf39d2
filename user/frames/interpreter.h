/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the interpreter of a process: in its files by name, version and layout, then in its memory,
 * where the layout is verified. The result is all that BPF needs to read its frames, and all that
 * naming them needs.
 */
#ifndef FRAMES_INTERPRETER_H
#define FRAMES_INTERPRETER_H

#include <stddef.h>

#include "interp/interp_anchor.h"
#include "interp/interp_file.h"
#include "interp/frames_ops.h"

/*
 * Find the interpreter of `file`, whose first byte is mapped at `start`, in the memory of a process. `ranges` is
 * as for anchor_find. Returns 0; -EAGAIN: no thread runs it, perhaps not yet, or it was in motion; -E2BIG: none was found
 * in as much of its memory as may be searched; -ENOTSUP: its structures are not those of its version.
 */
int interpreter_find(const struct interp_file *file, uint64_t start,
		     const struct target_memory *memory, const struct memory_range *ranges,
		     size_t range_count, struct interpreter *ret_interpreter);

/*
 * Name a frame that BPF has read. `copy` is what it copied of its code, or NULL if it could not. False, with
 * `*ret_name` in an undefined state, if its code is no more or may be other code by now.
 */
bool interpreter_name(const struct interpreter *interpreter, const struct target_memory *memory,
		      const struct interp_frame *frame, const struct interp_code *copy,
		      struct interp_name *ret_name);

/*
 * A key that changes when other code replaces the frame's: its content, or else a number for what
 * is there now; 0 if nothing is.
 */
uint64_t interpreter_key(const struct interpreter *interpreter, const struct target_memory *memory,
			 const struct interp_frame *frame);

#endif
