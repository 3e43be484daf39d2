/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of interpreters' frames, each read once from its process and kept for the whole run, even
 * after its code is gone. Detects code that was replaced at the same address. Names are kept by
 * process, so no process can name another one's frames.
 */
#ifndef FRAMES_FRAME_NAMES_H
#define FRAMES_FRAME_NAMES_H

#include "base/table.h"
#include "frames/interpreter.h"
#include "model/name_pool.h"
#include "model/stack.h"

struct frame_names;

/* A name in a stack. */
struct frame_named {
	const struct frame_name *name; /* in the pool */
	bool covers_next; /* leave out the next frame: see interp_name.h */
};

/* The frames of one process whose names are known. Start with {0}. */
struct known_frames {
	struct table frames; /* struct known_frame by hash */
};

/* Free with frame_names_free; names live as long. */
struct frame_names *frame_names_new(void);
void frame_names_free(struct frame_names *names);

/* The pool of the names, to hold them longer. */
struct name_pool *frame_names_pool(const struct frame_names *names);

/*
 * The name of a frame of the process with frames `known`, read from `memory` unless known; `copy`
 * as for interpreter_name. NULL if its code is gone. Valid until frame_names_forget; the name
 * itself until frame_names_free.
 */
const struct frame_named *frame_names_get(struct frame_names *names, struct known_frames *known,
					  const struct interpreter *interpreter,
					  const struct target_memory *memory,
					  const struct interp_frame *frame,
					  const struct interp_code *copy);

/* The program of the process has ended. Its names stay. */
void frame_names_forget(struct known_frames *known);

#endif
