/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces a file atomically, once the new content is complete. A helper process, which keeps the
 * caller's privileges of the time of opening, renames the new file on request; otherwise, and when
 * the caller ends, it removes it.
 */
#ifndef SYSTEM_FILE_SWAP_H
#define SYSTEM_FILE_SWAP_H

#include "base/error.h"
#include "system/helper.h"

struct file_swap {
	int fd; /* the new file, to write to; closed by the caller */
	struct helper helper; /* {0}: nothing is open, or `fd` is the file itself */
};

/* Not open. */
#define FILE_SWAP_NONE ((struct file_swap){ .fd = -1 })

/*
 * Create a new file beside `path`, accessible to its owner only, who is the user of sudo. Refuses what output_file_open
 * refuses; opens what is not a regular file directly. Returns 0, or a negative errno with `error`
 * filled (ERROR_USAGE).
 */
int file_swap_open(struct file_swap *swap, const char *path, struct error *error);

/*
 * Rename the new file to its final name. Returns 0, or a negative errno; then the old file stays.
 */
int file_swap_commit(struct file_swap *swap);

/* Remove the new file, if it was not committed. Accepts FILE_SWAP_NONE. */
void file_swap_close(struct file_swap *swap);

#endif
