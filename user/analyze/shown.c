/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See shown.h. */
#include "analyze/shown.h"

#include <string.h>

#include "base/hash.h"

#define KEY_WORDS 5

/* What distinguishes a frame, as far as it is shown. Equal names have one address (name_pool.h). */
static void shown_frame_key(const struct frame *frame, uint64_t key[KEY_WORDS])
{
	memset(key, 0, KEY_WORDS * sizeof(*key));
	key[0] = frame->kind;
	key[1] = (uintptr_t)frame->reason;
	if (frame->name) {
		key[2] = (uintptr_t)frame->name->function;
		key[3] = (uintptr_t)frame->name->file;
		key[4] = frame->name->line;
	} else {
		key[2] = frame->module;
		key[3] = frame->offset ? frame->offset : frame->address;
	}
}

/* The same of one of its functions, where others of them may be hidden. In a module, equal texts have one address. */
static void shown_view_key(const struct frame_view *view, uint64_t key[KEY_WORDS])
{
	shown_frame_key(view->frame, key);
	if (view->frame->kind == FRAME_ERROR || view->frame->name || !view->identity)
		return;
	key[1] = view->frame->module;
	key[2] = (uintptr_t)view->function;
	key[3] = (uintptr_t)view->file;
	key[4] = (uint64_t)view->line << 1 | view->inlined;
}

/* A walk over the frames of a stack that matter. */
struct shown {
	const struct shown_stack *stack;
	uint32_t at;
	bool begun; /* one that is shown was met */
	bool in_frame; /* some functions of the frame before may follow */
	struct frame_walk walk;
	struct frame_view view; /* what was met last; of a whole frame, that alone */
};

/*
 * The next frame that is shown, or that is an interpreter's own and has none inside of it that is shown: what it allocates for
 * itself is another matter than what it allocates for others. NULL at the end.
 */
static const struct frame *shown_next_frame(struct shown *shown)
{
	const struct stack *stack = shown->stack->stack;

	while (shown->begun && !shown->stack->all && shown->at < stack->count &&
	       stack->frames[shown->at].internal)
		shown->at++;
	if (shown->at >= stack->count)
		return NULL;
	if (!stack->frames[shown->at].internal)
		shown->begun = true;
	return &stack->frames[shown->at++];
}

/* The next frame's key, or where frames may be hidden, the next function's that is not. False at the end. */
static bool shown_next(struct shown *shown, uint64_t key[KEY_WORDS])
{
	struct judge *judge = shown->stack->judge;
	const struct frame *frame;
	struct frame_view view;

	for (;;) {
		while (shown->in_frame && frame_walk_next(&shown->walk, &view)) {
			if (judge_hides(judge, &view))
				continue;
			shown_view_key(&view, key);
			shown->view = view;
			return true;
		}
		frame = shown_next_frame(shown);
		if (!frame)
			return false;
		if (!judge_may_hide(judge)) {
			shown_frame_key(frame, key);
			shown->view = (struct frame_view){ .frame = frame };
			return true;
		}
		shown->walk = frame_walk_begin(frame, judge_names(judge));
		shown->in_frame = true;
	}
}

uint64_t shown_hash(const struct shown_stack *stack)
{
	struct shown shown = { .stack = stack };
	uint64_t hash = 1, key[KEY_WORDS];
	size_t i;

	while (shown_next(&shown, key))
		for (i = 0; i < KEY_WORDS; i++)
			hash = hash_word(hash, key[i]);
	return hash;
}

int shown_compare(const struct shown_stack *left, const struct shown_stack *right)
{
	struct shown from_left = { .stack = left }, from_right = { .stack = right };
	uint64_t a[KEY_WORDS], b[KEY_WORDS];
	bool more_left, more_right;
	int order;

	for (;;) {
		more_left = shown_next(&from_left, a);
		more_right = shown_next(&from_right, b);
		if (!more_left || !more_right)
			return more_left - more_right;
		order = memcmp(a, b, sizeof(a));
		if (order)
			return order;
	}
}

uint64_t shown_mix_text(uint64_t hash, const char *text)
{
	return text ? hash_word(hash_string(hash, text), 1) : hash_word(hash, 0);
}

uint64_t shown_mix_module(uint64_t hash, const struct module_list *modules, uint32_t index)
{
	const struct module *module = modules ? module_list_get(modules, index) : NULL;

	hash = shown_mix_text(hash, module ? module->path : NULL);
	/* A file that has taken the place of another one is another. */
	return module ? hash_word(hash_word(hash, module->device), module->inode) : hash;
}

static uint64_t shown_mix_lines(uint64_t hash, const char *function, const char *file,
				uint32_t line)
{
	hash = shown_mix_text(hash, function);
	hash = shown_mix_text(hash, file);
	return hash_word(hash, line);
}

/* What shown_view_key distinguishes, without addresses of the tracer's own and numbers of modules. */
static uint64_t shown_mix_view(uint64_t hash, const struct frame_view *view,
			       const struct module_list *modules)
{
	const struct frame *frame = view->frame;

	hash = hash_word(hash, frame->kind);
	hash = shown_mix_text(hash, frame->reason);
	if (frame->name)
		return shown_mix_lines(hash, frame->name->function, frame->name->file,
				       frame->name->line);
	hash = shown_mix_module(hash, modules, frame->module);
	if (frame->kind == FRAME_ERROR || !view->identity)
		return hash_word(hash, frame->offset ? frame->offset : frame->address);
	hash = shown_mix_lines(hash, view->function, view->file, view->line);
	return hash_word(hash, view->inlined);
}

uint64_t shown_id(const struct shown_stack *stack, const struct module_list *modules, uint64_t hash)
{
	struct shown shown = { .stack = stack };
	uint64_t key[KEY_WORDS];

	while (shown_next(&shown, key))
		hash = shown_mix_view(hash, &shown.view, modules);
	return hash;
}
