/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggests, in words, what has the symbols of a stripped file. */
#ifndef SYMBOLIZE_PACKAGE_HINT_H
#define SYMBOLIZE_PACKAGE_HINT_H

#include <stdbool.h>

#include "system/os_release.h"

/*
 * Limit of a path in a suggested command; a longer one, or one with special characters of a shell,
 * is not used.
 */
#define PACKAGE_PATH_MAX 200

struct package_file {
	const char *path; /* as its process sees it */
	enum distribution distribution; /* of the root of that process */
	const char *build_id; /* hexadecimal; NULL = none */
	bool asked_servers; /* debuginfod's servers do not have its symbols */
	/* Does dpkg's list of the files of this package have the file? */
	bool (*is_of)(void *context, const char *package);
	void *context;
};

/*
 * A clause on what has the symbols of the file: a package of debug symbols by name, only if is_of
 * has confirmed the package of the file; otherwise a command that finds it; without a distribution
 * the build ID. NULL if there is nothing to suggest. Free with free().
 */
char *package_hint(const struct package_file *file);

#endif
