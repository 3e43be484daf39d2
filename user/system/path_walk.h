/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks along paths that others may have arranged: through file systems, perhaps, whose servers do not answer. */
#ifndef SYSTEM_PATH_WALK_H
#define SYSTEM_PATH_WALK_H

#include <stdint.h>
#include <sys/types.h>

/*
 * As openat2() with O_PATH: `root` is the folder where the path begins, or AT_FDCWD, `resolve` RESOLVE_*. `pid`: in whose mount
 * namespace, 0 for the caller's. Returns a descriptor or a negative errno: -ETIMEDOUT if a server does not answer for two
 * seconds; each such walk halves what the next ones get, for a minute.
 */
int path_walk(int root, const char *path, uint64_t resolve, pid_t pid);

/*
 * A filter cannot look at the flags of openat2(), but it can refuse all addresses other than those of the constants that walks
 * pass: address & `*ret_mask` is the value returned for these, and for no others. Seals them, where the kernel can (since
 * Linux 6.10): nothing else can be mapped there.
 */
uint64_t path_walk_fix_flags(uint64_t *ret_mask);

/* As realpath(): the path without links, to be freed, or NULL. */
char *path_walk_real(const char *path);

/* The path by which the kernel has an open file, as it is seen in its own mount namespace; to be freed, or NULL. */
char *path_walk_name(int fd);

#endif
