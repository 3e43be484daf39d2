/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interpreter's name of a frame: untrusted bytes, limited in length. */
#ifndef INTERP_NAME_H
#define INTERP_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define INTERP_FUNCTION_MAX 512
#define INTERP_FILE_MAX 4096

struct interp_name {
	char function[INTERP_FUNCTION_MAX]; /* terminated; "" = unknown */
	char file[INTERP_FILE_MAX]; /* likewise */
	uint32_t line; /* 0 = unknown */
	bool covers_next; /* the next frame belongs to the same call; backtraces omit it */
};

#endif
