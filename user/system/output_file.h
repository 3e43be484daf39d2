/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens output files for a privileged program in directories where others may write: never a file
 * that another user has planted.
 */
#ifndef SYSTEM_OUTPUT_FILE_H
#define SYSTEM_OUTPUT_FILE_H

#include "base/error.h"

/*
 * Open `path` for writing, truncated, or created with access for its owner only, who is the user
 * that has run sudo (sudo_user.h). Refuses: a
 * symbolic link as the last component; a link above it that another user has put into a directory
 * writable by others; a file or FIFO of another user than us, root, the one of sudo, and the owner of its directory; a
 * file with several links; and a FIFO without a reader. Returns a descriptor, or a negative errno
 * with `error` filled (ERROR_USAGE).
 */
int output_file_open(const char *path, struct error *error);

/* The same for a file that must not exist yet. */
int output_file_create(const char *path, struct error *error);

/*
 * Find the directory in which a file may replace `path`, without opening it. Returns 1, with an
 * O_PATH descriptor of the directory, owned by the caller, and the name in it, a part of `path`; 0,
 * with the same, if `path` exists and is not a regular file. Refuses what output_file_open refuses.
 */
int output_file_find(const char *path, int *ret_folder, const char **ret_name, struct error *error);

/* As output_file_create, in a directory; errors name `path`. The file stays this process's. */
int output_file_create_in(int folder, const char *name, const char *path, struct error *error);

#endif
