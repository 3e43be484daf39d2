/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of types and addresses, decoded by a sandboxed worker (worker.h): mangled names come from a
 * target's memory, symbols from its files. Answers may be any text; they are made safe where
 * printed.
 */
#ifndef DECODE_NAME_READER_H
#define DECODE_NAME_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/module.h"

struct name_reader;

/* A symbol that covers an address. */
struct name_place {
	char *text; /* owned; NULL = none */
	uint64_t into; /* offset into the symbol */
};

/*
 * Start the fork server. Call from the main thread, before anything is opened that must end with
 * the tracer. Never fails: without a server, there are no names. Once `is_over` (may be NULL)
 * returns true, requests fail at once.
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
