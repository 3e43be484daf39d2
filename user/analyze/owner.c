/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See owner.h. */
#include "analyze/owner.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/packages.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/path.h"

static void owner_put(char ***items, size_t *count, size_t *capacity, char *text)
{
	*items = memory_grow(*items, *count, capacity, sizeof(**items));
	(*items)[(*count)++] = text;
}

/* A directory or file of --app, or the working directory. All is below the root, which so is no application's. */
static void owner_place_add_directory(struct owner_place *place, const char *text)
{
	struct buffer path = { 0 };

	path_append_resolved(&path, place->target->directory, text);
	if (!path.length || !strcmp(path.data, "/"))
		buffer_free(&path);
	else
		owner_put(&place->directories, &place->directory_count, &place->directory_capacity,
			  path.data);
}

/* What is named without a directory: a module, a package with or without a version. */
static void owner_place_add_name(struct owner_place *place, const char *name)
{
	static const char *const ends[] = { "", "-#*", ".*" };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		owner_put(&place->names, &place->name_count, &place->name_capacity,
			  memory_format("%s%s", name, ends[i]));
}

void owner_place_open(struct owner_place *place, const struct target *target,
		      const struct frame_rules *rules, struct strings *paths)
{
	size_t i;

	*place = (struct owner_place){ .target = target, .paths = paths };
	if (target->directory)
		owner_place_add_directory(place, target->directory);
	for (i = 0; i < rules->app_count; i++) {
		const char *app = rules->apps[i];

		if (strchr(app, '/') || !strcmp(app, ".") || !strcmp(app, ".."))
			owner_place_add_directory(place, app);
		else
			owner_place_add_name(place, app);
	}
}

static void owner_free_files(struct table *files)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(files, &cursor)))
		free(slot->value);
	table_free(files);
}

void owner_place_close(struct owner_place *place)
{
	size_t i;

	for (i = 0; i < place->directory_count; i++)
		free(place->directories[i]);
	for (i = 0; i < place->name_count; i++)
		free(place->names[i]);
	free(place->directories);
	free(place->names);
	owner_free_files(&place->by_file);
	owner_free_files(&place->by_module);
}

/* What of a path is below the application's innermost directory that holds it; NULL = none does. */
static const char *owner_place_below(const struct owner_place *place, const char *path,
				     size_t *ret_length)
{
	const char *below = NULL;
	size_t i;

	*ret_length = 0;
	for (i = 0; i < place->directory_count; i++) {
		size_t length = strlen(place->directories[i]);
		const char *rest = path_below(path, place->directories[i]);

		if (!rest || length <= *ret_length)
			continue;
		*ret_length = length;
		below = rest;
	}
	return below;
}

static bool owner_place_names(const struct owner_place *place, const char *path)
{
	size_t i;

	for (i = 0; i < place->name_count; i++)
		if (path_has_parts(path, place->names[i]))
			return true;
	return false;
}

/* Of a resolved path. A directory within another one decides. */
static enum owner owner_of_path(const struct owner_place *place, enum frame_kind kind,
				const char *path)
{
	size_t app, system = packages_system_length(path, kind);
	const char *below = owner_place_below(place, path, &app);

	if (owner_place_names(place, path))
		return OWNER_APP;
	if (system && (!below || app <= system))
		return OWNER_PACKAGE;
	if (packages_hold(below ? below : path, kind))
		return OWNER_PACKAGE;
	/* Without a working directory, a relative path is still one from there on. */
	return below || *path != '/' ? OWNER_APP : OWNER_OUTSIDE;
}

static bool owner_begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Names that are no files': true, with the owner. */
static bool owner_of_no_file(const char *file, enum owner *ret_owner)
{
	if (owner_begins(file, "<internal:") || owner_begins(file, "<frozen "))
		*ret_owner = OWNER_PACKAGE;
	else if (!strcmp(file, "-e") || !strcmp(file, "-") || !strcmp(file, "<stdin>"))
		*ret_owner = OWNER_APP;
	else if (*file == '<' || *file == '(')
		*ret_owner = OWNER_NOBODY;
	else
		return false;
	return true;
}

/* Code that was made of a text at "PATH:LINE" (Ruby) or in "PATH(LINE) : ..." (PHP). Free with free(); NULL = it is a file. */
static char *owner_copy_maker(const char *file)
{
	const char *start = file + strlen("(eval at "), *end;

	if (owner_begins(file, "(eval at ")) {
		end = strrchr(start, ':');
		return end ? strndup(start, (size_t)(end - start)) : NULL;
	}
	end = strstr(file, ") : ");
	while (end && end > file && *end != '(')
		end--;
	return end && end > file ? strndup(file, (size_t)(end - file)) : NULL;
}

static struct owned_file *owner_place_keep(struct owner_place *place, struct table *files,
					   uint64_t key, enum owner owner, const char *path)
{
	struct owned_file *file = memory_alloc(1, sizeof(*file));

	file->owner = owner;
	file->path = strings_keep(place->paths, path);
	table_put(files, key, file);
	return file;
}

const struct owned_file *owner_of_file(struct owner_place *place, enum frame_kind kind,
				       const char *file)
{
	struct owned_file *known = table_get(&place->by_file, (uintptr_t)file);
	struct buffer path = { 0 };
	enum owner owner;
	char *maker;

	if (known)
		return known;
	maker = owner_copy_maker(file);
	if (!maker && owner_of_no_file(file, &owner))
		return owner_place_keep(place, &place->by_file, (uintptr_t)file, owner, file);
	path_append_resolved(&path, place->target->directory, maker ? maker : file);
	owner = owner_of_path(place, kind, path.data);
	known = owner_place_keep(place, &place->by_file, (uintptr_t)file, owner,
				 maker ? file : path.data);
	free(maker);
	buffer_free(&path);
	return known;
}

const struct owned_file *owner_of_module(struct owner_place *place, uint32_t index,
					 const struct module *module)
{
	struct owned_file *known = table_get(&place->by_module, (uint64_t)index + 1);
	const char *root = place->target->root, *below;
	struct buffer path = { 0 };
	enum owner owner = OWNER_PACKAGE;

	if (known)
		return known;
	below = root && module ? path_below(module->path, root) : NULL;
	if (below)
		buffer_append_string(&path, "/");
	buffer_append_string(&path, below ? below : module ? module->path : "");
	/* "[vdso]" is no file. */
	if (path.data[0] == '/')
		owner = owner_of_path(place, FRAME_NATIVE, path.data);
	known = owner_place_keep(place, &place->by_module, (uint64_t)index + 1, owner, path.data);
	buffer_free(&path);
	return known;
}

enum owner owner_of_source(struct owner_place *place, enum owner owner, const char *file)
{
	enum owner source;

	/* Seen from a directory of the machine where it was compiled. */
	if (*file != '/')
		return packages_hold(file, FRAME_NATIVE) ? OWNER_PACKAGE : owner;
	source = owner_of_path(place, FRAME_NATIVE, file);
	return source == OWNER_OUTSIDE ? owner : source;
}
