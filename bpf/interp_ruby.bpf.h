/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby's control frames: an array that ends at the top of the thread's VM stack, innermost frame first. A part of
 * interp.bpf.h.
 */
#ifndef INTERP_RUBY_BPF_H
#define INTERP_RUBY_BPF_H

/* The same in all versions: {vm_stack, vm_stack_size, cfp} and {pc, sp, iseq, self, ep}. */
#define RUBY_FRAME_ISEQ 16
#define RUBY_FRAME_ENVIRONMENT 32
#define RUBY_FRAME_BYTES 40

/* Words of a VM stack: Ruby's smallest is 16 KB for a fiber, its largest a matter of RUBY_THREAD_VM_STACK_SIZE. */
#define RUBY_STACK_WORDS_MAX (1ULL << 28)

/* An iseq's body, and where in a body the rest is. */
#define RUBY_ISEQ_BODY 16
#define RUBY_BODY_CODE 8
#define RUBY_BODY_PATH 64
#define RUBY_BODY_LABEL 80
#define RUBY_BODY_FIRST_LINE 88

/* Objects: type in the low bits of the first word; of an array a flag says that it is embedded, of a string that not. */
#define RUBY_TYPE(flags) ((flags)&0x1f)
#define RUBY_TYPE_ARRAY 7
#define RUBY_FLAG (1ULL << 13)
#define RUBY_ARRAY_FIRST 16
#define RUBY_STRING_TEXT 24

/* In the first word of an environment: rb_vm_exec returns when this frame is left. */
#define RUBY_ENVIRONMENT_FINISH 0x20

int interp_ruby_step(struct interp_walk *walk);
int interp_ruby_describe(struct interp_walk *walk);

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

/* Read one control frame; only those of Ruby code are kept. Returns 1 when the walk is over. */
__noinline int interp_ruby_step(struct interp_walk *walk)
{
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
	if (!interp_push(walk, code, at, 0))
		return interp_end(walk, INTERP_END_DEPTH);
	INTERP_HIDE(count);
	walk->environments[count & (INTERP_FRAMES_MAX - 1)] =
		interp_at(walk, frame + RUBY_FRAME_ENVIRONMENT);
	/* The collector may move iseqs, but never their instructions. */
	walk->hash = interp_mix(walk->hash, at);
	return 0;
}

static __always_inline void interp_ruby_copy_string(struct interp_walk *walk,
						    enum interp_part_kind kind,
						    enum interp_part_kind text, __u64 string)
{
	interp_copy(walk, kind, string);
	/* Without a text, the part must not be of the frame before. */
	interp_copy(walk, text,
		    interp_copied(walk, kind, 0) & RUBY_FLAG
			    ? interp_copied(walk, kind, RUBY_STRING_TEXT)
			    : 0);
}

static __always_inline void interp_ruby_copy_path(struct interp_walk *walk, __u64 path)
{
	__u64 flags;

	interp_copy(walk, INTERP_PART_PATH, path);
	flags = interp_copied(walk, INTERP_PART_PATH, 0);
	if (RUBY_TYPE(flags) == RUBY_TYPE_ARRAY && flags & RUBY_FLAG)
		path = interp_copied(walk, INTERP_PART_PATH, RUBY_ARRAY_FIRST);
	interp_ruby_copy_string(walk, INTERP_PART_FILENAME, INTERP_PART_FILENAME_TEXT, path);
}

/* Copy what names an iseq. */
static __always_inline void interp_ruby_copy(struct interp_walk *walk, __u64 code)
{
	__u64 key, path, label;

	interp_copy(walk, INTERP_PART_CODE, interp_word(code + RUBY_ISEQ_BODY));
	if (walk->code.parts[INTERP_PART_CODE].size < INTERP_BODY_FIELDS)
		return;
	path = interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_PATH);
	label = interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_LABEL);
	key = interp_ruby_key(walk->code.parts[INTERP_PART_CODE].address, path, label,
			      interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_CODE),
			      interp_copied(walk, INTERP_PART_CODE, RUBY_BODY_FIRST_LINE));
	if (!interp_is_new(walk, key))
		return;
	interp_ruby_copy_path(walk, path);
	interp_ruby_copy_string(walk, INTERP_PART_NAME, INTERP_PART_NAME_TEXT, label);
	interp_copy_lines(walk, interp_copied(walk, INTERP_PART_CODE, walk->process.ruby.lines));
	interp_copy(walk, INTERP_PART_LINES_INDEX,
		    interp_copied(walk, INTERP_PART_CODE, walk->process.ruby.lines_index));
}

/* Find out of one frame whether it is an entry, and copy what names it. Returns 1 when there is no other frame. */
__noinline int interp_ruby_describe(struct interp_walk *walk)
{
	struct interp_frame *frame;
	__u64 at;

	if (!walk)
		return 1;
	at = walk->described;
	if (at >= walk->record.count || at >= INTERP_FRAMES_MAX)
		return 1;
	walk->described = (__u32)at + 1;
	frame = &walk->record.frames[at];
	if (interp_word(walk->environments[at]) & RUBY_ENVIRONMENT_FINISH)
		frame->flags |= INTERP_FRAME_ENTRY;
	interp_ruby_copy(walk, frame->code);
	return 0;
}

#endif
