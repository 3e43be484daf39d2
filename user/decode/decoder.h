/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contents of targets' files, read by a sandboxed worker (worker.h): the tracer itself parses none
 * of them. A file that crashes its worker, or takes too long, is not read again, and costs nothing
 * else. Answers of a worker are validated: the file may control them.
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
 * Start the fork server; free with decoder_free. Never fails: without one, every answer is an
 * error. `whole`: everything will be requested of each file, so read it at once. Once `is_over`
 * (may be NULL) returns true, requests fail at once.
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

/* Announce that the module will be read, for this plan too. Call before its first request. */
void decoder_prepare(struct decoder *decoder, const struct module *module, const struct plan *plan);

/* For loader_list_libraries: which loader a program names. `context` is the decoder. */
int decoder_read_program(void *context, int fd, const char *path, char **ret_interpreter,
			 struct error *error);

/* Add to the plan what plan_add_file would, and what the file's debug file adds if it is stripped. */
int decoder_plan(struct decoder *decoder, struct plan *plan, uint32_t module);

/* As frames_table_read_file. */
int decoder_interpreter(struct decoder *decoder, const struct module *module,
			struct interp_file *ret_file);

/* As unwind_file_read. Free with unwind_file_free. */
int decoder_rows(struct decoder *decoder, const struct module *module,
		 struct unwind_file *ret_file);
/* As unwind_file_read_memory, for an image that a process has as `module`. */
int decoder_rows_of_memory(struct decoder *decoder, const struct module *module, const void *bytes,
			   size_t size, struct unwind_file *ret_file);

/* A phrase if the worker, not the file, was the cause of an error; otherwise NULL. */
const char *decoder_failure(int code);

#endif
