/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may have the symbols of a stripped file, in words. */
#ifndef SYMBOLIZE_PACKAGE_HINT_H
#define SYMBOLIZE_PACKAGE_HINT_H

#include <stdbool.h>

#include "system/os_release.h"

/* A longer path, or one with characters that mean something to a shell, is not put into a command. */
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
 * A clause about what may have the symbols of the file: a package of debug symbols by its name only if is_of has confirmed the
 * package that it belongs to, otherwise a command that finds that package; of no distribution's file the build ID. NULL if
 * there is nothing to name. Free with free().
 */
char *package_hint(const struct package_file *file);

#endif
