/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See package_hint.h. */
#include "symbolize/package_hint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NAME_BYTES 100

/* Does a shell take the path for nothing but a word? */
static bool path_is_plain(const char *path)
{
	return strlen(path) <= PACKAGE_PATH_MAX && !strstr(path, "/../") && !strstr(path, "/-") &&
	       strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "/._+-") == strlen(path);
}

/* Is it where distributions put what is in packages? */
static bool path_is_packaged(const char *path)
{
	static const char *const folders[] = { "/usr/lib/", "/usr/lib32/", "/usr/lib64/",
					       "/usr/bin/", "/usr/sbin/",  "/usr/libexec/",
					       "/lib/",	    "/lib32/",	   "/lib64/",
					       "/bin/",	    "/sbin/" };
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return path_is_plain(path);
	return false;
}

static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Debian's names have lower case letters, digits, and these. */
static bool name_is_plain(const char *name)
{
	return isalnum((unsigned char)*name) && strlen(name) < NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == strlen(name);
}

/* Of "libfoo-2.0.so.1.2": "libfoo-2.0" and "1". Of a program: its name and "". */
static void name_split(const char *base, char stem[NAME_BYTES], char version[NAME_BYTES])
{
	const char *mark = strstr(base, ".so");
	size_t length = mark ? (size_t)(mark - base) : strlen(base);
	const char *number = mark && !strncmp(mark, ".so.", strlen(".so.")) ? mark + strlen(".so.")
									    : "";
	char *at;

	snprintf(stem, NAME_BYTES, "%.*s", (int)(length < NAME_BYTES ? length : 0), base);
	snprintf(version, NAME_BYTES, "%.*s", (int)strcspn(number, "."), number);
	for (at = stem; *at; at++)
		*at = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
}

/* "libglib-2.0" is "libglib2.0" in names of packages. */
static void name_join_digits(char *stem)
{
	char *dash = strrchr(stem, '-');

	if (dash && isdigit((unsigned char)dash[1]))
		memmove(dash, dash + 1, strlen(dash));
}

/* Takes ownership of `name`, and returns it if the file is of that package; NULL otherwise. */
static char *package_confirm(const struct package_file *file, char *name)
{
	if (name_is_plain(name) && file->is_of(file->context, name))
		return name;
	free(name);
	return NULL;
}

/* By Debian's rules for names of packages with a library: "foo1", and "foo-1" where `stem` ends in a digit. */
static char *package_of_stem(const struct package_file *file, const char *stem, const char *version)
{
	static const char *const ends[] = { "", "t64" };
	size_t length = strlen(stem), i;
	bool digit = length && isdigit((unsigned char)stem[length - 1]);
	char *found = NULL;

	for (i = 0; i < 2 && !found && *version; i++)
		found = package_confirm(
			file, memory_format("%s%s%s%s", stem, digit ? "-" : "", version, ends[i]));
	return found ? found : package_confirm(file, memory_copy_string(stem));
}

/* The package that the file belongs to; NULL if it has a name of another kind. */
static char *package_find(const struct package_file *file)
{
	char stem[NAME_BYTES], version[NAME_BYTES];
	char *found;

	name_split(path_base(file->path), stem, version);
	found = package_of_stem(file, stem, version);
	name_join_digits(stem);
	return found ? found : package_of_stem(file, stem, version);
}

/* What else may have them. */
static const char *hint_servers(const struct package_file *file)
{
	return file->build_id && !file->asked_servers ? " or --debuginfod" : "";
}

static char *hint_dpkg(const struct package_file *file, const char *archive)
{
	char *package = package_find(file), *hint;

	if (!package)
		/* Not the whole path: dpkg may have it without /usr. */
		return memory_format("the -dbgsym package (%s) of what dpkg -S %s names%s may have "
				     "them",
				     archive, path_base(file->path), hint_servers(file));
	if (!strcmp(package, "libc6"))
		hint = memory_format("libc6-dbg%s may have them", hint_servers(file));
	else
		hint = memory_format("%s-dbgsym (%s)%s may have them", package, archive,
				     hint_servers(file));
	free(package);
	return hint;
}

static char *hint_arch(const struct package_file *file)
{
	if (!*hint_servers(file))
		return NULL;
	return memory_copy_string("--debuginfod may have them, with "
				  "DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
}

static char *hint_distribution(const struct package_file *file)
{
	switch (file->distribution) {
	case DISTRIBUTION_DEBIAN:
		return hint_dpkg(file, "Debian's debug archive");
	case DISTRIBUTION_UBUNTU:
		return hint_dpkg(file, "Ubuntu's ddebs archive");
	case DISTRIBUTION_FEDORA:
		return memory_format("dnf debuginfo-install $(rpm -qf %s)%s may have them",
				     file->path, hint_servers(file));
	case DISTRIBUTION_SUSE:
		return memory_format("the -debuginfo package of what rpm -qf %s names%s may have "
				     "them",
				     file->path, hint_servers(file));
	case DISTRIBUTION_ARCH:
		return hint_arch(file);
	case DISTRIBUTION_ALPINE:
		return memory_format("the -dbg package of what apk info --who-owns %s names may "
				     "have them",
				     file->path);
	default:
		return NULL;
	}
}

char *package_hint(const struct package_file *file)
{
	char *hint = path_is_packaged(file->path) ? hint_distribution(file) : NULL;

	if (hint || !file->build_id)
		return hint;
	return memory_format("an unstripped file of build ID %s in --debug-dir would have them",
			     file->build_id);
}
