/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the user names, since no table can list them: pools, custom allocators. Each
 * becomes a row like those of the allocator table, for files of its own name only.
 */
#ifndef PROBE_NAMED_H
#define PROBE_NAMED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "probe/allocator.h"
#include "elf/elf_file.h"

struct named_function {
	char *text; /* as it was typed */
	char *file; /* file name or whole path; "*" = any file */
	char *symbol; /* what `row` calls it */
	struct allocator_function row;
};

/* {0} is an empty list. */
struct named_list {
	struct named_function *items;
	size_t count, capacity;
};

/*
 * Add "FILE:FUNCTION:KEY=VALUE,...". One that allocates takes size=argN or size=SIZE, count=argN, old=argN, and ret
 * (the block is what it returns, the default) or ptr=argN (the block is left there, and 0 returned); one that frees
 * takes ptr=argN. Returns 0, or -EINVAL with `error` (ERROR_USAGE) filled: a phrase for what is wrong.
 */
int named_add(struct named_list *list, const char *text, bool frees, struct error *error);

/* Does the name match the file at this path? "libpool.so" also matches "/usr/lib/libpool.so.1". */
bool named_matches(const struct named_function *named, const char *path);

/* Is it a Go function, whose stack moves while it runs, so that its return cannot be probed? */
bool named_stack_moves(const struct named_function *named, struct elf_file *file);

void named_list_free(struct named_list *list);

#endif
