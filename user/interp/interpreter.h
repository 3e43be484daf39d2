/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreter of a process: found in its files by name, version and layout, then in its memory, where the layout is
 * checked. What comes out is all that the programs need to read its frames, and what names them.
 */
#ifndef INTERP_INTERPRETER_H
#define INTERP_INTERPRETER_H

#include <linux/types.h>
#include <stddef.h>

#include "interp_abi.h"
#include "interp/interp_anchor.h"
#include "interp/interp_name.h"
#include "interp/python_layout.h"
#include "interp/ruby_layout.h"
#include "system/elf_file.h"

#define INTERPRETER_VERSION_MAX 24

/* What a file says. Addresses are as the file sees them; 0 = it does not say. */
struct interp_file {
	enum interp_kind kind;
	uint64_t base; /* of the file's first byte */
	char version[INTERPRETER_VERSION_MAX]; /* printable */
	const struct ruby_layout *ruby; /* NULL = unknown version */
	unsigned int python_minor;
	uint64_t runtime; /* _PyRuntime */
	uint64_t code_type; /* PyCode_Type */
	uint64_t loop,
		loop_size; /* the function that runs code: rb_vm_exec, _PyEval_EvalFrameDefault */
};

struct interpreter {
	enum interp_kind kind;
	const struct ruby_layout *ruby;
	struct python_layout python;
	struct interp_process process;
	uint64_t code_end; /* function that ends code; 0 = that is seen otherwise */
	uint64_t loop_start, loop_end; /* of the same function in the process; equal = unknown */
};

/*
 * Does the file hold an interpreter? `path` may help to tell its version. Returns 0; -ENOENT: it holds none;
 * -ENOTSUP: it holds one whose version is unknown (`kind` and `version` are set).
 */
int interp_file_read(struct elf_file *file, const char *path, struct interp_file *ret_file);

/*
 * Fill in what is not in the file but known to this program of its version. False if the file says what interp_file_read never
 * does; otherwise what that returned is in `*ret_code`.
 */
bool interp_file_complete(struct interp_file *file, int *ret_code);

/*
 * Find the interpreter of `file`, whose first byte is mapped at `start`, in the memory of a process. `ranges` is
 * as for anchor_find. Returns 0; -EAGAIN: no thread runs it, perhaps not yet, or it was in motion; -E2BIG: none was found
 * in as much of its memory as may be searched; -ENOTSUP: its structures are not those of its version.
 */
int interpreter_find(const struct interp_file *file, uint64_t start,
		     const struct target_memory *memory, const struct memory_range *ranges,
		     size_t range_count, struct interpreter *ret_interpreter);

/*
 * Name a frame that the programs have read. `copy` is what they copied of its code, or NULL if they could not. False, with
 * `*ret_name` in an undefined state, if its code is no more or may be other code by now.
 */
bool interpreter_name(const struct interpreter *interpreter, const struct target_memory *memory,
		      const struct interp_frame *frame, const struct interp_code *copy,
		      struct interp_name *ret_name);

/*
 * A number that is another one when other code has taken the place of the frame's: its content, or else a number of what is
 * there now; 0 if nothing is.
 */
uint64_t interpreter_key(const struct interpreter *interpreter, const struct target_memory *memory,
			 const struct interp_frame *frame);

/* "Ruby 3.1.2", "Python 3.11": for messages. Returns `text`. */
const char *interp_file_describe(const struct interp_file *file, char text[64]);

#endif
