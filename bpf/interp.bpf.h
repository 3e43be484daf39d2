/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the frames of the interpreter that runs in the current thread.
 *
 * Entry points: interp_walk_stack() reads the frames and their hash, at every event; interp_describe_one() adds what is
 * only wanted of a stack that was not seen before, one frame at a time. Headers are included in one direction: state,
 * parts, code, one for each interpreter, this one; interp_site.bpf.h, for BPF alone, includes it.
 *
 * As in unwind.bpf.h: state in map memory, steps as global functions, and memory read in windows.
 */
#ifndef INTERP_BPF_H
#define INTERP_BPF_H

#include "interp_php.bpf.h"
#include "interp_python.bpf.h"
#include "interp_ruby.bpf.h"

/*
 * Frames that are looked at: the square of this; some are not kept. Two loops, one in the other, are less to verify than
 * one.
 */
#define INTERP_TURNS 23

/*
 * For each row of INTERP_LIST, X being its word, a header interp_X.bpf.h has:
 * interp_X_start(walk, state): begin with a state; false if nothing can be read;
 * interp_X_step(walk): read a frame; 1 when the walk is over;
 * interp_X_copy(walk, code): copy what names code, and find out its content;
 * interp_X_complete(walk, at): what is only wanted of a frame of a new stack.
 */
#define INTERP_DISPATCH(kind, CASE) \
	switch (kind) {             \
		INTERP_LIST(CASE)   \
	}

#define INTERP_CASE_START(NAME, word, title) \
	case INTERP_##NAME:                  \
		return interp_##word##_start(walk, state);
#define INTERP_CASE_STEP(NAME, word, title) \
	case INTERP_##NAME:                 \
		return interp_##word##_step(walk);
#define INTERP_CASE_COPY(NAME, word, title) \
	case INTERP_##NAME:                 \
		return interp_##word##_copy(walk, code);
#define INTERP_CASE_COMPLETE(NAME, word, title)     \
	case INTERP_##NAME:                         \
		interp_##word##_complete(walk, at); \
		break;

/* Begin with the current thread, which has this thread pointer. False if there are no frames to be read. */
static __always_inline bool interp_walk_begin(struct interp_walk *walk,
					      const struct interp_process *process,
					      __u64 thread_pointer, __u32 depth)
{
	__u64 state = interp_find_state(process, thread_pointer);

	walk->record.kind = INTERP_NONE;
	walk->record.count = 0;
	walk->record.end = INTERP_END_ROOT;
	walk->record.unused = 0;
	walk->hash = process->seed;
	if (!state)
		return false;
	walk->window_start = 0;
	walk->window_bytes = 0;
	walk->process = *process;
	walk->depth = depth;
	walk->described = 0;
	walk->record.kind = process->kind;
	/* A walk that finds no end in all its turns was cut. */
	walk->record.end = INTERP_END_DEPTH;
	INTERP_DISPATCH(walk->record.kind, INTERP_CASE_START)
	return false;
}

/* Returns 1 when the walk is over. */
static __always_inline int interp_walk_step(struct interp_walk *walk)
{
	INTERP_DISPATCH(walk->record.kind, INTERP_CASE_STEP)
	return 1;
}

/* Some steps. Returns 1 when the walk is over. */
int interp_some_steps(struct interp_walk *walk);

__noinline int interp_some_steps(struct interp_walk *walk)
{
	__u32 turn;

	for (turn = 0; walk && turn < INTERP_TURNS; turn++)
		if (interp_walk_step(walk))
			return 1;
	return 0;
}

static __always_inline void interp_walk_finish(struct interp_walk *walk)
{
	if (!walk->record.count)
		walk->hash = 0;
	else if (!walk->hash)
		walk->hash = 1;
}

/*
 * Read the frames of the current thread, innermost first, at most `depth` of them. Leaves them in `walk->record`, and
 * in `walk->hash` a hash of each frame and the place in it; 0 without a frame. A plain loop: bpf_loop needs Linux 5.17.
 */
static __always_inline void interp_walk_stack(struct interp_walk *walk,
					      const struct interp_process *process,
					      __u64 thread_pointer, __u32 depth)
{
	bool more = interp_walk_begin(walk, process, thread_pointer, depth);
	__u32 turn;

	for (turn = 0; more && turn < INTERP_TURNS; turn++)
		if (interp_some_steps(walk))
			break;
	interp_walk_finish(walk);
}

static __always_inline int interp_copy_code(struct interp_walk *walk, __u64 code)
{
	INTERP_DISPATCH(walk->record.kind, INTERP_CASE_COPY)
	return 0;
}

/* Complete one frame, and copy what names its code, unless there is a copy. Returns 0 when there is no other frame. */
int interp_describe_code(struct interp_walk *walk);

__noinline int interp_describe_code(struct interp_walk *walk)
{
	__u64 at, content;

	if (!walk)
		return 0;
	at = walk->described;
	if (at >= walk->record.count || at >= INTERP_FRAMES_MAX)
		return 0;
	walk->described = (__u32)at + 1;
	INTERP_DISPATCH(walk->record.kind, INTERP_CASE_COMPLETE)
	content = walk->record.frames[at].content;
	if (!content || bpf_map_lookup_elem(&interp_codes, &content))
		return 1;
	interp_copy_code(walk, walk->record.frames[at].code);
	if (walk->content == content)
		walk->new_code = content;
	return 1;
}

/*
 * Complete the next frame of a stack that was not seen before: it gets a copy of what names it, and its
 * INTERP_FRAME_ENTRY, unless it has that already. False if there is no other frame. Older kernels take values for maps
 * from here, and not from global functions.
 */
static __always_inline bool interp_describe_one(struct interp_walk *walk)
{
	__u64 content;

	walk->new_code = 0;
	if (!interp_describe_code(walk))
		return false;
	content = walk->new_code;
	if (content)
		bpf_map_update_elem(&interp_codes, &content, &walk->code, BPF_ANY);
	return true;
}

#endif
