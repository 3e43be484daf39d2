/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frame_view.h. */
#include "analyze/frame_view.h"

bool frame_view_is(const struct frame_view *a, const struct frame_view *b)
{
	return a->frame == b->frame && a->identity == b->identity;
}

struct frame_walk frame_walk_begin(const struct frame *frame, const struct report_names *names)
{
	struct frame_walk walk = { .frame = frame };

	if (frame->kind != FRAME_ERROR && !frame->whole && !frame->name)
		walk.symbols = names->lookup(names->context, frame);
	if (walk.symbols && !walk.symbols->count)
		walk.symbols = NULL;
	return walk;
}

/* What is known without asking for names. */
static void frame_view_fill(struct frame_view *view, const struct frame *frame)
{
	if (frame->kind == FRAME_ERROR)
		view->function = frame->reason;
	if (!frame->name)
		return;
	view->function = frame->name->function;
	view->file = frame->name->file;
	view->line = frame->name->line;
	view->identity = frame->name;
}

bool frame_walk_next(struct frame_walk *walk, struct frame_view *ret_view)
{
	size_t count = walk->symbols ? walk->symbols->count : 1;
	struct frame_view view = { .frame = walk->frame };
	const struct symbol *symbol;

	if (walk->next >= count)
		return false;
	if (!walk->symbols) {
		frame_view_fill(&view, walk->frame);
	} else {
		symbol = &walk->symbols->items[walk->next];
		view.function = symbol->function;
		view.file = symbol->file;
		view.line = symbol->line;
		view.inlined = symbol->inlined;
		if (symbol->function || symbol->file)
			view.identity = symbol;
	}
	walk->next++;
	*ret_view = view;
	return true;
}
