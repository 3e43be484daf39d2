/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interpreter.h. */
#include "frames/interpreter.h"

#include <errno.h>

#include "frames/frames_table.h"
#include "interp/function_range.h"

/* A process that runs may be seen in the middle of a change: so often is it looked at. */
#define CHECKS_MAX 20

/* What a question about a word needs to know. */
struct interp_question {
	const struct interpreter *interpreter;
	const struct target_memory *memory;
};

static const struct frames_ops *interpreter_ops(const struct interpreter *interpreter)
{
	return frames_table_get(interpreter->kind);
}

static bool interpreter_is_state(void *context, uint64_t value, uint64_t identity)
{
	const struct interp_question *question = context;

	return interpreter_ops(question->interpreter)
		->is_state(question->interpreter, question->memory, value, identity);
}

/* Where no symbol does: a file is stripped, or hides this function. */
static void interpreter_find_loop(struct interpreter *interpreter,
				  const struct target_memory *memory, uint64_t start,
				  uint64_t state)
{
	const struct frames_ops *ops = interpreter_ops(interpreter);
	uint64_t inside;

	if (!ops->find_loop || interpreter->loop_start)
		return;
	inside = ops->find_loop(interpreter, memory, state);
	if (inside)
		function_range_find(memory, start, inside, &interpreter->loop_start,
				    &interpreter->loop_end);
}

/* The state of any thread, or of the process; returns as interpreter_find. */
static int interpreter_find_state(struct interpreter *interpreter,
				  const struct target_memory *memory,
				  const struct memory_range *ranges, size_t range_count,
				  uint64_t *ret_state)
{
	struct interp_question question = { interpreter, memory };
	struct anchor_question ask = { interpreter_is_state, &question };
	bool spent;

	if (interpreter->process.anchor_kind == INTERP_ANCHOR_PROCESS) {
		*ret_state = interpreter->process.anchor;
		return interpreter_is_state(&question, *ret_state, 0) ? 0 : -EAGAIN;
	}
	if (anchor_find(memory, ranges, range_count, &ask, &interpreter->process, ret_state,
			&spent))
		return 0;
	return spent ? -E2BIG : -EAGAIN;
}

static int interpreter_check(struct interpreter *interpreter, const struct target_memory *memory,
			     uint64_t state)
{
	unsigned int i;

	for (i = 0; i < CHECKS_MAX; i++)
		if (interpreter_ops(interpreter)->check(interpreter, memory, state))
			return 0;
	return -ENOTSUP;
}

int interpreter_find(const struct interp_file *file, uint64_t start,
		     const struct target_memory *memory, const struct memory_range *ranges,
		     size_t range_count, struct interpreter *ret_interpreter)
{
	struct interpreter found = { .kind = file->kind, .process.kind = file->kind };
	uint64_t bias = start - file->base, state;
	int code;

	if (!interpreter_ops(&found)->set_layout(&found, file, bias, memory))
		return -ENOTSUP;
	found.globals = file->globals ? bias + file->globals : 0;
	if (file->loop && file->loop_size) {
		found.loop_start = bias + file->loop;
		found.loop_end = found.loop_start + file->loop_size;
	}
	code = interpreter_find_state(&found, memory, ranges, range_count, &state);
	if (!code)
		code = interpreter_check(&found, memory, state);
	if (code)
		return code;
	interpreter_find_loop(&found, memory, start, state);
	*ret_interpreter = found;
	return 0;
}

bool interpreter_name(const struct interpreter *interpreter, const struct target_memory *memory,
		      const struct interp_frame *frame, const struct interp_code *copy,
		      struct interp_name *ret_name)
{
	const struct frames_ops *ops = interpreter_ops(interpreter);

	if (copy)
		return ops->name_copy(interpreter, memory, frame, copy, ret_name);
	/* Other code may be there by now. */
	return !frame->content && ops->name_frame(interpreter, memory, frame, ret_name);
}

uint64_t interpreter_key(const struct interpreter *interpreter, const struct target_memory *memory,
			 const struct interp_frame *frame)
{
	if (frame->content)
		return frame->content;
	return interpreter_ops(interpreter)->key(interpreter, memory, frame->code);
}
