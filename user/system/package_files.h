/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file list of a package, as dpkg keeps it: one path per line. */
#ifndef SYSTEM_PACKAGE_FILES_H
#define SYSTEM_PACKAGE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Limit of bytes read of a list; a library's is far shorter. */
#define PACKAGE_FILES_MAX (1u << 20)

/*
 * Does the list contain `path`, of `path_size` bytes? /usr/lib and /lib are the same directory, and
 * so are /usr/bin and /bin. The texts may hold any bytes, and need no NUL.
 */
bool package_files_has(const char *text, size_t size, const char *path, size_t path_size);

#endif
