/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which family of distributions a system belongs to, by its os-release(5). */
#ifndef SYSTEM_OS_RELEASE_H
#define SYSTEM_OS_RELEASE_H

#include <stddef.h>

/* So many bytes are read of it. */
#define OS_RELEASE_MAX 4096

enum distribution {
	DISTRIBUTION_UNKNOWN = 0,
	DISTRIBUTION_DEBIAN,
	DISTRIBUTION_UBUNTU, /* and what is made from it */
	DISTRIBUTION_FEDORA, /* and Red Hat's and those made from them */
	DISTRIBUTION_SUSE,
	DISTRIBUTION_ARCH,
	DISTRIBUTION_ALPINE,
	DISTRIBUTION_COUNT,
};

/* By the first known word of ID, or else of ID_LIKE. `text` may hold any bytes, and needs no NUL. */
enum distribution os_release_parse(const char *text, size_t size);

#endif
