/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups the sites of a snapshot by what they have in common: the innermost line of an interpreter
 * or of the application, the function or module that calls the allocator, the process. Pure, like
 * all of analyze.
 */
#ifndef ANALYZE_GROUP_H
#define ANALYZE_GROUP_H

#include "analyze/judge.h"
#include "model/snapshot.h"

enum group_by {
	GROUP_BY_STACK = INTERP_NONE, /* every site by itself */
	GROUP_BY_FUNCTION = INTERP_KINDS,
	GROUP_BY_MODULE,
	GROUP_BY_PROCESS,
	GROUP_BY_APP_LINE,
	GROUP_BY_THREAD, /* threads of one name, the last frame of their stacks */
	/*
	 * Not on the command line: merges stacks that differ only in interpreters' own functions.
	 */
	GROUP_BY_SHOWN,
	/*
	 * Not on the command line: lines of the application; without one, the function that called
	 * those that allocate for others.
	 */
	GROUP_BY_PLACE,
	/*
	 * Not on the command line: lines of the application in interpreted processes, shown stacks
	 * in others.
	 */
	GROUP_BY_DEFAULT,
/* GROUP_BY_RUBY_LINE and so on. */
#define GROUP_ENUMERATOR(NAME, word, title) GROUP_BY_##NAME##_LINE = INTERP_##NAME,
	INTERP_LIST(GROUP_ENUMERATOR)
#undef GROUP_ENUMERATOR
};

/* A grouped snapshot, and what its sites refer to. */
struct grouped {
	struct snapshot snapshot;
	struct snapshot_site *members; /* the sites of all rows, grouped by row */
	struct stack **stacks; /* owned; one per group */
	size_t stack_count, stack_capacity;
	struct frame_name **names; /* owned */
	size_t name_count, name_capacity;
};

/*
 * Group the sites of `snapshot`. It and `judge`, which was made for it, must outlive the result.
 * Sites of different processes or sources stay separate, and so do those of ended and running
 * programs, and estimates and exact figures; by an interpreter's line also those of different
 * allocator functions. By the application's line, processes of one program are merged. A site
 * without such a line or caller stays as it is; without a line of the application, stacks that look
 * alike in a report are merged.
 *
 * The stack of a group is only its line, function, module or thread; by process it has none; for
 * stacks that look alike it is one of them. `all`: show interpreters' own frames, too. Frames that
 * `judge` hides are ignored, and sites that it does not want are marked. Free with group_free.
 */
struct grouped *group_build(const struct snapshot *snapshot, enum group_by by, bool all,
			    struct judge *judge);
void group_free(struct grouped *grouped);

#endif
