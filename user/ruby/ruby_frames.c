/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_frames.h. */
#include "ruby/ruby_frames.h"

#include "interp/frames_ops.h"
#include "ruby/ruby_gc_counter.h"
#include "ruby/ruby_name.h"

/* Words of a VM stack: a fiber's smallest has far more. */
#define STACK_WORDS_MIN (1u << 8)

/* Frames that a check looks at, from the outermost one on. */
#define CHECKED_MAX 32

/* The control frames of an execution context. */
struct ruby_frames {
	uint64_t first, end;
};

static bool ruby_find_frames(const struct ruby_release *layout, const struct target_memory *memory,
			     uint64_t context, struct ruby_frames *ret_frames)
{
	uint64_t words[3]; /* vm_stack, vm_stack_size, cfp */
	uint64_t end;

	if (context & 7 || !target_read(memory, context, words, sizeof(words)) || words[0] & 7 ||
	    words[1] < STACK_WORDS_MIN || words[1] > RUBY_STACK_WORDS_MAX)
		return false;
	end = words[0] + words[1] * 8;
	if (words[0] > end || words[2] < words[0] || words[2] >= end ||
	    (end - words[2]) % layout->frame_size)
		return false;
	*ret_frames = (struct ruby_frames){ words[2], end };
	return true;
}

static uint64_t ruby_context(const struct ruby_release *layout, const struct target_memory *memory,
			     uint64_t state)
{
	return layout->by_thread ? target_word(memory, state + layout->thread_context) : state;
}

bool ruby_frames_is_state(const struct ruby_release *layout, const struct target_memory *memory,
			  uint64_t state, uint64_t identity)
{
	uint64_t context = ruby_context(layout, memory, state), thread, native;
	struct ruby_frames frames;

	if (!context || !ruby_find_frames(layout, memory, context, &frames))
		return false;
	thread = target_word(memory, context + layout->context_thread);
	if (!thread || target_word(memory, thread + layout->thread_context) != context ||
	    (layout->by_thread && thread != state))
		return false;
	native = layout->thread_native ? target_word(memory, thread + layout->thread_native)
				       : thread;
	return native && target_word(memory, native + layout->identity) == identity;
}

bool ruby_frames_check(const struct ruby_release *layout, const struct target_memory *memory,
		       uint64_t state)
{
	uint64_t context = ruby_context(layout, memory, state);
	struct ruby_frames frames;
	uint64_t words[3]; /* pc, sp, iseq */
	unsigned int good = 0, looked;
	struct interp_name name;
	uint64_t frame;

	if (!context || !ruby_find_frames(layout, memory, context, &frames))
		return false;
	/* The outermost one is a dummy, and the innermost one changes all the time. */
	frame = frames.end - layout->frame_size;
	for (looked = 0; looked < CHECKED_MAX; looked++) {
		frame -= layout->frame_size;
		if (frame < frames.first || (good && frame == frames.first))
			break;
		if (!target_read(memory, frame, words, sizeof(words)))
			return false;
		if (!words[0] || !words[2])
			continue;
		if (!ruby_name_frame(layout, memory, words[2], words[0], &name) || !name.file[0])
			return false;
		good++;
	}
	return good;
}

/* The instructions of code are addresses of what handles them, as Ruby is built with all compilers but a few. */
uint64_t ruby_frames_handler(const struct ruby_release *layout, const struct target_memory *memory,
			     uint64_t state)
{
	uint64_t context = ruby_context(layout, memory, state), frame, body, handler = 0;
	struct ruby_frames frames;
	uint64_t words[3]; /* pc, sp, iseq */
	unsigned int looked;

	if (!context || !ruby_find_frames(layout, memory, context, &frames))
		return 0;
	frame = frames.end - layout->frame_size;
	for (looked = 0; looked < CHECKED_MAX && !handler && frame > frames.first; looked++) {
		frame -= layout->frame_size;
		if (!target_read(memory, frame, words, sizeof(words)) || !words[0] || !words[2])
			continue;
		body = target_word(memory, words[2] + RUBY_ISEQ_BODY);
		handler = target_word(memory, target_word(memory, body + RUBY_BODY_CODE));
	}
	return handler;
}

