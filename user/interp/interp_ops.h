/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between interpreters, as a table of functions: how one is found in a file, how its structures are laid
 * out, how its frames are named. Each kind's are in a file of layout and a file of names. Memory that they read is the
 * target's: it may change meanwhile, and nothing in it can be trusted.
 */
#ifndef INTERP_OPS_H
#define INTERP_OPS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp/interp_file.h"
#include "interp/interp_name.h"
#include "interp/python_layout.h"
#include "interp/target_memory.h"
#include "interp_abi.h"

struct ruby_layout;
struct php_layout;

/* The interpreter of a process. */
struct interpreter {
	enum interp_kind kind;
	const struct ruby_layout *ruby;
	struct python_layout python;
	const struct php_layout *php;
	struct interp_process process;
	uint64_t globals; /* as of struct interp_file, in the process; 0 = unknown */
	uint64_t code_end; /* function that ends code; 0 = there is none to probe */
	uint64_t loop_start, loop_end; /* function that runs code; equal = unknown */
};

struct interp_ops {
	/* How the names of programs begin that only call the main function of the interpreter's library. */
	const char *launcher;

	/* Code ends where its memory is freed, so its end is seen where all frees are. */
	bool code_is_freed;

	/*
	 * Is the file this interpreter? Fills in all of `interp` but kind and base; fields for the version stay 0 if it
	 * cannot be found out. `path` is the file's.
	 */
	bool (*read_file)(struct elf_file *file, const char *path, struct interp_file *interp);

	/* Is its layout known, as far as its file shows? `interp` may hold anything, but has a terminated version. */
	bool (*knows)(const struct interp_file *interp);

	/*
	 * Fill in the layout, for BPF (`process`) too, and code_end; `bias` is what to add to the file's addresses. False
	 * if it is unknown.
	 */
	bool (*set_layout)(struct interpreter *interpreter, const struct interp_file *file,
			   uint64_t bias, const struct target_memory *memory);

	/*
	 * Is there an interpreter's state at `state`, of the thread whose pthread_self is `identity`? With a layout that
	 * is not the right one the answer is no. Where the state is the process's, `identity` is 0.
	 */
	bool (*is_state)(const struct interpreter *interpreter, const struct target_memory *memory,
			 uint64_t state, uint64_t identity);

	/*
	 * Do the frames of a state make sense? The thread may run meanwhile, and then an answer of no can be wrong.
	 */
	bool (*check)(const struct interpreter *interpreter, const struct target_memory *memory,
		      uint64_t state);

	/* An address in the function that runs code, where no symbol leads to it; 0 = unknown. NULL = always. */
	uint64_t (*find_loop)(const struct interpreter *interpreter,
			      const struct target_memory *memory, uint64_t state);

	/*
	 * Name a frame by the process's memory, or by what was copied of its code and, beyond that, the process's memory
	 * if it still has that code. False, with `*ret_name` in an undefined state, if there is no such code.
	 */
	bool (*name_frame)(const struct interpreter *interpreter,
			   const struct target_memory *memory, const struct interp_frame *frame,
			   struct interp_name *ret_name);
	bool (*name_copy)(const struct interpreter *interpreter, const struct target_memory *memory,
			  const struct interp_frame *frame, const struct interp_code *copy,
			  struct interp_name *ret_name);

	/* A number that is another one when other code is at the address `code`; 0 if it cannot be read. */
	uint64_t (*key)(const struct interpreter *interpreter, const struct target_memory *memory,
			uint64_t code);
};

/* NULL for what is no kind of interpreter. */
const struct interp_ops *interp_ops_get(enum interp_kind kind);

#endif
