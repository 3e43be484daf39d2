/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot with fewer sites: those that have something in common become one: the innermost line of an interpreter, the
 * function or module that calls the allocator, the process. Pure, as all of analyze.
 */
#ifndef ANALYZE_GROUP_H
#define ANALYZE_GROUP_H

#include "analyze/report.h"
#include "model/snapshot.h"

enum group_by {
	GROUP_BY_STACK = INTERP_NONE, /* every site for itself */
	GROUP_BY_FUNCTION = INTERP_KINDS,
	GROUP_BY_MODULE,
	GROUP_BY_PROCESS,
	/* Not for the command line: stacks that differ only in interpreters' own functions between other ones. */
	GROUP_BY_SHOWN,
/* GROUP_BY_RUBY_LINE and so on. */
#define GROUP_ENUMERATOR(NAME, word, title) GROUP_BY_##NAME##_LINE = INTERP_##NAME,
	INTERP_LIST(GROUP_ENUMERATOR)
#undef GROUP_ENUMERATOR
};

/* A grouped snapshot, and what its sites refer to. */
struct grouped {
	struct snapshot snapshot;
	struct stack **stacks; /* owned; one for each group */
	size_t stack_count, stack_capacity;
	struct frame_name **names; /* owned */
	size_t name_count, name_capacity;
};

/*
 * Group the sites of `snapshot`, which must outlive the result, and so must `names`, which only
 * GROUP_BY_FUNCTION asks (NULL otherwise). Sites of different processes or sources stay apart,
 * those of ended programs from those of running ones, estimates from exact ones, and by line also
 * those of different allocator functions. A site that has no such line or caller stays as it is.
 * The stack of a group is its line, function or module alone; by process it has none; of stacks
 * that are shown alike it is one of them. Free with group_free.
 */
struct grouped *group_build(const struct snapshot *snapshot, enum group_by by,
			    const struct report_names *names);
void group_free(struct grouped *grouped);

#endif
