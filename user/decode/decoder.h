/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files of targets hold, as a worker in the sandbox reads it (worker.h): the tracer itself looks into none. A file
 * that ends its worker, or that takes it too long, is read no more, and costs nothing else. What a worker answers is
 * checked: it may be what the file wants it to be.
 */
#ifndef DECODE_DECODER_H
#define DECODE_DECODER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "decode/jobs.h"
#include "interp/interp_file.h"
#include "model/module.h"
#include "probe/plan.h"
#include "unwind/unwind_file.h"

struct decoder;

/*
 * Starts the process; free with decoder_free. Never fails: where no process can be started, every answer is an error. `whole`:
 * of each file everything will be asked, so it is read at once. When `is_over` (may be NULL) begins to return true, no answer is
 * waited for any more.
 */
struct decoder *decoder_new(bool whole, bool (*is_over)(void));
void decoder_free(struct decoder *decoder);

/*
 * All of these return 0; a negative errno of what is wrong with the file, from the function that decodes it; or one of
 * what went wrong with the worker: -ETIMEDOUT, -EPIPE (it crashed), -EPROTO (nonsense), -ESRCH (none can be started any more),
 * -EPERM (none can be confined), -ECANCELED (the tracer has to end). Results are untouched on failure. The module must be open.
 */

/* -ENOEXEC: no ELF file of this machine. */
int decoder_describe(struct decoder *decoder, const struct module *module,
		     struct file_facts *ret_facts);

/* What is going to be asked of the module, by this plan too, may be read now. To be called before the first question. */
void decoder_prepare(struct decoder *decoder, const struct module *module, const struct plan *plan);

/* For loader_list_libraries: which loader a program names. `context` is the decoder. */
int decoder_read_program(void *context, int fd, const char *path, char **ret_interpreter,
			 struct error *error);

/* Add to the plan what plan_add_file would, and what the file's debug file adds if it is stripped. */
int decoder_plan(struct decoder *decoder, struct plan *plan, uint32_t module);

/* As interp_file_read. */
int decoder_interpreter(struct decoder *decoder, const struct module *module,
			struct interp_file *ret_file);

/* As unwind_file_read. Free with unwind_file_free. */
int decoder_rows(struct decoder *decoder, const struct module *module,
		 struct unwind_file *ret_file);
/* As unwind_file_read_memory, for an image that a process has as `module`. */
int decoder_rows_of_memory(struct decoder *decoder, const struct module *module, const void *bytes,
			   size_t size, struct unwind_file *ret_file);

/* Was it the worker, and not the file, that was the matter: a phrase, or NULL. */
const char *decoder_failure(int code);

#endif