/* Since 3.1 any object leads to the object space. */
static bool ruby_has_pools(const char *version)
{
	const struct ruby_release *layout = ruby_release_find(version);

	return !layout || layout->major > 3 || (layout->major == 3 && layout->minor >= 1);
}

static bool ruby_read_file(struct elf_file *file, const char *path, struct interp_file *interp)
{
	uint64_t version = interp_file_symbol(file, "ruby_version");
	char text[INTERP_VERSION_MAX];

	(void)path;
	if (!version)
		return false;
	interp_file_set_version(interp, text,
				interp_file_read_at(file, version, text, sizeof(text)));
	interp->globals = interp_file_symbol(
		file, ruby_has_pools(interp->version) ? "rb_cObject" : "ruby_current_vm_ptr");
	interp_file_set_loop(file, "rb_vm_exec", interp);
	return true;
}

static bool ruby_knows(const struct interp_file *interp)
{
	return ruby_release_find(interp->version);
}

static bool ruby_set_layout(struct interpreter *interpreter, const struct interp_file *file,
			    uint64_t bias, const struct target_memory *memory)
{
	const struct ruby_release *layout = ruby_release_find(file->version);

	(void)bias;
	(void)memory;
	if (!layout)
		return false;
	ruby_release_keep(interpreter, layout);
	interpreter->process.ruby = (struct interp_ruby){
		.frame_size = layout->frame_size,
		.lines = layout->lines,
		.lines_index = layout->line_index,
		.line_count = layout->line_count,
		.line_size = layout->line_size,
		.wide_strings = layout->wide_strings,
	};
	if (layout->by_thread)
		interpreter->process.through = layout->thread_context;
	return true;
}

static bool ruby_is_state(const struct interpreter *interpreter, const struct target_memory *memory,
			  uint64_t state, uint64_t identity)
{
	return ruby_frames_is_state(ruby_release_of(interpreter), memory, state, identity);
}

static bool ruby_check(const struct interpreter *interpreter, const struct target_memory *memory,
		       uint64_t state)
{
	return ruby_frames_check(ruby_release_of(interpreter), memory, state);
}

/* Ruby hides this function since 3.3. */
static uint64_t ruby_find_loop(const struct interpreter *interpreter,
			       const struct target_memory *memory, uint64_t state)
{
	return ruby_frames_handler(ruby_release_of(interpreter), memory, state);
}

static bool ruby_name_live(const struct interpreter *interpreter,
			   const struct target_memory *memory, const struct interp_frame *frame,
			   struct interp_name *ret_name)
{
	return ruby_name_frame(ruby_release_of(interpreter), memory, frame->code, frame->at,
			       ret_name);
}

static bool ruby_name_copied(const struct interpreter *interpreter,
			     const struct target_memory *memory, const struct interp_frame *frame,
			     const struct interp_code *copy, struct interp_name *ret_name)
{
	return ruby_name_copy(ruby_release_of(interpreter), memory, copy, frame->at, ret_name);
}

static uint64_t ruby_key(const struct interpreter *interpreter, const struct target_memory *memory,
			 uint64_t code)
{
	(void)interpreter;
	return ruby_name_key(memory, code);
}

const struct frames_ops ruby_ops = {
	.launcher = "ruby",
	.code_is_freed = true,
	.read_file = ruby_read_file,
	.knows = ruby_knows,
	.set_layout = ruby_set_layout,
	.is_state = ruby_is_state,
	.check = ruby_check,
	.find_loop = ruby_find_loop,
	.name_frame = ruby_name_live,
	.name_copy = ruby_name_copied,
	.key = ruby_key,
	.has_gc_counter = ruby_gc_counter_is_known,
	.find_gc_counter = ruby_gc_counter_find,
};
