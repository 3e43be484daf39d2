/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer over an image, for what reads a heap from its start to its end in small pieces. */
#ifndef HEAP_WINDOW_H
#define HEAP_WINDOW_H

#include "heap/image.h"

struct window {
	struct image *image;
	unsigned char *bytes; /* owned */
	size_t capacity; /* the most that window_get can give */
	uint64_t start;
	size_t length;
};

void window_open(struct window *window, struct image *image, size_t capacity);
void window_close(struct window *window);
/* Forget what was read: it may have changed. */
void window_drop(struct window *window);

/*
 * `size` bytes at `address`, until the next call; NULL if they are not all in memory. Reads ahead, not beyond the present pages.
 */
const unsigned char *window_get(struct window *window, uint64_t address, size_t size);
/* The same; as many as there are, at most `size`. */
const unsigned char *window_get_part(struct window *window, uint64_t address, size_t size,
				     size_t *ret_size);

#endif
