/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers of /proc share: a whole file as text. Not for big files or for files of the disk. */
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
 * errno: -ESRCH if the process has gone, -EFBIG if the file is longer than any that the kernel
 * makes of an honest process.
 */
int proc_read_text(const char *proc_root, pid_t pid, const char *name, struct buffer *text);

/*
 * Take a number of the given base (10 or 16) from the start of [*at, end), and move `*at` behind it. False, with
 * `*at` and `*ret_number` untouched, if there is no digit or the number needs more than 64 bits.
 */
bool proc_take_number(const char **at, const char *end, unsigned int base, uint64_t *ret_number);

/* What a symbolic link of /proc leads to, as a text; NULL if it cannot be read. Free with free(). */
char *proc_read_link(const char *link);

/* Remove " (deleted)" from the end of `path`. Returns whether it was there. */
bool proc_strip_deleted(char *path);

#endif
