/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that takes the place of another one when it is whole, and not before. A process of its own, which keeps the privileges that the caller has when it
 * opens this, puts it there on request; else, and when the caller ends, it removes it.
 */
#ifndef SYSTEM_FILE_SWAP_H
#define SYSTEM_FILE_SWAP_H

#include "base/error.h"

struct file_swap {
	int fd; /* of the new file, to be written to; the caller's to close */
	int socket; /* to that process; -1 = none: nothing is open, or `fd` is the file itself */
};

/* One that is not open. */
#define FILE_SWAP_NONE ((struct file_swap){ -1, -1 })

/*
 * Make a new file beside `path`, for its owner only. What output_file_open refuses is refused; what is no regular file is opened as it is. Returns 0, or a
 * negative errno with `error` filled (ERROR_USAGE).
 */
int file_swap_open(struct file_swap *swap, const char *path, struct error *error);

/* Put the new file, which is written to, in its place. Returns 0 or a negative errno; then what was there stays. */
int file_swap_commit(struct file_swap *swap);

/* Remove the new file, if it was not put in its place. Accepts FILE_SWAP_NONE. */
void file_swap_close(struct file_swap *swap);

#endif
