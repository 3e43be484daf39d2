/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image of a live process or a recorded one, as an argument of a program of the live tests names it. */
#ifndef TESTS_LIVE_ANY_IMAGE_H
#define TESTS_LIVE_ANY_IMAGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image_record.h"

#define ANY_IMAGE_MOST (4ull << 30)

/* A number is a process, and what has a slash is a file. Returns 0, or a negative errno with `error` filled. Free with image_free. */
static inline int any_image_open(const char *argument, struct image **ret_image,
				 struct error *error)
{
	int fd, code;

	if (!strchr(argument, '/'))
		return image_open(atoi(argument), 0, ret_image, error);
	fd = open(argument, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, ERROR_USAGE, -errno, "%s cannot be opened", argument);
	code = image_load(fd, ANY_IMAGE_MOST, ret_image, error);
	close(fd);
	return code;
}

#endif
