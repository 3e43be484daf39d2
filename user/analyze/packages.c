/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See packages.h. */
#include "analyze/packages.h"

#include <string.h>

#include "base/path.h"

/* Whose frames a row is for. */
enum package_use {
	USE_ALL,
	USE_NATIVE,
	USE_INTERPRETED,
	USE_PHP,
};

struct package_row {
	const char *path;
	enum package_use use;
};

/* The system's; what only launches a package's code is one of its files. */
static const struct package_row systems[] = {
	{ "/usr/lib" },
	{ "/usr/lib32" },
	{ "/usr/lib64" },
	{ "/usr/libexec" },
	{ "/usr/share" },
	{ "/usr/include" },
	{ "/usr/local/lib" },
	{ "/usr/local/lib64" },
	{ "/usr/local/share" },
	{ "/usr/local/include" },
	{ "/lib" },
	{ "/lib32" },
	{ "/lib64" },
	{ "/var/lib/gems" },
	{ "/usr/bin", USE_INTERPRETED },
	{ "/usr/sbin", USE_INTERPRETED },
	{ "/usr/local/bin", USE_INTERPRETED },
	{ "/usr/local/sbin", USE_INTERPRETED },
	{ "/bin", USE_INTERPRETED },
	{ "/sbin", USE_INTERPRETED },
};

/* Parts of paths, as path_has_parts has them. */
static const struct package_row packages[] = {
	/* Ruby: an application may have a directory called "gems", but its gems have no versions. */
	{ "gems/*-#*" },
	{ "bundler/gems" },
	{ "vendor/bundle" },
	{ "vendor/ruby" },
	{ "extensions/*-linux*" },
	{ "lib/ruby/#*" },
	{ "lib/ruby/gems" },
	{ "lib/ruby/*_ruby" },
	/* Python */
	{ "site-packages" },
	{ "dist-packages" },
	{ "lib/python#*" },
	{ "lib64/python#*" },
	{ "__pypackages__" },
	{ "*.egg" },
	/* What installers of both write to start a package's program. */
	{ ".venv/bin", USE_INTERPRETED },
	{ "venv/bin", USE_INTERPRETED },
	{ "bundle/bin", USE_INTERPRETED },
	{ ".local/bin", USE_INTERPRETED },
	/* PHP and Node */
	{ "vendor", USE_PHP },
	{ "node_modules" },
	/* The interpreters, wherever they are */
	{ "bin/ruby", USE_NATIVE },
	{ "bin/ruby#*", USE_NATIVE },
	{ "bin/python", USE_NATIVE },
	{ "bin/python#*", USE_NATIVE },
	{ "bin/php", USE_NATIVE },
	{ "bin/php#*", USE_NATIVE },
	{ "libruby*.so*", USE_NATIVE },
	{ "libpython#*.so*", USE_NATIVE },
	{ "libphp*.so*", USE_NATIVE },
	/* C++ and Rust */
	{ "include/c++", USE_NATIVE },
	{ "rustc/*/library", USE_NATIVE },
	{ ".cargo/registry", USE_NATIVE },
	{ ".cargo/git", USE_NATIVE },
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static bool package_row_is_for(const struct package_row *row, enum frame_kind kind)
{
	switch (row->use) {
	case USE_NATIVE:
		return kind == FRAME_NATIVE;
	case USE_INTERPRETED:
		return frame_is_interpreted(kind);
	case USE_PHP:
		return kind == FRAME_PHP;
	default:
		return true;
	}
}

size_t packages_system_length(const char *path, enum frame_kind kind)
{
	size_t longest = 0, i;

	for (i = 0; i < COUNT(systems); i++) {
		size_t length = strlen(systems[i].path);

		if (length > longest && package_row_is_for(&systems[i], kind) &&
		    path_below(path, systems[i].path))
			longest = length;
	}
	return longest;
}

bool packages_hold(const char *path, enum frame_kind kind)
{
	size_t i;

	for (i = 0; i < COUNT(packages); i++)
		if (package_row_is_for(&packages[i], kind) &&
		    path_has_parts(path, packages[i].path))
			return true;
	return false;
}
