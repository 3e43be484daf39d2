/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the frames of a snapshot are in a report: hidden, wanted, the application's. It remembers what it has found out about
 * each, as the same ones are in many stacks.
 */
#ifndef ANALYZE_JUDGE_H
#define ANALYZE_JUDGE_H

#include "analyze/frame_rules.h"
#include "analyze/frame_view.h"
#include "analyze/owner.h"

struct judge;

/* For one report. What is given must outlive it. Free with judge_free. */
struct judge *judge_new(const struct snapshot *snapshot, const struct frame_rules *rules,
			const struct report_names *names);
void judge_free(struct judge *judge);

const struct report_names *judge_names(const struct judge *judge);

/* Are there frames to hide at all? */
bool judge_may_hide(const struct judge *judge);
bool judge_hides(struct judge *judge, const struct frame_view *view);

/* Is it of the C++ library, or a function that allocates for others? */
bool judge_folds(struct judge *judge, const struct frame_view *view);

/* Does a rule of --only fit a frame of the stack? True if there is no such rule. */
bool judge_wants(struct judge *judge, const struct stack *stack);

/* Does an interpreter run in the target, as far as stacks show? */
bool judge_is_interpreted(struct judge *judge, const struct target *target);

/* The program that a target runs: equal for processes of one program. */
const char *judge_find_program(struct judge *judge, const struct target *target);

/* How many of the snapshot's processes that run are of the target's program. */
size_t judge_count_processes(struct judge *judge, const struct target *target);

/* Of these, how many are masters: parents of others of them. */
size_t judge_count_masters(struct judge *judge, const struct target *target);
bool judge_is_master(struct judge *judge, const struct target *target);

/* The row that a stack belongs to. Equal texts have one address, and are compared by it. */
struct app_line {
	struct frame_view view;
	const char *program;
	const char *path; /* of the file; of the module where the file is unknown */
	const char *function; /* NULL where there is a line */
};

/*
 * The innermost function of the application's code; without one, the innermost outside of packages; without one, the
 * innermost in code that is no file's; without one, the innermost line of an interpreter's package, which has called the
 * allocator for the application. What belongs to the C++ library, or allocates for others, is none of these. False if there is
 * none.
 */
bool judge_find_line(struct judge *judge, const struct snapshot_site *site,
		     struct app_line *ret_line);

/*
 * The innermost function that allocated on behalf of a line: not an interpreter's own, not hidden, and not one that allocates
 * for others. False if there is none.
 */
bool judge_find_leaf(struct judge *judge, const struct stack *stack, struct frame_view *ret_leaf);

#endif
