/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's frames: a list from the innermost one to its callers. Up to 3.10 they are objects somewhere on the heap;
 * from 3.11 on most are one above the other on a stack of their own.
 */
#ifndef INTERP_PYTHON_BPF_H
#define INTERP_PYTHON_BPF_H

#include "interp_code.bpf.h"

int interp_python_step(struct interp_walk *walk);
int interp_python_copy(struct interp_walk *walk, __u64 code);

/* Begin with a thread state. False if there is nothing to be read. */
static __always_inline bool interp_python_start(struct interp_walk *walk, __u64 state)
{
	const struct interp_python *layout = &walk->process.python;
	__u64 at = state + layout->state_frame;

	if (layout->indirect)
		at = interp_word(at) + layout->indirect_frame;
	if (!interp_read(&walk->next, sizeof(walk->next), at)) {
		interp_end(walk, INTERP_END_UNREADABLE);
		return false;
	}
	return true;
}

static __always_inline bool interp_python_load(struct interp_walk *walk,
					       const struct interp_python *layout, __u64 frame)
{
	if (layout->windowed)
		return interp_load_frame(walk, frame, layout->frame_size);
	return interp_has(walk, frame, layout->frame_size) ||
	       interp_fill(walk, frame, layout->frame_size);
}

/* The instruction, in bytes from the first one. */
static __always_inline __u64 interp_python_position(const struct interp_python *layout, __u64 word,
						    __u64 code)
{
	__u64 at;

	if (layout->position_kind == INTERP_POSITION_POINTER)
		return word - code - layout->bytecode;
	/* -1 is the only negative number; extending the sign of it takes no arithmetic shift. */
	at = (__u32)word;
	if (at == 0xffffffff)
		return ~0ULL;
	return layout->position_kind == INTERP_POSITION_UNITS ? at * 2 : at;
}

static __always_inline __u32 interp_python_byte(const struct interp_walk *walk, __u64 address)
{
	return (__u32)(interp_at(walk, address & ~7ULL) >> ((address & 7) * 8)) & 0xff;
}

/* Mark the last frame that was kept as the outermost one of its loop. */
static __always_inline void interp_python_end_run(struct interp_walk *walk)
{
	__u64 last = (__u64)walk->record.count - 1;

	INTERP_HIDE(last);
	if (last < INTERP_FRAMES_MAX)
		walk->record.frames[last].flags |= INTERP_FRAME_ENTRY;
}

/* Is it a frame that only marks where a loop began? Otherwise `ret_flags` gets the frame's flags. */
static __always_inline bool interp_python_is_shim(struct interp_walk *walk,
						  const struct interp_python *layout, __u64 frame,
						  __u32 *ret_flags)
{
	__u32 byte;

	if (layout->entry_kind == INTERP_ENTRY_ALWAYS) {
		*ret_flags = INTERP_FRAME_ENTRY;
		return false;
	}
	byte = interp_python_byte(walk, frame + layout->entry);
	if (layout->entry_kind == INTERP_ENTRY_SHIM)
		return byte == INTERP_OWNER_LOOP;
	*ret_flags = byte ? INTERP_FRAME_ENTRY : 0;
	return false;
}

/* A str that was copied counts as content. */
static __always_inline void interp_python_mix_text(struct interp_walk *walk,
						   const struct interp_python *layout,
						   enum interp_part_kind kind)
{
	__u64 length = interp_copied(walk, kind, PYTHON_LENGTH);
	__u32 state = (__u32)interp_copied(walk, kind, PYTHON_STATE), width = state >> 2 & 7;

	walk->content = interp_mix(walk->content, length);
	if (length > INTERP_PART_BYTES)
		length = INTERP_PART_BYTES;
	interp_mix_bytes(walk, kind, state & PYTHON_STATE_ASCII ? layout->text : layout->wide_text,
			 (__u32)length * width);
}

/* Copy what names a code object, and find out its content. */
__noinline int interp_python_copy(struct interp_walk *walk, __u64 code)
{
	const struct interp_python *layout;
	__u64 lines;

	if (!walk)
		return 0;
	layout = &walk->process.python;
	interp_content_begin(walk, code);
	interp_copy(walk, INTERP_PART_CODE, code);
	if (walk->code.parts[INTERP_PART_CODE].size < INTERP_CODE_FIELDS) {
		walk->content = 0;
		walk->incomplete = 1;
		return 0;
	}
	interp_copy(walk, INTERP_PART_FILENAME,
		    interp_copied(walk, INTERP_PART_CODE, layout->filename));
	interp_python_mix_text(walk, layout, INTERP_PART_FILENAME);
	interp_copy(walk, INTERP_PART_NAME, interp_copied(walk, INTERP_PART_CODE, layout->name));
	interp_python_mix_text(walk, layout, INTERP_PART_NAME);
	walk->content = interp_mix(walk->content,
				   interp_copied(walk, INTERP_PART_CODE, layout->first_line));
	lines = interp_copied(walk, INTERP_PART_CODE, layout->lines);
	interp_copy_lines(walk, lines, PYTHON_BYTES, interp_word(lines + PYTHON_LENGTH));
	return 0;
}

/* Frames are complete when they are read. */
static __always_inline void interp_python_complete(struct interp_walk *walk, __u64 at)
{
	(void)walk;
	(void)at;
}

/* The content of a code object; 0 = it could not be read. */
static __always_inline __u64 interp_python_content(struct interp_walk *walk, __u64 code)
{
	__u64 key = interp_memo_key(walk, code);
	struct interp_memo *memo = interp_memo(walk, code);

	if (!interp_memo_holds(memo, key)) {
		interp_python_copy(walk, code);
		interp_memo_fill(walk, memo, key);
	}
	return memo->content;
}

/* Read one frame. Returns 1 when the walk is over. */
__noinline int interp_python_step(struct interp_walk *walk)
{
	const struct interp_python *layout;
	__u64 frame, code, at, content;
	__u32 flags = 0;

	if (!walk)
		return 1;
	layout = &walk->process.python;
	frame = walk->next;
	if (!frame)
		return interp_end(walk, INTERP_END_ROOT);
	if (frame & 7 || !interp_python_load(walk, layout, frame))
		return interp_end(walk, INTERP_END_UNREADABLE);
	walk->next = interp_at(walk, frame + layout->previous);
	if (interp_python_is_shim(walk, layout, frame, &flags)) {
		interp_python_end_run(walk);
		return 0;
	}
	code = interp_at(walk, frame + layout->code);
	at = interp_python_position(layout, interp_at(walk, frame + layout->position), code);
	content = interp_python_content(walk, code);
	if (!interp_push(walk, code, at, content, flags))
		return interp_end(walk, INTERP_END_DEPTH);
	walk->hash = interp_mix(interp_mix(walk->hash, content ? content : code), at);
	return 0;
}

#endif
