/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fd_table.h. */
#include "system/fd_table.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNSHARE 2 /* CLOSE_RANGE_UNSHARE, which headers of older distributions lack */

static int close_between(unsigned int first, unsigned int last)
{
	return first <= last && syscall(SYS_close_range, first, last, 0) ? -errno : 0;
}

int fd_table_keep(int first, int second, bool *ret_own)
{
	unsigned int low = (unsigned int)(first < second ? first : second);
	unsigned int high = (unsigned int)(first < second ? second : first);
	int code;

	*ret_own = !syscall(SYS_close_range, high + 1, ~0U, UNSHARE);
	if (!*ret_own)
		return -errno;
	code = low ? close_between(0, low - 1) : 0;
	return code ? code : close_between(low + 1, high - 1);
}
