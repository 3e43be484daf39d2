/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See window.h. */
#include "image/window.h"

#include <stdlib.h>

#include "base/memory.h"

void window_open(struct window *window, struct image *image, size_t capacity)
{
	*window = (struct window){ .image = image,
				   .bytes = memory_alloc(1, capacity),
				   .capacity = capacity };
}

void window_close(struct window *window)
{
	free(window->bytes);
	*window = (struct window){ 0 };
}

void window_drop(struct window *window)
{
	window->length = 0;
}

const unsigned char *window_get_part(struct window *window, uint64_t address, size_t size,
				     size_t *ret_size)
{
	uint64_t into = address - window->start;

	*ret_size = 0;
	if (size > window->capacity)
		size = window->capacity;
	if (address < window->start || into >= window->length || size > window->length - into) {
		window->start = address;
		window->length =
			image_read_part(window->image, address, window->bytes, window->capacity);
		into = 0;
	}
	*ret_size = size < window->length ? size : window->length;
	return *ret_size ? window->bytes + into : NULL;
}

const unsigned char *window_get(struct window *window, uint64_t address, size_t size)
{
	const unsigned char *bytes;
	size_t got;

	if (size > window->capacity)
		return NULL;
	bytes = window_get_part(window, address, size, &got);
	return got == size ? bytes : NULL;
}
