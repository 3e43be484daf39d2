/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files a program will map when it starts, before it does: asked of its own loader, so that preloads, search
 * paths and caches count as they will. Not what it opens later by dlopen.
 */
#ifndef SYSTEM_LOADER_H
#define SYSTEM_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Who reads a program's file, which is as untrusted as any. */
struct loader_reader {
	/*
	 * The loader that an ELF file names (PT_INTERP) goes to `*ret_interpreter`, to be freed; NULL = none. Returns 0 or a
	 * negative errno with `error` filled.
	 */
	int (*read)(void *context, int fd, const char *path, char **ret_interpreter,
		    struct error *error);
	void *context;
};

/* What the loader may do: it is of the program's choice, and a damaged program can make it run anything. */
struct loader_rights {
	struct loader_reader reader;
	/* Whom it runs as, for user_find; NULL = the caller, without ambient capabilities. */
	const char *user;
	bool system_only; /* it is run only if it is the system's: by its name, and root's alone to write */
	bool may_fail; /* where it is not run or lists nothing, the rest of the answer counts */
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

/* Does this path lead to a loader of the system's, which only root can have put there? */
bool loader_is_system(const char *path);
void loader_list_free(char **paths, size_t count);

/*
 * The path in a line of what --list prints (ldd's format), as a copy; NULL if the line names no file: the vdso, a
 * library that was not found, a message. For tests and fuzzing too.
 */
char *loader_parse_line(const char *line, size_t length);

#endif
