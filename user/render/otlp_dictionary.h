/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that profiles of OTLP share: of texts, functions, places, stacks and attributes. What is new is packed as soon as it is
 * first needed, since the tables are the sum of what follows each other.
 */
#ifndef RENDER_OTLP_DICTIONARY_H
#define RENDER_OTLP_DICTIONARY_H

#include "base/buffer.h"
#include "base/strings.h"
#include "base/table.h"
#include "model/report_frame.h"
#include "render/ranges.h"

/* Numbers of what has a key, from 1 on: 0 is nothing. */
struct otlp_numbers {
	struct strings keys;
	struct table by_key; /* by the address of a kept key */
	int32_t count;
};

struct otlp_dictionary {
	struct buffer out; /* a packed Dictionary */
	struct otlp_numbers texts, functions, locations, stacks, attributes;
	struct ranges ranges; /* of files, which are written at the end */
	int32_t *path; /* of a stack; owned */
	size_t path_capacity;
	struct buffer key, text; /* that are being made */
};

/* Begin with the empty element of each table. Free with otlp_dictionary_free. */
void otlp_dictionary_begin(struct otlp_dictionary *dictionary);
/* The index of a text; 0 for none. Untrusted text is escaped, here and below. */
int32_t otlp_dictionary_text(struct otlp_dictionary *dictionary, const char *text);
/* The index of an attribute. */
int32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
				  const char *text);
/* The index of a stack, innermost frame first, with `leaf` inside of it (NULL = nothing). */
int32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, const struct report_frame *frames,
			      size_t count, const char *leaf);
/* Write the files: nothing can be added any more. */
void otlp_dictionary_end(struct otlp_dictionary *dictionary);
void otlp_dictionary_free(struct otlp_dictionary *dictionary);

#endif
