/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidate paths of separate debug files: see debug_search.h. */
#include "discover/debug_search.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/debuginfod.h>
#include <linux/openat2.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc.h"
#include "system/regular_file.h"

/* Candidates are numbered place * PATTERN_COUNT + pattern. */
enum debug_place { PLACE_CHOSEN, PLACE_TARGET, PLACE_HOST, PLACE_COUNT };
enum debug_pattern {
	PATTERN_STORE, /* within the store of debug files */
	PATTERN_BESIDE, /* the folder of the module */
	PATTERN_HIDDEN, /* its ".debug" */
	PATTERN_COUNT,
};
/* Then come the files of the index, and the servers. */
#define CANDIDATE_INDEX (PLACE_COUNT * PATTERN_COUNT)

/* A file name and nothing else: not a path, not a way up. */
static bool debug_search_is_name(const char *name)
{
	return name[0] && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* The part of a dwz file's name that all its relative forms share: "x86_64-linux-gnu/foo.debug". */
static const char *debug_search_shared_name(const char *name)
{
	const char *mark = strstr(name, ".dwz/");

	if (!mark || strstr(mark, ".."))
		return NULL;
	return mark + strlen(".dwz/");
}

static void debug_search_append_build_id(struct buffer *path, const struct debug_want *want)
{
	size_t i;

	buffer_append_string(path, "/.build-id/");
	for (i = 0; i < want->build_id_size; i++)
		buffer_printf(path, i == 1 ? "/%02x" : "%02x", want->build_id[i]);
	buffer_append_string(path, ".debug");
}

/* The path of a file within a store such as /usr/lib/debug. False if the store cannot have it. */
static bool debug_search_store(struct buffer *path, const char *folder,
			       const struct debug_want *want)
{
	const char *shared;

	switch (want->kind) {
	case WANT_BUILD_ID:
		if (want->build_id_size < 2)
			return false;
		debug_search_append_build_id(path, want);
		return true;
	case WANT_DEBUGLINK:
		buffer_printf(path, "%s/%s", folder, want->name);
		return true;
	case WANT_ALTLINK:
		shared = debug_search_shared_name(want->name);
		if (shared)
			buffer_printf(path, "/.dwz/%s", shared);
		else
			debug_search_append_build_id(path, want);
		return true;
	default:
		return false;
	}
}

/* The path of a candidate within its place; false if there is none of this number. */
static bool debug_search_path(struct buffer *path, const char *store, const char *folder,
			      enum debug_pattern pattern, const struct debug_want *want)
{
	if (pattern == PATTERN_STORE) {
		buffer_append_string(path, store);
		return debug_search_store(path, folder, want);
	}
	if (want->kind != WANT_DEBUGLINK)
		return false;
	buffer_printf(path, pattern == PATTERN_BESIDE ? "%s/%s" : "%s/.debug/%s", folder,
		      want->name);
	return true;
}

/*
 * Beside a module its owner arranges what there is: no symbolic link there leads the tracer to a file of others. In the
 * target's root it arranges everything, so no link leads out of it.
 */
static int debug_search_open_place(const struct module *module, const char *path,
				   enum debug_place place, enum debug_pattern pattern)
{
	bool beside = place != PLACE_CHOSEN && pattern != PATTERN_STORE;

	if (place != PLACE_TARGET)
		return regular_file_open(path, beside ? REGULAR_FILE_NO_LINKS : REGULAR_FILE_LINKS);
	if (module->root_pid <= 0)
		return -1;
	return regular_file_reopen(proc_open_in_root("/proc", module->root_pid, path,
						     beside ? RESOLVE_NO_SYMLINKS : 0),
				   module->root_pid);
}

/* The folder of the module as the target sees it, without a slash at the end. */
static char *debug_search_folder(const struct module *module)
{
	char *folder, *slash;

	if (!module->path || module->path[0] != '/')
		return NULL;
	folder = memory_copy_string(module->path);
	slash = strrchr(folder, '/');
	*slash = '\0';
	return folder;
}

static int debug_search_try_index(const struct debug_search *search, const struct debug_want *want,
				  uint32_t number)
{
	const size_t file = number - CANDIDATE_INDEX;

	if (!debug_index_fits(&search->index, file, want))
		return -1;
	return debug_index_open(&search->index, file);
}

static int debug_search_try(const struct debug_search *search, const struct module *module,
			    const char *folder, const struct debug_want *want, uint32_t number)
{
	const enum debug_place place = number / PATTERN_COUNT;
	const enum debug_pattern pattern = number % PATTERN_COUNT;
	struct buffer path = { 0 };
	const char *store;
	int fd = -1;

	store = place == PLACE_CHOSEN	? search->directory
		: place == PLACE_TARGET ? "/usr/lib/debug"
					: search->host_directory;
	/* In the chosen directory the names of the links may also lie without their folders. */
	if (place == PLACE_CHOSEN && pattern != PATTERN_STORE)
		folder = search->directory;
	if (!store || !folder || !debug_search_path(&path, store, folder, pattern, want))
		goto out;
	fd = debug_search_open_place(module, path.data, place, pattern);
out:
	buffer_free(&path);
	return regular_file_keep_elf(fd);
}

/* Loaded only when asked for: it brings a whole HTTP client with it. */
static int debug_search_ask_servers(const struct debug_want *want)
{
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_find_debuginfo) find;
	__typeof__(&debuginfod_end) end;
	debuginfod_client *client;
	void *library;
	int fd = -1;

	if (want->kind == WANT_DEBUGLINK || !want->build_id_size ||
	    !getenv(DEBUGINFOD_URLS_ENV_VAR))
		return -1;
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	begin = (__typeof__(begin))dlsym(library, "debuginfod_begin");
	find = (__typeof__(find))dlsym(library, "debuginfod_find_debuginfo");
	end = (__typeof__(end))dlsym(library, "debuginfod_end");
	client = begin && find && end ? begin() : NULL;
	if (client) {
		fd = find(client, want->build_id, (int)want->build_id_size, NULL);
		end(client);
	}
	/* Not closed again: its HTTP library does not survive being unloaded. */
	return regular_file_keep_elf(fd);
}

int debug_search_open(const struct debug_search *search, const struct module *module,
		      const struct debug_want *want, uint32_t *candidate)
{
	const uint32_t servers = CANDIDATE_INDEX + (uint32_t)search->index.count;
	char *folder = debug_search_folder(module);
	uint32_t number;
	int fd = -1;

	if (want->kind == WANT_DEBUGLINK && !debug_search_is_name(want->name))
		goto out;
	for (number = *candidate; fd < 0 && number < CANDIDATE_INDEX; number++)
		fd = debug_search_try(search, module, folder ? folder : "", want, number);
	for (; fd < 0 && number < servers; number++)
		fd = debug_search_try_index(search, want, number);
	if (fd < 0 && number == servers && search->debuginfod) {
		number++;
		fd = debug_search_ask_servers(want);
	}
	if (fd >= 0)
		*candidate = number - 1;
out:
	free(folder);
	return fd;
}

bool debug_search_is_chosen(const struct debug_search *search, uint32_t candidate)
{
	return candidate < (PLACE_CHOSEN + 1) * PATTERN_COUNT ||
	       (candidate >= CANDIDATE_INDEX && candidate - CANDIDATE_INDEX < search->index.count);
}
