/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared tables of OTLP profiles: texts, functions, locations, stacks and attributes. A new
 * item is packed when first needed, since a table is the concatenation of its items.
 */
#ifndef RENDER_OTLP_DICTIONARY_H
#define RENDER_OTLP_DICTIONARY_H

#include "base/buffer.h"
#include "base/strings.h"
#include "base/table.h"
#include "model/report_frame.h"
#include "render/ranges.h"

/* Numbers items by key, from 1; 0 is none. */
struct otlp_numbers {
	struct strings keys;
	struct table by_key; /* by the address of a kept key */
	int32_t count;
};

struct otlp_dictionary {
	struct buffer out; /* a packed Dictionary */
	struct otlp_numbers texts, functions, locations, stacks, attributes;
	struct ranges ranges; /* ranges of files, which are written at the end */
	int32_t *path; /* current stack; owned */
	size_t path_capacity;
	struct buffer key, text; /* scratch buffers */
};

/* Initialize with the empty element of each table. Free with otlp_dictionary_free. */
void otlp_dictionary_begin(struct otlp_dictionary *dictionary);
/* The index of a text; 0 for none. Untrusted text is escaped, here and below. */
int32_t otlp_dictionary_text(struct otlp_dictionary *dictionary, const char *text);
/* The index of an attribute. */
int32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
				  const char *text);
/* The index of a stack, innermost frame first, preceded by `leaf` (NULL = none). */
int32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, const struct report_frame *frames,
			      size_t count, const char *leaf);
/* Write the files; nothing can be added afterwards. */
void otlp_dictionary_end(struct otlp_dictionary *dictionary);
void otlp_dictionary_free(struct otlp_dictionary *dictionary);

#endif
