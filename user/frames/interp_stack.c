/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_stack.h. */
#include "frames/interp_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "frames/frames_table.h"
#include "frames/interp_merge.h"

static bool path_begins(const struct module *module, const char *beginning)
{
	const char *name = strrchr(module->path, '/');

	return name && !strncmp(name + 1, beginning, strlen(beginning));
}

/* The program that only calls its interpreter library's main function. */
static bool stack_is_launcher(const struct interp_stack_source *source, const struct module *module)
{
	const char *launcher = frames_table_get(source->interpreter->kind)->launcher;

	return source->target->exe && !strcmp(module->path, source->target->exe) &&
	       path_begins(module, launcher);
}

static enum merge_place stack_place(const struct interp_stack_source *source,
				    const struct frame *frame)
{
	const struct module *module = module_list_get(source->modules, frame->module);
	const struct interpreter *interpreter = source->interpreter;

	if (frame->kind != FRAME_NATIVE || !module)
		return MERGE_OTHER;
	if (frame->address - 1 >= interpreter->loop_start &&
	    frame->address - 1 < interpreter->loop_end)
		return MERGE_LOOP;
	if (frame->module == source->module || stack_is_launcher(source, module))
		return MERGE_RUNTIME;
	if (path_begins(module, "libc.so") || path_begins(module, "libc-") ||
	    path_begins(module, "libpthread") || path_begins(module, "ld-"))
		return MERGE_START;
	return MERGE_OTHER;
}

static const struct frame_named *stack_name(const struct interp_stack_source *source,
					    const struct interp_frame *frame)
{
	const struct interp_code *copy = NULL;

	if (frame->content)
		copy = source->find_copy(source->context, frame->content);
	return frame_names_get(source->names, source->known, source->interpreter, &source->memory,
			       frame, copy);
}

/* Name the frames. Returns how many are to be shown. */
static size_t stack_name_frames(const struct interp_stack_source *source,
				const struct interp_record *record, struct merge_interp *to)
{
	uint32_t count = record->count < INTERP_FRAMES_MAX ? record->count : INTERP_FRAMES_MAX, i;
	const struct frame_named *named = NULL;
	bool covered = false;
	size_t kept = 0;

	for (i = 0; i < count; i++) {
		const struct interp_frame *frame = &record->frames[i];

		named = stack_name(source, frame);
		if (covered && kept) {
			to[kept - 1].entry |= frame->flags & INTERP_FRAME_ENTRY;
		} else {
			to[kept].frame = (struct frame){
				.kind = (enum frame_kind)source->interpreter->kind,
				.module = MODULE_NONE,
				.address = frame->code,
				.name = named ? named->name : NULL,
			};
			to[kept++].entry = frame->flags & INTERP_FRAME_ENTRY;
		}
		covered = named && named->covers_next;
	}
	return kept;
}

static const char *stack_end_reason(uint32_t end)
{
	if (end == INTERP_END_DEPTH)
		return "interpreter stack deeper than --stack-depth";
	return end == INTERP_END_UNREADABLE ? "interpreter stack could not be read" : NULL;
}

struct stack *interp_stack_merge(const struct interp_stack_source *source, struct stack *stack,
				 const struct interp_record *record)
{
	size_t room = (size_t)stack->count + INTERP_FRAMES_MAX + 1, interp_count, i;
	const char *reason = stack_end_reason(record->end);
	struct merge_interp *interp;
	struct merge_native *native;
	struct stack *merged;

	native = memory_alloc(stack->count + 1, sizeof(*native));
	interp = memory_alloc(INTERP_FRAMES_MAX, sizeof(*interp));
	merged = memory_alloc(1, sizeof(*merged) + room * sizeof(merged->frames[0]));
	for (i = 0; i < stack->count; i++)
		native[i] = (struct merge_native){ stack->frames[i],
						   stack_place(source, &stack->frames[i]) };
	interp_count = stack_name_frames(source, record, interp);
	merged->count =
		(uint32_t)interp_merge(native, stack->count, interp, interp_count, merged->frames);
	if (reason && (!merged->count || merged->frames[merged->count - 1].kind != FRAME_ERROR))
		merged->frames[merged->count++] = (struct frame){ .kind = FRAME_ERROR,
								  .module = MODULE_NONE,
								  .reason = reason };
	free(native);
	free(interp);
	stack_free(stack);
	return merged;
}
