/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a privileged program writes where others may write, too: never into what another user has prepared. */
#ifndef SYSTEM_OUTPUT_FILE_H
#define SYSTEM_OUTPUT_FILE_H

#include "base/error.h"

/*
 * Open `path` for writing, emptying what is there and creating it for its owner only. Refused are: a symbolic link as its
 * last part; above it, one that another user has put into a folder that others may write to; a file or FIFO that belongs
 * neither to us, to root, nor to the owner of its folder; a file with other names; and a FIFO without a reader. Returns a
 * descriptor, or a negative errno with `error` filled (ERROR_USAGE).
 */
int output_file_open(const char *path, struct error *error);

/* The same for a file that must not be there yet. */
int output_file_create(const char *path, struct error *error);

/*
 * Where a file may take the place of `path`, which is not opened: 1, with an O_PATH descriptor of its folder, which is the caller's, and its name there, a part of
 * `path`. 0, with the same, if `path` is there and no regular file. What output_file_open refuses is refused.
 */
int output_file_find(const char *path, int *ret_folder, const char **ret_name, struct error *error);

/* As output_file_create in a folder; errors name `path`. */
int output_file_create_in(int folder, const char *name, const char *path, struct error *error);

#endif
