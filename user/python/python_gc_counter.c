/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_gc_counter.h. */
#include "python/python_gc_counter.h"

#include "interp/frames_ops.h"
#include "interp/gc_counter.h"
#include "python/python_layout.h"
#include "python/python_release.h"

/* CPython: the heads of its lists of objects, 24 bytes apart, then figures of three generations, 24 bytes each. */
#define PYTHON_HEAD_SIZE 24
#define PYTHON_HEADS 3
#define PYTHON_FIGURES 104
#define PYTHON_OLDEST (2 * 24)
#define PYTHON_LINK_FLAGS 3ULL

/* In the runtime of 3.13, from the sixth word on: where the first interpreter is. */
#define PYTHON_OFFSET_OF_INTERPRETER 40

static bool counter_is_list(const struct target_memory *memory, uint64_t head)
{
	uint64_t next = target_word_present(memory, head) & ~PYTHON_LINK_FLAGS;
	uint64_t previous = target_word_present(memory, head + 8) & ~PYTHON_LINK_FLAGS;

	return next && previous &&
	       (target_word_present(memory, next + 8) & ~PYTHON_LINK_FLAGS) == head &&
	       (target_word_present(memory, previous) & ~PYTHON_LINK_FLAGS) == head;
}

/* 0 where it is not known. */
static uint64_t counter_lists_owner(const struct python_release *release, uint64_t runtime,
				    const struct target_memory *memory)
{
	uint64_t offset = release->gc_interpreter;

	if (offset == PYTHON_GC_IN_RUNTIME)
		return runtime;
	if (!offset)
		offset = target_word_present(memory, runtime + PYTHON_OFFSET_OF_INTERPRETER);
	return target_word_present(memory, runtime + offset);
}

bool python_gc_counter_is_known(const struct interpreter *interpreter)
{
	const struct python_release *release =
		python_release_find(python_layout_of(interpreter).minor);

	return release && release->gc_lists[0];
}

bool python_gc_counter_find(const struct interpreter *interpreter,
			    const struct target_memory *memory, struct gc_counter *ret_counter)
{
	const struct python_release *release =
		python_release_find(python_layout_of(interpreter).minor);
	uint64_t runtime = interpreter->globals, owner, head;
	int place, i;

	if (!release || !runtime)
		return false;
	owner = counter_lists_owner(release, runtime, memory);
	for (place = 0; owner && place < PYTHON_GC_PLACES && release->gc_lists[place]; place++) {
		head = owner + release->gc_lists[place];
		for (i = 0; i < PYTHON_HEADS; i++)
			if (!counter_is_list(memory, head + (uint64_t)i * PYTHON_HEAD_SIZE))
				break;
		if (i < PYTHON_HEADS)
			continue;
		*ret_counter = (struct gc_counter){ head + PYTHON_FIGURES + PYTHON_OLDEST, 0 };
		return true;
	}
	return false;
}
