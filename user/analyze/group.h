/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot with fewer sites: those whose innermost frame of an interpreter is at the same line become one. Pure, as all
 * of analyze.
 */
#ifndef ANALYZE_GROUP_H
#define ANALYZE_GROUP_H

#include "model/snapshot.h"

enum group_by {
	GROUP_BY_STACK, /* every site for itself */
	GROUP_BY_RUBY_LINE,
	GROUP_BY_PYTHON_LINE,
};

/* A grouped snapshot, and what its sites refer to. */
struct grouped {
	struct snapshot snapshot;
	struct stack **stacks; /* owned; one for each site that stands for others */
	size_t stack_count, stack_capacity;
};

/*
 * Group the sites of `snapshot`, which must outlive the result. Sites of different processes, allocator functions or
 * sources stay apart, and so do sites without such a frame. The stack of a group is its line alone. Free with
 * group_free.
 */
struct grouped *group_build(const struct snapshot *snapshot, enum group_by by);
void group_free(struct grouped *grouped);

#endif
