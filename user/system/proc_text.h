/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers for readers of /proc: reading a whole file as text. Not for large files or files on disk.
 */
#ifndef SYSTEM_PROC_TEXT_H
#define SYSTEM_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

/* Bytes: 65530 mappings, the kernel's default limit, with the longest of paths. */
#define PROC_TEXT_MAX (300u << 20)

/*
 * Append PROC_ROOT/PID/NAME to `text`; PROC_ROOT/self/NAME if `pid` is 0. Returns 0 or a negative
 * errno: -ESRCH if the process is gone, -EFBIG if the file is implausibly long.
 */
int proc_read_text(const char *proc_root, pid_t pid, const char *name, struct buffer *text);

/*
 * Parse a number of base 10 or 16 at the start of [*at, end), and advance `*at`. False, with `*at`
 * and `*ret_number` untouched, if there is no digit or the number exceeds 64 bits.
 */
bool proc_take_number(const char **at, const char *end, unsigned int base, uint64_t *ret_number);

/* The target of a symbolic link of /proc, as text; NULL if it cannot be read. Free with free(). */
char *proc_read_link(const char *link);

/* Remove " (deleted)" from the end of `path`. Returns whether it was there. */
bool proc_strip_deleted(char *path);

#endif
