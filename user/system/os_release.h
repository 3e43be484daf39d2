/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Identifies the distribution family of a system by its os-release(5). */
#ifndef SYSTEM_OS_RELEASE_H
#define SYSTEM_OS_RELEASE_H

#include <stddef.h>

/* Limit of bytes read. */
#define OS_RELEASE_MAX 4096

enum distribution {
	DISTRIBUTION_UNKNOWN = 0,
	DISTRIBUTION_DEBIAN,
	DISTRIBUTION_UBUNTU, /* and derivatives */
	DISTRIBUTION_FEDORA, /* Fedora, Red Hat and derivatives */
	DISTRIBUTION_SUSE,
	DISTRIBUTION_ARCH,
	DISTRIBUTION_ALPINE,
	DISTRIBUTION_COUNT,
};

/* By the first known word of ID, or else of ID_LIKE. `text` may hold any bytes, and needs no NUL. */
enum distribution os_release_parse(const char *text, size_t size);

#endif
