/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A read buffer over an image, for walks through a heap in small pieces. */
#ifndef IMAGE_WINDOW_H
#define IMAGE_WINDOW_H

#include "image/image.h"

struct window {
	struct image *image;
	unsigned char *bytes; /* owned */
	size_t capacity; /* limit of window_get */
	uint64_t start;
	size_t length;
};

void window_open(struct window *window, struct image *image, size_t capacity);
void window_close(struct window *window);
/* Drop the buffered data, which may have changed. */
void window_drop(struct window *window);

/*
 * `size` bytes at `address`, valid until the next call; NULL unless all are resident. Reads ahead,
 * within present pages.
 */
const unsigned char *window_get(struct window *window, uint64_t address, size_t size);
/* The same for as many bytes as there are, at most `size`. */
const unsigned char *window_get_part(struct window *window, uint64_t address, size_t size,
				     size_t *ret_size);

#endif
