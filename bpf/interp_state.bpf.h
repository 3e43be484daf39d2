/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all readers of interpreters' frames share: the state of a walk, its maps, and memory read in windows. The includer
 * brings the kernel's types and the helpers, so that the same code runs in tests on the host.
 */
#ifndef INTERP_STATE_BPF_H
#define INTERP_STATE_BPF_H

#include "interp_abi.h"

#define INTERP_WINDOW_WORDS 512
#define INTERP_WINDOW_BYTES (INTERP_WINDOW_WORDS * 8)

/* Where a thread's control block has the address of the vector of thread-local blocks. */
#if defined(__TARGET_ARCH_arm64)
#define INTERP_VECTOR 0
#else
#define INTERP_VECTOR 8
#endif

/* The processes that run an interpreter, by target_id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct interp_process);
} interp_processes SEC(".maps");

/* By content; user space removes what it needs no longer. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, struct interp_code);
} interp_codes SEC(".maps");

/*
 * What is known of code: `key` is the word by which frames find it, together with the interpreter's generation. It holds as
 * long as the count of ends for its object is the same.
 */
struct interp_memo {
	__u64 key; /* 0 = empty */
	__u64 content;
	__u64 object; /* what ends with the code: its first instruction (Ruby), the code object (Python) */
	__u32 ends;
	__u32 unused;
};

#define INTERP_MEMOS 512 /* a power of two */

#define INTERP_PAGE_SIZE 4096

#define INTERP_PLACES 65536
#define INTERP_COUNTS 4096

struct interp_ends {
	__u8 watched[INTERP_PLACES];
	__u32 counts[INTERP_COUNTS];
};

/* State of one walk. */
struct interp_walk {
	__u64 next; /* address of the frame to be read */
	__u64 end; /* Ruby: address behind the last frame */
	__u64 window_start; /* user address of window[0] */
	__u64 window_bytes; /* valid bytes of the window */
	__u64 hash;
	__u32 depth;
	__u32 described; /* frames that interp_describe_one is through with */
	__u64 new_code; /* content of what `code` is a copy of; 0 = it is known already */
	__u64 content, object; /* of the code that was looked at last, as in struct interp_memo */
	__u32 object_ends;
	__u32 incomplete; /* not all of that could be read */
	struct interp_process process; /* a copy, which stays the same during the walk */
	struct interp_record record;
	__u64 environments[INTERP_FRAMES_MAX]; /* Ruby: of the frames */
	struct interp_code code; /* that was looked at last */
	__u64 window[INTERP_WINDOW_WORDS];
	struct interp_memo memos[INTERP_MEMOS];
};

#ifdef __bpf__
#define INTERP_HIDE(value) asm volatile("" : "+r"(value))
#else
#define INTERP_HIDE(value) ((void)(value))
#endif

static __always_inline bool interp_read(void *to, __u32 size, __u64 address)
{
	return !bpf_probe_read_user(to, size, (void *)address);
}

static __always_inline __u64 interp_word(__u64 address)
{
	__u64 word = 0;

	return interp_read(&word, sizeof(word), address) ? word : 0;
}

/* Is all of [address, address + size) in the window? */
static __always_inline bool interp_has(const struct interp_walk *walk, __u64 address, __u64 size)
{
	__u64 offset = address - walk->window_start;

	return offset <= walk->window_bytes && size <= walk->window_bytes - offset;
}

/* Fill the window with at most `size` bytes from `start`. */
static __always_inline bool interp_fill(struct interp_walk *walk, __u64 start, __u64 size)
{
	if (size > INTERP_WINDOW_BYTES)
		size = INTERP_WINDOW_BYTES;
	INTERP_HIDE(size);
	walk->window_start = start;
	walk->window_bytes = 0;
	if (size > INTERP_WINDOW_BYTES || !interp_read(walk->window, (__u32)size, start))
		return false;
	walk->window_bytes = size;
	return true;
}

/* A word of the window; the caller knows that it is there. */
static __always_inline __u64 interp_at(const struct interp_walk *walk, __u64 address)
{
	__u64 word = (address - walk->window_start) >> 3;

	INTERP_HIDE(word);
	return walk->window[word & (INTERP_WINDOW_WORDS - 1)];
}

static __always_inline int interp_end(struct interp_walk *walk, enum interp_end end)
{
	walk->record.end = end;
	return 1;
}

/* Keep a frame. False if there is no room, or enough are kept. */
static __always_inline bool interp_push(struct interp_walk *walk, __u64 code, __u64 at,
					__u64 content, __u32 flags)
{
	__u32 count = walk->record.count;
	struct interp_frame *frame;

	if (count >= walk->depth || count >= INTERP_FRAMES_MAX)
		return false;
	frame = &walk->record.frames[count];
	frame->code = code;
	frame->at = at;
	frame->content = content;
	frame->flags = flags;
	frame->unused = 0;
	walk->record.count = count + 1;
	return true;
}

/*
 * Have a frame in the window, with what is below it in its page: there are the frames of callers that are on a stack of
 * the interpreter's own. What is below the page may not be there, and a read that fails is dear.
 */
static __always_inline bool interp_load_frame(struct interp_walk *walk, __u64 frame, __u32 size)
{
	__u64 start = frame & ~(__u64)(INTERP_PAGE_SIZE - 1);

	if (interp_has(walk, frame, size))
		return true;
	if (frame + size - start <= INTERP_WINDOW_BYTES)
		return interp_fill(walk, start, frame + size - start);
	return interp_fill(walk, frame, size);
}

static __always_inline __u64 interp_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* The interpreter's state of the current thread, which has this thread pointer; 0 = none. */
static __always_inline __u64 interp_find_state(const struct interp_process *process,
					       __u64 thread_pointer)
{
	__u64 state = 0, id;

	if (process->anchor_kind == INTERP_ANCHOR_PROCESS) {
		id = bpf_get_current_pid_tgid();
		return (__u32)id == id >> 32 ? process->anchor : 0;
	}
	if (process->anchor_kind == INTERP_ANCHOR_MODULE) {
		state = interp_word(thread_pointer + INTERP_VECTOR);
		state = interp_word(state + 16ULL * process->module);
		/* All ones: this thread has not used the module's variables yet. */
		thread_pointer = state;
		if (state + 1 <= 1)
			return 0;
	}
	state = interp_word(thread_pointer + process->anchor);
	return state && process->through ? interp_word(state + process->through) : state;
}

#endif
