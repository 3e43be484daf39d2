/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between interpreters, as a table of functions: detection in a file, layout of
 * structures, names of frames. Each kind has a layout file and a names file. They read the target's
 * memory, which is untrusted and may change meanwhile.
 */
#ifndef INTERP_FRAMES_OPS_H
#define INTERP_FRAMES_OPS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "interp/interp_file.h"
#include "interp/interp_name.h"
#include "interp/target_memory.h"
#include "interp_abi.h"

/* Bytes that a language may keep of a process: offsets that it has found, a row of its table. */
#define INTERPRETER_OWN_MAX 128

/* The interpreter of a process; copied as bytes, so it owns nothing. */
struct interpreter {
	enum interp_kind kind;
	unsigned char own[INTERPRETER_OWN_MAX]; /* private to the language */
	struct interp_process process;
	uint64_t globals; /* as of struct interp_file, in the process; 0 = unknown */
	uint64_t code_end; /* function that ends code; 0 = there is none to probe */
	uint64_t loop_start, loop_end; /* function that runs code; equal = unknown */
};

static inline void interpreter_put_own(struct interpreter *interpreter, const void *bytes,
				       size_t size)
{
	memcpy(interpreter->own, bytes, size);
}

static inline void interpreter_get_own(const struct interpreter *interpreter, void *bytes,
				       size_t size)
{
	memcpy(bytes, interpreter->own, size);
}

struct gc_counter;

struct frames_ops {
	/* Name prefix of programs that only call the main function of the interpreter's library. */
	const char *launcher;

	/* Code is freed by free(), so its end is seen wherever all frees are. */
	bool code_is_freed;

	/*
	 * Is the file this interpreter? Fills in all of `interp` but kind and base; fields for the version stay 0 if it
	 * cannot be found out. `path` is the file's.
	 */
	bool (*read_file)(struct elf_file *file, const char *path, struct interp_file *interp);

	/*
	 * Is its layout known, judging by its file? `interp` is untrusted, but has a terminated
	 * version.
	 */
	bool (*knows)(const struct interp_file *interp);

	/*
	 * Fill in the layout, for BPF (`process`) too, and code_end; `bias` is what to add to the file's addresses. False
	 * if it is unknown.
	 */
	bool (*set_layout)(struct interpreter *interpreter, const struct interp_file *file,
			   uint64_t bias, const struct target_memory *memory);

	/*
	 * Is the interpreter's state of the thread whose pthread_self is `identity` at `state`?
	 * False with a wrong layout. If the state belongs to the process, `identity` is 0.
	 */
	bool (*is_state)(const struct interpreter *interpreter, const struct target_memory *memory,
			 uint64_t state, uint64_t identity);

	/* Are the frames of a state consistent? May be wrongly false while the thread runs. */
	bool (*check)(const struct interpreter *interpreter, const struct target_memory *memory,
		      uint64_t state);

	/*
	 * An address in the function that runs code, if no symbol shows it; 0 = unknown. NULL =
	 * always unknown.
	 */
	uint64_t (*find_loop)(const struct interpreter *interpreter,
			      const struct target_memory *memory, uint64_t state);

	/*
	 * Name a frame from the process's memory, or from a copy of its code and, beyond that, the
	 * process's memory if it still has that code. False, with `*ret_name` undefined, if there
	 * is no such code.
	 */
	bool (*name_frame)(const struct interpreter *interpreter,
			   const struct target_memory *memory, const struct interp_frame *frame,
			   struct interp_name *ret_name);
	bool (*name_copy)(const struct interpreter *interpreter, const struct target_memory *memory,
			  const struct interp_frame *frame, const struct interp_code *copy,
			  struct interp_name *ret_name);

	/* A key that changes when other code is at the address `code`; 0 if unreadable. */
	uint64_t (*key)(const struct interpreter *interpreter, const struct target_memory *memory,
			uint64_t code);

	/*
	 * Is the place of the interpreter's own counter of major collections known for its release?
	 * NULL = there is no such counter.
	 */
	bool (*has_gc_counter)(const struct interpreter *interpreter);
	/*
	 * Find that counter. False if the structures around it are inconsistent, as while they
	 * change. Reads present pages only.
	 */
	bool (*find_gc_counter)(const struct interpreter *interpreter,
				const struct target_memory *memory, struct gc_counter *ret_counter);
};

#endif
