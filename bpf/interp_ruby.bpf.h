/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby's control frames: an array that ends at the top of the thread's VM stack, innermost frame first.
 */
#ifndef INTERP_RUBY_BPF_H
#define INTERP_RUBY_BPF_H

#include "interp_code.bpf.h"

/* In the first word of an environment: rb_vm_exec returns when this frame is left. */
#define RUBY_ENVIRONMENT_FINISH 0x20

int interp_ruby_step(struct interp_walk *walk);
int interp_ruby_copy(struct interp_walk *walk, __u64 code);

/* Begin with an execution context. False if there is nothing to be read. */
static __always_inline bool interp_ruby_start(struct interp_walk *walk, __u64 context)
{
	__u64 words[3]; /* vm_stack, vm_stack_size, cfp */

	if (!interp_read(words, sizeof(words), context) || words[1] > RUBY_STACK_WORDS_MAX) {
		interp_end(walk, INTERP_END_UNREADABLE);
		return false;
	}
	walk->next = words[2];
	walk->end = words[0] + words[1] * 8;
	return true;
}

/* Copy a string, and its text where that is elsewhere; the text counts as content. */
static __always_inline void interp_ruby_copy_string(struct interp_walk *walk,
						    enum interp_part_kind kind,
						    enum interp_part_kind text, __u64 string)
{
	__u64 flags, length, elsewhere = 0;

	interp_copy(walk, kind, string);
	flags = interp_copied(walk, kind, 0);
	length = interp_copied(walk, kind, RUBY_STRING_LENGTH);
	if (flags & RUBY_FLAG)
		elsewhere = interp_copied(walk, kind, RUBY_STRING_TEXT);
	else if (!walk->process.ruby.wide_strings)
		length = flags >> 14 & 31;
	walk->content = interp_mix(walk->content, length);
	if (length > INTERP_PART_BYTES)
		length = INTERP_PART_BYTES;
	/* Without a text, the part must not be of the frame before. */
	interp_copy(walk, text, elsewhere);
	if (elsewhere)
		interp_mix_bytes(walk, text, 0, (__u32)length);
	else
		interp_mix_bytes(walk, kind,
				 walk->process.ruby.wide_strings ? RUBY_STRING_WIDE_BYTES
								 : RUBY_STRING_BYTES,
				 (__u32)length);
}

static __always_inline void interp_ruby_copy_path(struct interp_walk *walk, __u64 path)
{
	__u64 flags;

	interp_copy(walk, INTERP_PART_PATH, path);
	flags = interp_copied(walk, INTERP_PART_PATH, 0);
	if ((flags & RUBY_TYPE_MASK) == RUBY_TYPE_ARRAY && flags & RUBY_FLAG)
		path = interp_copied(walk, INTERP_PART_PATH, RUBY_ARRAY_FIRST);
	interp_ruby_copy_string(walk, INTERP_PART_FILENAME, INTERP_PART_FILENAME_TEXT, path);
}

/* Bytes of the index of lines of code with so many instructions; a last word that is not full is left out. */
static __always_inline __u32 interp_ruby_index_size(__u32 instructions)
{
	__u32 blocks;

	if (instructions < RUBY_INDEX_DIRECT)
		return instructions / 9 * 8;
	blocks = (instructions - RUBY_INDEX_DIRECT + 511) / 512;
	if (blocks > INTERP_PART_BYTES / RUBY_INDEX_BLOCK)
		return INTERP_PART_BYTES;
	return RUBY_INDEX_HEAD + blocks * RUBY_INDEX_BLOCK;
}

