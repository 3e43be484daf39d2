/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers frames, for formats that write a frame's text once and refer to it: equal frames have one
 * number, from 0. Texts are those of frame_text.h.
 */
#ifndef RENDER_PLACES_H
#define RENDER_PLACES_H

#include "analyze/report.h"
#include "base/buffer.h"
#include "base/strings.h"
#include "base/table.h"

/* Texts belong to the places; equal ones have one address. */
struct place {
	const char *name;
	const char *file, *module; /* NULL = unknown, or none */
	uint32_t line; /* 0 = unknown */
};

/* {0} is empty. Free with places_free. */
struct places {
	struct place *items; /* owned */
	size_t count, capacity;
	uint32_t *path; /* path of the last site added, outermost first; owned */
	size_t path_length, path_capacity;
	struct strings strings, keys;
	struct table by_key; /* by the address of a kept key: number + 1 */
	struct buffer name, file, module, key; /* scratch buffers */
};

/* The number of a place with safe texts. */
uint32_t places_add(struct places *places, const struct place *place);
/*
 * Make the path of an open site: its process, its frames inwards, and a pseudo-frame if there is
 * none.
 */
void places_add_site(struct places *places, const struct report_site *site);
void places_free(struct places *places);

#endif
