/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_merge.h. */
#include "frames/interp_merge.h"

struct merge {
	const struct merge_native *native;
	size_t native_count;
	const struct merge_interp *interp;
	size_t interp_count, used; /* interpreter frames that are in `to` already */
	struct frame *to;
	size_t count;
};

static bool merge_is_runtime(const struct merge_native *native)
{
	return native->place == MERGE_RUNTIME || native->place == MERGE_LOOP ||
	       native->frame.kind == FRAME_JIT;
}

/*
 * How many of the outermost frames only start a program or thread that is the interpreter's: the system's, between which
 * and the end there may be the program's entry point, and which call the interpreter.
 */
static size_t merge_count_start(const struct merge *merge)
{
	size_t count = 0, started = 0;

	for (; count < merge->native_count; count++) {
		const struct merge_native *native = &merge->native[merge->native_count - 1 - count];

		if (native->place == MERGE_START)
			started++;
		else if (merge_is_runtime(native) && started)
			return count;
		else if (native->frame.kind != FRAME_ERROR && (!merge_is_runtime(native) || count))
			return 0;
	}
	return 0;
}

/*
 * Can loops and entries be paired from the innermost on: are there as many of both, or fewer of those whose walk was
 * cut?
 */
static bool merge_is_paired(const struct merge *merge)
{
	bool native_cut = false, interp_cut = false;
	size_t loops = 0, entries = 0, i;

	for (i = 0; i < merge->native_count; i++)
		loops += merge->native[i].place == MERGE_LOOP;
	for (i = 0; i < merge->interp_count; i++)
		entries += merge->interp[i].entry;
	if (merge->native_count)
		native_cut = merge->native[merge->native_count - 1].frame.kind == FRAME_ERROR;
	if (merge->interp_count)
		interp_cut = !merge->interp[merge->interp_count - 1].entry;
	return loops && (loops == entries || (loops < entries && native_cut) ||
			 (loops > entries && interp_cut));
}

/* Put interpreter frames: one run, or all. */
static void merge_put_interp(struct merge *merge, bool all)
{
	while (merge->used < merge->interp_count) {
		const struct merge_interp *interp = &merge->interp[merge->used++];

		merge->to[merge->count++] = interp->frame;
		if (interp->entry && !all)
			break;
	}
}

static void merge_put_native(struct merge *merge, size_t index, size_t start_count)
{
	const struct merge_native *native = &merge->native[index];
	struct frame *to = &merge->to[merge->count++];

	*to = native->frame;
	if (native->frame.kind != FRAME_ERROR &&
	    (merge_is_runtime(native) || index >= merge->native_count - start_count))
		to->internal = true;
}

size_t interp_merge(const struct merge_native *native, size_t native_count,
		    const struct merge_interp *interp, size_t interp_count, struct frame *to)
{
	struct merge merge = { .native = native,
			       .native_count = native_count,
			       .interp = interp,
			       .interp_count = interp_count,
			       .to = to };
	size_t start_count = interp_count ? merge_count_start(&merge) : 0, i;
	bool paired = merge_is_paired(&merge);

	for (i = 0; i < native_count; i++) {
		if (native[i].frame.kind == FRAME_ERROR)
			merge_put_interp(&merge, true);
		else if (paired && native[i].place == MERGE_LOOP)
			merge_put_interp(&merge, false);
		else if (!paired && merge_is_runtime(&native[i]))
			merge_put_interp(&merge, true);
		if (interp_count)
			merge_put_native(&merge, i, start_count);
		else
			to[merge.count++] = native[i].frame;
	}
	merge_put_interp(&merge, true);
	return merge.count;
}
