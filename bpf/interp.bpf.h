/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the frames of the interpreter that runs in the current thread.
 *
 * Entry points: interp_walk_stack() reads the frames and their hash, at every event; interp_describe_one() adds what is
 * only wanted of a stack that was not seen before, one frame at a time. The includer brings the kernel's types and the helpers, so that the
 * same code runs in tests on the host.
 *
 * As in unwind.bpf.h: state in map memory, steps as global functions, and memory read in windows.
 */
#ifndef INTERP_BPF_H
#define INTERP_BPF_H

#include "interp_abi.h"

#define INTERP_WINDOW_WORDS 512
#define INTERP_WINDOW_BYTES (INTERP_WINDOW_WORDS * 8)

/* Where a thread's control block has the address of the vector of thread-local blocks. */
#if defined(__TARGET_ARCH_arm64)
#define INTERP_VECTOR 0
#else
#define INTERP_VECTOR 8
#endif

/*
 * Frames that are looked at: the square of this; some are not kept. Two loops, one in the other, are less to verify than
 * one.
 */
#define INTERP_TURNS 23

/* The processes that run an interpreter, by the owner that their blocks have. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct interp_process);
} interp_processes SEC(".maps");

/* By content; the loader removes what it needs no longer. */
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
	__u64 object; /* Ruby: the first instruction. Python: the code object */
	__u32 ends;
	__u32 unused;
};

#define INTERP_MEMOS 512 /* a power of two */

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

/* The interpreter's state of the thread with this thread pointer; 0 = none. */
static __always_inline __u64 interp_state(const struct interp_process *process,
					  __u64 thread_pointer)
{
	__u64 state = 0;

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

#include "interp_code.bpf.h"
#include "interp_ruby.bpf.h"
#include "interp_python.bpf.h"

#ifdef __bpf__
#if defined(__TARGET_ARCH_arm64)
#define INTERP_THREAD_POINTER uw.tp_value
struct thread_struct___interp {
	struct {
		unsigned long tp_value;
	} uw;
} __attribute__((preserve_access_index));
#else
#define INTERP_THREAD_POINTER fsbase
struct thread_struct___interp {
	unsigned long fsbase;
} __attribute__((preserve_access_index));
#endif

struct task_struct___interp {
	struct thread_struct___interp thread;
} __attribute__((preserve_access_index));

/*
 * What thread-local addresses of the current thread are counted from, as it was when the thread was last taken from a CPU:
 * programs set the register by themselves, but only once.
 */
static __always_inline __u64 interp_thread_pointer(void)
{
	struct task_struct___interp *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread.INTERP_THREAD_POINTER);
}
#endif

/* Begin with the current thread, which has this thread pointer. False if there are no frames to be read. */
static __always_inline bool interp_walk_begin(struct interp_walk *walk,
					      const struct interp_process *process,
					      __u64 thread_pointer, __u32 depth)
{
	__u64 state = interp_state(process, thread_pointer);

	walk->record.kind = INTERP_NONE;
	walk->record.count = 0;
	walk->record.end = INTERP_END_ROOT;
	walk->record.unused = 0;
	walk->hash = process->seed;
	if (!state)
		return false;
	walk->window_start = 0;
	walk->window_bytes = 0;
	walk->process = *process;
	walk->depth = depth;
	walk->described = 0;
	walk->record.kind = process->kind;
	/* A walk that finds no end in all its turns was cut. */
	walk->record.end = INTERP_END_DEPTH;
	if (walk->record.kind == INTERP_RUBY)
		return interp_ruby_start(walk, state);
	return interp_python_start(walk, state);
}

/* Returns 1 when the walk is over. */
static __always_inline int interp_walk_step(struct interp_walk *walk)
{
	if (walk->record.kind == INTERP_RUBY)
		return interp_ruby_step(walk);
	return interp_python_step(walk);
}

/* Some steps. Returns 1 when the walk is over. */
int interp_some_steps(struct interp_walk *walk);

__noinline int interp_some_steps(struct interp_walk *walk)
{
	__u32 turn;

	for (turn = 0; walk && turn < INTERP_TURNS; turn++)
		if (interp_walk_step(walk))
			return 1;
	return 0;
}

static __always_inline void interp_walk_finish(struct interp_walk *walk)
{
	if (!walk->record.count)
		walk->hash = 0;
	else if (!walk->hash)
		walk->hash = 1;
}

/*
 * Read the frames of the current thread, innermost first, at most `depth` of them. Leaves them in `walk->record`, and
 * in `walk->hash` their hash, which tells two stacks apart that differ in a frame or in the place in it; 0 without a
 * frame. The loop is a plain one, since bpf_loop is younger than the kernels that this has to run on.
 */
static __always_inline void interp_walk_stack(struct interp_walk *walk,
					      const struct interp_process *process,
					      __u64 thread_pointer, __u32 depth)
{
	bool more = interp_walk_begin(walk, process, thread_pointer, depth);
	__u32 turn;

	for (turn = 0; more && turn < INTERP_TURNS; turn++)
		if (interp_some_steps(walk))
			break;
	interp_walk_finish(walk);
}

/*
 * Complete one frame, and copy what names its code, unless there is a copy: the loader is to get it. Returns 0 when there
 * is no other frame.
 */
int interp_describe_code(struct interp_walk *walk);

__noinline int interp_describe_code(struct interp_walk *walk)
{
	__u64 at, content;

	if (!walk)
		return 0;
	at = walk->described;
	if (at >= walk->record.count || at >= INTERP_FRAMES_MAX)
		return 0;
	walk->described = (__u32)at + 1;
	if (walk->record.kind == INTERP_RUBY)
		interp_ruby_mark(walk, at);
	content = walk->record.frames[at].content;
	if (!content || bpf_map_lookup_elem(&interp_codes, &content))
		return 1;
	if (walk->record.kind == INTERP_RUBY)
		interp_ruby_copy(walk, walk->record.frames[at].code);
	else
		interp_python_copy(walk, walk->record.frames[at].code);
	if (walk->content == content)
		walk->new_code = content;
	return 1;
}

/*
 * Complete the next frame of a stack that was not seen before: it gets a copy of what names it, and Ruby's also its
 * INTERP_FRAME_ENTRY, which Python's have already. False if there is no other frame. Older kernels take values for maps
 * from here, and not from global functions.
 */
static __always_inline bool interp_describe_one(struct interp_walk *walk)
{
	__u64 content;

	walk->new_code = 0;
	if (!interp_describe_code(walk))
		return false;
	content = walk->new_code;
	if (content)
		bpf_map_update_elem(&interp_codes, &content, &walk->code, BPF_ANY);
	return true;
}

#endif
