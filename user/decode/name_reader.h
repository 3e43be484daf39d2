/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of types and places, decoded by a worker in the sandbox (worker.h): mangled names come from a target's memory, symbols from
 * its files. What is answered may be any text: it is made safe where it is printed.
 */
#ifndef DECODE_NAME_READER_H
#define DECODE_NAME_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/module.h"

struct name_reader;

/* A symbol that covers an address. */
struct name_place {
	char *text; /* owned; NULL = there is none */
	uint64_t into; /* bytes from where it begins */
};

/*
 * Starts the process that starts workers, so it is called from the main thread, before what must end with the tracer is opened.
 * Never fails: where none can be started, there are no names. No answer is waited for once `is_over` (may be NULL) returns true.
 */
struct name_reader *name_reader_new(bool (*is_over)(void));
/* Accepts NULL. */
void name_reader_free(struct name_reader *reader);

/*
 * Both fill as many results as there are questions, in order; a negative errno (decoder_failure) leaves the rest NULL. The caller
 * frees the texts.
 */
int name_reader_demangle(struct name_reader *reader, const char *const *mangled, size_t count,
			 char **ret_names);
/* `addresses` are as the file of `module` has them; it is open, and has a number of its own. */
int name_reader_places(struct name_reader *reader, const struct module *module,
		       const uint64_t *addresses, size_t count, struct name_place *ret_places);

#endif
