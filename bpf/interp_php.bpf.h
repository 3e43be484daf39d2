/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PHP's calls: a list from the innermost one to its callers, which mostly are one above the other on a stack of their
 * own. What ends code is not seen, since PHP has an allocator of its own, so nothing is remembered by address: the content
 * of a function is made of the hashes that PHP keeps with its strings, and a frame has a line.
 */
#ifndef INTERP_PHP_BPF_H
#define INTERP_PHP_BPF_H

#include "interp_code.bpf.h"

int interp_php_step(struct interp_walk *walk);
int interp_php_copy(struct interp_walk *walk, __u64 function);

/* Begin with the executor's globals. False if there is nothing to be read. */
static __always_inline bool interp_php_start(struct interp_walk *walk, __u64 globals)
{
	__u64 at = globals + walk->process.php.current;

	if (!interp_read(&walk->next, sizeof(walk->next), at)) {
		interp_end(walk, INTERP_END_UNREADABLE);
		return false;
	}
	return true;
}

/* A string counts as content: its hash and length, or its address while PHP has not computed the hash. */
static __always_inline void interp_php_mix_string(struct interp_walk *walk, __u64 string)
{
	__u64 words[2] = { 0 }; /* hash, length */

	if (string && !interp_read(words, sizeof(words), string + PHP_STRING_HASH))
		walk->incomplete = 1;
	walk->content =
		interp_mix(interp_mix(walk->content, words[0] ? words[0] : string), words[1]);
}

/* How a function begins. */
struct interp_php_function {
	__u64 head; /* kind in the first byte */
	__u64 name, class;
};

/* All 0 where it cannot be read. */
static __always_inline void interp_php_read(struct interp_php_function *to, __u64 function)
{
	if (!interp_read(to, sizeof(*to), function))
		to->head = to->name = to->class = 0;
}

static __always_inline bool interp_php_is_internal(const struct interp_php_function *from)
{
	return (from->head & 0xff) == PHP_INTERNAL_FUNCTION;
}

/* Find out the content of the function at `function`. */
static __always_inline void interp_php_content(struct interp_walk *walk, __u64 function,
					       const struct interp_php_function *from)
{
	walk->incomplete = !from->head;
	walk->content = interp_mix(walk->process.seed, from->head & 0xff);
	interp_php_mix_string(walk, from->name);
	interp_php_mix_string(walk, from->class ? interp_word(from->class + PHP_CLASS_NAME) : 0);
	if (!interp_php_is_internal(from))
		interp_php_mix_string(walk, interp_word(function + walk->process.php.filename));
	if (walk->incomplete)
		walk->content = 0;
}

/* Copy what names a function, and find out its content. */
__noinline int interp_php_copy(struct interp_walk *walk, __u64 function)
{
	struct interp_php_function from;

	if (!walk)
		return 0;
	interp_php_read(&from, function);
	interp_forget_parts(walk);
	interp_copy(walk, INTERP_PART_CODE, function);
	interp_copy(walk, INTERP_PART_NAME, from.name);
	interp_copy(walk, INTERP_PART_CLASS, from.class);
	interp_copy(walk, INTERP_PART_CLASS_NAME,
		    interp_copied(walk, INTERP_PART_CLASS, PHP_CLASS_NAME));
	if (!interp_php_is_internal(&from))
		interp_copy(walk, INTERP_PART_FILENAME,
			    interp_copied(walk, INTERP_PART_CODE, walk->process.php.filename));
	interp_php_content(walk, function, &from);
	return 0;
}

/* Frames are complete when they are read. */
static __always_inline void interp_php_complete(struct interp_walk *walk, __u64 at)
{
	(void)walk;
	(void)at;
}

/* Keep a call of a function. Returns 1 when the walk is over. */
static __always_inline int interp_php_keep(struct interp_walk *walk, __u64 function, __u64 op,
					   __u32 info)
{
	struct interp_php_function from;
	__u64 at = 0;
	__u32 flags = 0;

	interp_php_read(&from, function);
	/* Fibers begin with a function of no name. */
	if (interp_php_is_internal(&from) && !from.name)
		return 0;
	if (!interp_php_is_internal(&from)) {
		flags = info & PHP_CALL_TOP ? INTERP_FRAME_ENTRY : 0;
		at = (__u32)interp_word(op + PHP_OP_LINE) | (__u64)flags << 32;
	}
	interp_php_content(walk, function, &from);
	if (!interp_push(walk, function, at, walk->content, flags))
		return interp_end(walk, INTERP_END_DEPTH);
	walk->hash =
		interp_mix(interp_mix(walk->hash, walk->content ? walk->content : function), at);
	return 0;
}

/* Read one call. Returns 1 when the walk is over. */
__noinline int interp_php_step(struct interp_walk *walk)
{
	__u64 frame, function;

	if (!walk)
		return 1;
	frame = walk->next;
	if (!frame)
		return interp_end(walk, INTERP_END_ROOT);
	if (frame & 7 || !interp_load_frame(walk, frame, PHP_FRAME_BYTES))
		return interp_end(walk, INTERP_END_UNREADABLE);
	walk->next = interp_at(walk, frame + PHP_FRAME_PREVIOUS);
	function = interp_at(walk, frame + PHP_FRAME_FUNCTION);
	/* Without a function it only marks where PHP was called from, or a generator. */
	if (!function)
		return 0;
	return interp_php_keep(walk, function, interp_at(walk, frame + PHP_FRAME_OPLINE),
			       (__u32)interp_at(walk, frame + PHP_FRAME_INFO));
}

#endif
