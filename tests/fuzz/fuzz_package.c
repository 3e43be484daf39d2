/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as an os-release, as dpkg's list of a package's files, and as the path of a stripped file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "symbolize/package_hint.h"
#include "system/package_files.h"

/* What is asked for can be part of a path. */
static bool is_of(void *context, const char *package)
{
	(void)context;
	MUST(*package && !strchr(package, '/') && *package != '.');
	return strlen(package) % 2;
}

/* A path that a shell would take for more than a word is in no command. */
static void check_hint(const char *path, enum distribution distribution)
{
	const struct package_file file = { .path = path,
					   .distribution = distribution,
					   .is_of = is_of };
	char *hint = package_hint(&file);

	if (hint)
		MUST(strlen(hint) < 2 * PACKAGE_PATH_MAX && !strpbrk(hint, "\n\t\x1b`;&|<>\"\\*?"));
	free(hint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char *path = memory_alloc(size + 1, 1);
	enum distribution distribution = os_release_parse(text, size);

	MUST(distribution < DISTRIBUTION_COUNT);
	if (size)
		memcpy(path, data, size);
	for (distribution = 0; distribution < DISTRIBUTION_COUNT; distribution++)
		check_hint(path, distribution);
	/* A last line may be cut, and is none. */
	if (*path == '/' && !strchr(path, '\n') && strlen(path) < size)
		MUST(!package_files_has(path, strlen(path), path, strlen(path)));
	package_files_has(text, size, path, strlen(path));
	free(path);
	return 0;
}
