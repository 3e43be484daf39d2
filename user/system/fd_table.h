/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The descriptors of a thread that has a table of its own. */
#ifndef SYSTEM_FD_TABLE_H
#define SYSTEM_FD_TABLE_H

#include <stdbool.h>

/*
 * Give the calling thread a table of its own with two descriptors in it. Returns 0 or a negative errno; `ret_own`,
 * set on failure as well: the table is its own.
 */
int fd_table_keep(int first, int second, bool *ret_own);

#endif