/* Copy the line tables; all but very long ones count as content. */
static __always_inline void interp_ruby_copy_lines(struct interp_walk *walk)
{
	const struct interp_ruby *layout = &walk->process.ruby;
	__u32 instructions = (__u32)(interp_copied(walk, INTERP_PART_CODE, 0) >> 32);
	__u64 count, index;

	count = interp_copied(walk, INTERP_PART_CODE, layout->line_count) & 0xffffffff;
	interp_copy_lines(walk, interp_copied(walk, INTERP_PART_CODE, layout->lines), 0,
			  count * layout->line_size);
	/* Code of one line has no index; that of others grows with the code. */
	index = count > 1 ? interp_copied(walk, INTERP_PART_CODE, layout->lines_index) : 0;
	interp_copy(walk, INTERP_PART_LINES_INDEX, index);
	walk->content = interp_mix(walk->content, instructions);
	if (index)
		interp_mix_bytes(walk, INTERP_PART_LINES_INDEX, 0,
				 interp_ruby_index_size(instructions));
}

/* Copy what names an iseq, and find out its content. */
__noinline int interp_ruby_copy(struct interp_walk *walk, __u64 code)
{
	__u64 body;

	if (!walk)
		return 0;
	body = interp_word(code + RUBY_ISEQ_BODY);
	interp_copy(walk, INTERP_PART_CODE, body);
	if (walk->code.parts[INTERP_PART_CODE].size < INTERP_BODY_FIELDS) {
		walk->content = 0;
		walk->incomplete = 1;
		return 0;
	}
	interp_content_begin(walk, interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_CODE));
	interp_ruby_copy_path(walk, interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_PATH));
	interp_ruby_copy_string(walk, INTERP_PART_NAME, INTERP_PART_NAME_TEXT,
				interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_LABEL));
	walk->content = interp_mix(walk->content,
				   interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_FIRST_LINE));
	interp_ruby_copy_lines(walk);
	return 0;
}

/* What is known of an iseq. The collector may move it, but never its instructions. */
static __always_inline const struct interp_memo *interp_ruby_know(struct interp_walk *walk,
								  __u64 code, __u64 at)
{
	__u64 key = interp_memo_key(walk, at);
	struct interp_memo *memo = interp_memo(walk, at);

	if (!interp_memo_holds(memo, key)) {
		interp_ruby_copy(walk, code);
		interp_memo_fill(walk, memo, key);
	}
	return memo;
}

/* Read one control frame; only those of Ruby code are kept. Returns 1 when the walk is over. */
__noinline int interp_ruby_step(struct interp_walk *walk)
{
	const struct interp_memo *memo;
	__u64 frame, code, at, count;
	__u32 size;

	if (!walk)
		return 1;
	frame = walk->next;
	size = walk->process.ruby.frame_size;
	/* The last frame is a dummy. */
	if (frame >= walk->end || walk->end - frame <= size)
		return interp_end(walk, INTERP_END_ROOT);
	if (!interp_has(walk, frame, RUBY_FRAME_BYTES) &&
	    !interp_fill(walk, frame, walk->end - frame))
		return interp_end(walk, INTERP_END_UNREADABLE);
	at = interp_at(walk, frame);
	code = interp_at(walk, frame + RUBY_FRAME_ISEQ);
	walk->next = frame + size;
	if (!at || !code)
		return 0;
	count = walk->record.count;
	memo = interp_ruby_know(walk, code, at);
	if (memo->content)
		at -= memo->object;
	if (!interp_push(walk, code, at, memo->content, 0))
		return interp_end(walk, INTERP_END_DEPTH);
	INTERP_HIDE(count);
	walk->environments[count & (INTERP_FRAMES_MAX - 1)] =
		interp_at(walk, frame + RUBY_FRAME_ENVIRONMENT);
	walk->hash = interp_mix(interp_mix(walk->hash, memo->content), at);
	return 0;
}

/* Find out of a frame whether it is an entry. */
static __always_inline void interp_ruby_complete(struct interp_walk *walk, __u64 at)
{
	if (interp_word(walk->environments[at]) & RUBY_ENVIRONMENT_FINISH)
		walk->record.frames[at].flags |= INTERP_FRAME_ENTRY;
}

#endif
