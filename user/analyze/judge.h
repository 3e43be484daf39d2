/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies the frames of a snapshot for a report: hidden, wanted, the application's. Caches its
 * answers, since the same frames occur in many stacks.
 */
#ifndef ANALYZE_JUDGE_H
#define ANALYZE_JUDGE_H

#include "analyze/frame_rules.h"
#include "analyze/frame_view.h"
#include "analyze/owner.h"

struct judge;

/* For one report. The arguments must outlive it. Free with judge_free. */
struct judge *judge_new(const struct snapshot *snapshot, const struct frame_rules *rules,
			const struct report_names *names);
void judge_free(struct judge *judge);

const struct report_names *judge_names(const struct judge *judge);

/* Can any frame be hidden? */
bool judge_may_hide(const struct judge *judge);
bool judge_hides(struct judge *judge, const struct frame_view *view);

/* Does it belong to the C++ library, or allocate on behalf of others? */
bool judge_folds(struct judge *judge, const struct frame_view *view);

/* Does a rule of --only match a frame of the stack? True without such rules. */
bool judge_wants(struct judge *judge, const struct stack *stack);

/* Do the stacks show that the target runs an interpreter? */
bool judge_is_interpreted(struct judge *judge, const struct target *target);

/* The program of a target: the same pointer for processes of one program. */
const char *judge_find_program(struct judge *judge, const struct target *target);

/* Number of running processes in the snapshot with the target's program. */
size_t judge_count_processes(struct judge *judge, const struct target *target);

/* How many of these are masters: parents of other ones. */
size_t judge_count_masters(struct judge *judge, const struct target *target);
bool judge_is_master(struct judge *judge, const struct target *target);

/* The row that a stack belongs to. Equal texts are one pointer, and compared by it. */
struct app_line {
	struct frame_view view;
	const char *program;
	const char *path; /* of the file, or of the module if the file is unknown */
	const char *function; /* NULL if there is a line */
};

/*
 * Find the innermost function of application code; failing that, the innermost outside of packages;
 * then the innermost in code without a file; then the innermost line of an interpreter's package,
 * which has called the allocator for the application. Code that belongs to the C++ library, or
 * allocates on behalf of others by its name, never counts; what does so by the stacks of the
 * snapshot (wrappers.h), only if there is nothing else. False if there is none.
 */
bool judge_find_line(struct judge *judge, const struct snapshot_site *site,
		     struct app_line *ret_line);

/*
 * The same, or without a line of the application the innermost named function that does not
 * allocate on behalf of others, by name or by stacks.
 */
bool judge_find_place(struct judge *judge, const struct snapshot_site *site,
		      struct app_line *ret_line);

/*
 * The innermost function that allocated on behalf of a line: not an interpreter's own, not hidden,
 * and not one that allocates on behalf of others by its name. False if there is none.
 */
bool judge_find_leaf(struct judge *judge, const struct stack *stack, struct frame_view *ret_leaf);

#endif
