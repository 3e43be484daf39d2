/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of the files of a package, as dpkg keeps it: a path on each line. */
#ifndef SYSTEM_PACKAGE_FILES_H
#define SYSTEM_PACKAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* So many bytes are read of a list: a library's is far shorter. */
#define PACKAGE_FILES_MAX (1u << 20)

/*
 * Does the list have the file `path`, of `path_size` bytes? /usr/lib and /lib are the same folder, as are /usr/bin and /bin. The
 * texts may hold any bytes, and need no NUL.
 */
bool package_files_has(const char *text, size_t size, const char *path, size_t path_size);

#endif
