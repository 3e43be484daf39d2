/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's frames: a list from the innermost one to its callers. Up to 3.10 they are objects somewhere on the heap;
 * from 3.11 on most stand one above the other on a stack of their own. A part of interp.bpf.h.
 */
#ifndef INTERP_PYTHON_BPF_H
#define INTERP_PYTHON_BPF_H

int interp_python_step(struct interp_walk *walk);
int interp_python_describe(struct interp_walk *walk);

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

/* Have a frame in the window: with what is below it where its callers are likely to be there. */
static __always_inline bool interp_python_load(struct interp_walk *walk,
					       const struct interp_python *layout, __u64 frame)
{
	__u32 size = layout->frame_size;

	if (interp_has(walk, frame, size))
		return true;
	if (layout->windowed &&
	    interp_fill(walk, frame + size - INTERP_WINDOW_BYTES, INTERP_WINDOW_BYTES))
		return true;
	return interp_fill(walk, frame, size);
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
static __always_inline void interp_python_mark(struct interp_walk *walk)
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

/* Read one frame. Returns 1 when the walk is over. */
__noinline int interp_python_step(struct interp_walk *walk)
{
	const struct interp_python *layout;
	__u64 frame, code, at;
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
		interp_python_mark(walk);
		return 0;
	}
	code = interp_at(walk, frame + layout->code);
	at = interp_python_position(layout, interp_at(walk, frame + layout->position), code);
	if (!interp_push(walk, code, at, flags))
		return interp_end(walk, INTERP_END_DEPTH);
	walk->hash = interp_mix(interp_mix(walk->hash, code), at);
	return 0;
}

/* Copy what names a code object. */
static __always_inline void interp_python_copy(struct interp_walk *walk,
					       const struct interp_python *layout, __u64 code)
{
	__u64 filename, name, lines, key;

	interp_copy(walk, INTERP_PART_CODE, code);
	if (walk->code.parts[INTERP_PART_CODE].size < INTERP_CODE_FIELDS)
		return;
	filename = interp_copied(walk, INTERP_PART_CODE, layout->filename);
	name = interp_copied(walk, INTERP_PART_CODE, layout->name);
	lines = interp_copied(walk, INTERP_PART_CODE, layout->lines);
	key = interp_python_key(code, filename, name, lines,
				interp_copied(walk, INTERP_PART_CODE, layout->first_line));
	if (!interp_is_new(walk, key))
		return;
	interp_copy(walk, INTERP_PART_FILENAME, filename);
	interp_copy(walk, INTERP_PART_NAME, name);
	interp_copy_lines(walk, lines);
}

/* Copy what names the code of one frame. Returns 1 when there is no other frame. */
__noinline int interp_python_describe(struct interp_walk *walk)
{
	__u64 at;

	if (!walk)
		return 1;
	at = walk->described;
	if (at >= walk->record.count || at >= INTERP_FRAMES_MAX)
		return 1;
	walk->described = (__u32)at + 1;
	interp_python_copy(walk, &walk->process.python, walk->record.frames[at].code);
	return 0;
}

#endif
