/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives a thread its own descriptor table. */
#ifndef SYSTEM_FD_TABLE_H
#define SYSTEM_FD_TABLE_H

#include <stdbool.h>

/*
 * Give the calling thread its own descriptor table with only these two descriptors. Returns 0 or a
 * negative errno; `ret_own`, set on failure as well: the thread has its own table.
 */
int fd_table_keep(int first, int second, bool *ret_own);

#endif
