/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves untrusted paths, which may lead through file systems whose servers do not answer. */
#ifndef SYSTEM_PATH_WALK_H
#define SYSTEM_PATH_WALK_H

#include <stdint.h>
#include <sys/types.h>

/*
 * As openat2() with O_PATH. `root` is the directory where the path begins, or AT_FDCWD; `resolve`
 * is RESOLVE_*; `pid`: in whose mount namespace, 0 for the caller's. Returns a descriptor or a
 * negative errno: -ETIMEDOUT if a server does not answer for two seconds; each timeout halves the
 * limit of later walks, for a minute.
 */
int path_walk(int root, const char *path, uint64_t resolve, pid_t pid);

/*
 * A seccomp filter cannot read the flags of openat2(), but it can refuse all addresses except those
 * of the constants that walks pass: address & `*ret_mask` equals the returned value for these only.
 * Seals them if the kernel can (since Linux 6.10), so that nothing else can be mapped there.
 */
uint64_t path_walk_fix_flags(uint64_t *ret_mask);

/* As realpath(): the path without symbolic links, to be freed, or NULL. */
char *path_walk_real(const char *path);

/* The kernel's path of an open file, as seen in its own mount namespace; to be freed, or NULL. */
char *path_walk_name(int fd);

#endif
