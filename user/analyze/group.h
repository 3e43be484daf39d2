/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot with fewer sites: those that have something in common become one: the innermost line of an interpreter or of
 * the application, the function or module that calls the allocator, the process. Pure, as all of analyze.
 */
#ifndef ANALYZE_GROUP_H
#define ANALYZE_GROUP_H

#include "analyze/judge.h"
#include "model/snapshot.h"

enum group_by {
	GROUP_BY_STACK = INTERP_NONE, /* every site for itself */
	GROUP_BY_FUNCTION = INTERP_KINDS,
	GROUP_BY_MODULE,
	GROUP_BY_PROCESS,
	GROUP_BY_APP_LINE,
	GROUP_BY_THREAD, /* threads of one name, which ends their stacks */
	/* Not for the command line: stacks that differ only in interpreters' own functions between other ones. */
	GROUP_BY_SHOWN,
	/* Nor this: the application's lines in processes in which an interpreter runs, shown stacks in others. */
	GROUP_BY_DEFAULT,
/* GROUP_BY_RUBY_LINE and so on. */
#define GROUP_ENUMERATOR(NAME, word, title) GROUP_BY_##NAME##_LINE = INTERP_##NAME,
	INTERP_LIST(GROUP_ENUMERATOR)
#undef GROUP_ENUMERATOR
};

/* A grouped snapshot, and what its sites refer to. */
struct grouped {
	struct snapshot snapshot;
	struct snapshot_site *members; /* the sites of all rows, row by row */
	struct stack **stacks; /* owned; one for each group */
	size_t stack_count, stack_capacity;
	struct frame_name **names; /* owned */
	size_t name_count, name_capacity;
};

/*
 * Group the sites of `snapshot`, which must outlive the result, and so must `judge`, which is for
 * that snapshot. Sites of different processes or sources stay apart, those of ended programs from
 * those of running ones, estimates from exact ones, and by an interpreter's line also those of
 * different allocator functions. By the application's line, processes of one program are added up.
 * A site that has no such line or caller stays as it is; without a line of the application, stacks
 * that are shown alike are one.
 *
 * The stack of a group is its line, function, module or thread alone; by process it has none; of stacks
 * that are shown alike it is one of them. `all`: interpreters' own frames are shown, too. Frames
 * that `judge` hides make no difference, and sites that it does not want are marked. Free with
 * group_free.
 */
struct grouped *group_build(const struct snapshot *snapshot, enum group_by by, bool all,
			    struct judge *judge);
void group_free(struct grouped *grouped);

#endif
