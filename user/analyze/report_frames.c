/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_frames.h. */
#include "analyze/report_frames.h"

#include <stdlib.h>

#include "base/memory.h"

static char *report_frame_build_id(const struct module *module)
{
	char text[2 * BUILD_ID_MAX + 1];

	if (!module || !module->build_id_size)
		return NULL;
	return memory_copy_string(module_format_build_id(module, text));
}

struct report_frame report_frame_of(const struct module_list *modules,
				    const struct frame_view *view)
{
	const struct frame *frame = view->frame;
	const struct module *module = module_list_get(modules, frame->module);

	return (struct report_frame){
		.kind = frame->kind,
		.function = view->function,
		.file = view->file,
		.line = view->line,
		.inlined = view->inlined,
		.module = module ? module->path : NULL,
		.build_id = report_frame_build_id(module),
		.offset = module || frame->kind == FRAME_KERNEL ? frame->offset : 0,
		.whole = frame->whole,
	};
}

/* One captured frame becomes one frame of the report for each function that was inlined there. True if all are hidden. */
static bool report_frames_add_one(struct frame_list *to, const struct module_list *modules,
				  const struct frame *frame, const struct report_options *options,
				  const struct report_names *names)
{
	struct frame_walk walk = frame_walk_begin(frame, names);
	struct frame_view view;
	bool hidden = true;

	while (frame_walk_next(&walk, &view)) {
		if (options->judge && judge_hides(options->judge, &view))
			continue;
		if (!to->found && to->wanted && frame_view_is(&view, to->wanted))
			to->found = to->count + 1;
		to->items = memory_grow(to->items, to->count, &to->capacity, sizeof(*to->items));
		to->items[to->count++] = report_frame_of(modules, &view);
		hidden = false;
	}
	return hidden;
}

size_t report_frames_add(struct frame_list *to, const struct module_list *modules,
			 const struct stack *stack, const struct report_options *options,
			 const struct report_names *names)
{
	size_t hidden = 0;
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (options->internal || !stack->frames[i].internal)
			hidden += report_frames_add_one(to, modules, &stack->frames[i], options,
							names);
	return hidden;
}

void report_frames_ask(const struct stack *stack, const struct report_options *options,
		       const struct report_names *names)
{
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (options->internal || !stack->frames[i].internal)
			(void)frame_walk_begin(&stack->frames[i], names);
}

/* Returns true if the search for a hint ends with this frame. */
static bool report_frame_hint(const struct frame *frame, const struct report_options *options,
			      const struct report_names *names, const char **ret_hint)
{
	struct frame_walk walk = frame_walk_begin(frame, names);
	struct frame_view view;

	while (frame_walk_next(&walk, &view)) {
		if (options->judge && judge_hides(options->judge, &view))
			continue;
		if (view.file)
			return true;
		if (frame->kind == FRAME_NATIVE && !view.function && !frame->whole) {
			*ret_hint = names->hint(names->context, frame);
			return true;
		}
	}
	return false;
}

const char *report_frames_hint(const struct stack *stack, const struct report_options *options,
			       const struct report_names *names)
{
	const char *hint = NULL;
	uint32_t i;

	for (i = 0; i < stack->count && names->hint; i++)
		if ((options->internal || !stack->frames[i].internal) &&
		    report_frame_hint(&stack->frames[i], options, names, &hint))
			break;
	return hint;
}

void report_frame_clear(struct report_frame *frame)
{
	free(frame->build_id);
	frame->build_id = NULL;
}

void report_frames_free(struct report_frame *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		report_frame_clear(&frames[i]);
	free(frames);
}
