/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the files that a program will map when it starts, by asking its dynamic loader, so that
 * preloads, search paths and caches apply. Does not find what it opens later with dlopen.
 */
#ifndef SYSTEM_LOADER_H
#define SYSTEM_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Reads the untrusted file of a program. */
struct loader_reader {
	/*
	 * Store the loader that an ELF file names (PT_INTERP) in `*ret_interpreter`; the caller
	 * frees it; NULL = none. Returns 0 or a negative errno with `error` filled.
	 */
	int (*read)(void *context, int fd, const char *path, char **ret_interpreter,
		    struct error *error);
	void *context;
};

/*
 * The rights of the loader. The program chooses its loader, and a damaged program can make it run
 * anything.
 */
struct loader_rights {
	struct loader_reader reader;
	/* User to run it as, for user_find; NULL = the caller, without ambient capabilities. */
	const char *user;
	bool system_only; /* run only a loader of the system: by name, and writable by root alone */
	bool may_fail; /* if it cannot be run or lists nothing, return the rest */
};

/*
 * The files that `program` (a path, as spawn_find gives it) would map if it were started with the
 * present environment: the program, its interpreter (the loader) and its libraries, as absolute
 * paths without symbolic links, each once, the program first. Of a script it is the program that
 * its #! line names. The program itself is never run, only its loader's --list. Returns 0 with an
 * array that loader_list_free frees; 1 if it may fail and did, with an array of the program and its
 * loader and `error` filled; or a negative errno with `error` filled.
 */
int loader_list_libraries(const char *program, const struct loader_rights *rights,
			  char ***ret_paths, size_t *ret_count, struct error *error);

/* Is this the path of a system loader, which only root can have installed? */
bool loader_is_system(const char *path);
void loader_list_free(char **paths, size_t count);

/*
 * A copy of the path in a line of --list output (ldd's format); NULL if the line names no file: the
 * vdso, a missing library, a message. Public for tests and fuzzing.
 */
char *loader_parse_line(const char *line, size_t length);

#endif
