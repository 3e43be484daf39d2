/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call that begins is to one that is pending in the same thread: made by the allocator's own code, or by the program,
 * from a signal handler, from a function that the allocator has called, or on another stack. The former count nothing. A
 * pending call whose return never comes (longjmp, an exception, a lost return probe) is noticed here, too.
 */
#ifndef RELATION_BPF_H
#define RELATION_BPF_H

#include "thread_walk.bpf.h"

enum relation {
	CALL_IS_OVER = 0, /* the pending call has been left without a return */
	CALL_IS_SERVED, /* the allocator's own code makes the new call, on behalf of the pending one */
	CALL_IS_UNCLEAR, /* it seems so, but the stack cannot be walked for certain */
	CALL_IS_INTERRUPTED, /* the program makes the new call, before the pending one has returned */
	CALL_IS_SUSPENDED, /* the pending call is on another stack, and may go on there */
};

/* Frames examined between two calls, from the inner one out. */
#define RELATION_FRAMES 8

/* Where a return address leads to: the number of a file with functions that allocate or free, or one of these. */
#define RELATION_UNKNOWN 0
#define RELATION_PROGRAM (~0u) /* another file, or code made at run time */

int relation_file(struct unwind *walk, __u64 pc);
int relation_meets_program(struct unwind *walk, __u32 maps);
int relation_of_areas(__u64 one, __u64 other);
int relation_to_call(__u64 ip, __u64 sp, __u64 bp, __u64 lr, __u64 at);

static __always_inline __u32 relation_file_of(__u32 pages, __u32 page_count)
{
	/* Files without rows are not in the map. */
	if (!page_count)
		return RELATION_UNKNOWN;
	return bpf_map_lookup_elem(&allocator_files, &pages) ? pages + 1 : RELATION_PROGRAM;
}

/* The same for a mapping that user space has not published yet. */
static __always_inline __u32 relation_file_new(struct unwind *walk, __u64 pc)
{
	struct unwind_file_rows *file = NULL;

	if (unwind_find_new(walk, pc)) {
		struct unwind_file_key key = walk->vma.file;

		file = bpf_map_lookup_elem(&unwind_files, &key);
	}
	return file ? relation_file_of(file->pages, file->page_count) : RELATION_UNKNOWN;
}

/* The same by the table of mappings that is in use at the walk's generation. */
static __always_inline __u32 relation_file_in(struct unwind *walk,
					      const struct unwind_mappings *table, __u64 pc)
{
	__u64 at = unwind_search_mappings(table, pc);
	const struct unwind_mapping *mapping;

	HIDE(at);
	at &= UNWIND_MAPPINGS_MAX - 1;
	mapping = &table->mappings[at];
	if (table->starts[at] > pc || pc >= mapping->end)
		return relation_file_new(walk, pc);
	if (mapping->flags & UNWIND_MAPPING_ANONYMOUS)
		return RELATION_PROGRAM;
	return relation_file_of(mapping->pages, mapping->page_count);
}

__noinline int relation_file(struct unwind *walk, __u64 pc)
{
	struct unwind_mappings *table;
	__u32 *generation, process, file;
	int i;

	if (!walk || pc >> UNWIND_ADDRESS_BITS)
		return RELATION_UNKNOWN;
	process = walk->process;
	for (i = 0; i < UNWIND_FIND_TRIES; i++) {
		table = unwind_table(walk);
		generation = bpf_map_lookup_elem(&unwind_generations, &process);
		if (!table || !generation)
			break;
		file = relation_file_in(walk, table, pc);
		if (unwind_is_current(walk, generation))
			return file;
	}
	return RELATION_UNKNOWN;
}

/* Is what is before a return address a call through a pointer? */
static __always_inline bool relation_calls_pointer(__u64 returns_to)
{
	__u64 code = thread_read_word(returns_to - 8);

#if defined(__TARGET_ARCH_arm64)
	return code >> 58 != 0x25; /* bl */
#else
	if ((code >> 48 & 0xf8ff) == 0xd0ff) /* call *%register */
		return true;
	return (code >> 24 & 0xff) != 0xe8; /* call with a distance */
#endif
}

/*
 * Has the walk from one call to another one met code that is not the allocator's? A program may have its allocator in its own
 * file: there a function is taken for the program's that is called through a pointer and uses the heap. Allocators call
 * functions of their own through pointers, too, but only those that make mappings.
 */
__noinline int relation_meets_program(struct unwind *walk, __u32 maps)
{
	__u32 file = RELATION_UNKNOWN, last;
	__u64 i;

	for (i = 1; i < RELATION_FRAMES; i++) {
		if (!walk || i >= walk->record.count)
			break;
		last = file;
		file = relation_file(walk, walk->record.pcs[i] - 1);
		if (file == RELATION_PROGRAM)
			return true;
		if (!maps && i > 1 && file && file == last &&
		    relation_calls_pointer(walk->record.pcs[i]))
			return true;
	}
	return false;
}

#ifdef __bpf__
/* A number that no mapping has: where one begins is aligned. */
#define FIRST_STACK 1
/* Mappings begin by less than this below the first stack, by a random distance; where they grow upwards, by more. */
#define FIRST_STACK_MAX (1ULL << 45)

struct relation_area {
	__u64 start; /* of the mapping; 0 = it is not known */
};

static __attribute__((unused)) long relation_see_area(struct task_struct *task,
						      struct vm_area_struct *area,
						      struct relation_area *found)
{
	(void)task;
	found->start = BPF_CORE_READ(area, vm_start);
	return 0;
}

/*
 * Is an address on the process's first stack? The kernel maps nothing else between that and where mappings begin, if these grow
 * towards lower addresses. This needs no lock.
 */
static __always_inline bool relation_on_first_stack(__u64 address)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 base = BPF_CORE_READ(task, mm, mmap_base);
	__u64 room = BPF_CORE_READ(task, mm, start_stack) - base;

	return room < FIRST_STACK_MAX && address - base < room;
}

/* The mapping of an address, by a number; 0 = it cannot be found out now, since somebody changes the process's mappings. */
static __always_inline __u64 relation_area_of(__u64 address)
{
	struct relation_area found = { 0 };

	if (relation_on_first_stack(address))
		return FIRST_STACK;
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return unwind_area_of(address);
	bpf_find_vma(bpf_get_current_task_btf(), address, relation_see_area, &found, 0);
	return found.start;
}
#endif

/* Are two addresses in one mapping? */
enum areas {
	AREAS_UNKNOWN = 0, /* the kernel cannot be asked now */
	AREAS_SAME,
	AREAS_OTHER,
};

__noinline int relation_of_areas(__u64 one, __u64 other)
{
	__u64 first = relation_area_of(one), second = relation_area_of(other);

	if (!first || !second)
		return AREAS_UNKNOWN;
	return first == second ? AREAS_SAME : AREAS_OTHER;
}

/*
 * A new call at stack pointer `at`, whose stack, walked to its end, does not lead to the pending one: has that been left, or
 * is it on another stack? What is on an alternate signal stack has been left with its handler, and so has a call whose
 * return the kernel awaits no longer. Other stacks are mappings of their own. Within one mapping, where they begin
 * separates stacks side by side from a part of the same stack that was left: for that, the pending call's stack must lead
 * to a function that is known to be the outermost one. It decides also while another thread changes the mappings, and
 * the kernel cannot be asked for them.
 */
static __always_inline enum relation relation_to_other_stack(struct thread *thread, __u64 at)
{
	__u64 returns_to = thread->call.returns_to, here;
	struct unwind *walk = &thread->walk;
	struct unwind_from *from = &thread->from;
	enum areas areas;

	if (!returns_to)
		returns_to = unwind_original(thread->call.sp);
	if (!returns_to || thread_on_signal_stack(thread->call.sp))
		return CALL_IS_OVER;
	areas = relation_of_areas(at, thread->call.sp);
	if (areas == AREAS_OTHER)
		return CALL_IS_SUSPENDED;
	here = walk->sp;
	from->ip = returns_to;
	from->sp = thread->call.sp + RETURN_POPS;
	from->bp = thread->call.caller_bp;
	from->flags = 0;
	unwind_start(walk, from);
	thread_walk(thread, 0);
	if (walk->record.end != UNWIND_END_ROOT || walk->flags & (UNWIND_GUESSED | UNWIND_ZERO))
		return areas == AREAS_SAME ? CALL_IS_OVER : CALL_IS_SUSPENDED;
	return walk->sp == here ? CALL_IS_OVER : CALL_IS_SUSPENDED;
}

/* By the stack pointer alone. */
static __always_inline enum relation relation_by_sp(const struct thread *thread, __u64 at)
{
	bool on_signal_stack = thread_on_signal_stack(at);

	if (on_signal_stack && !thread_on_signal_stack(thread->call.sp))
		return CALL_IS_INTERRUPTED;
	return at < thread->call.sp || on_signal_stack ? CALL_IS_SERVED : CALL_IS_OVER;
}

/*
 * By a walk from the new call out. Where the recorded call's return address was in a register,
 * another call may have left its frame at the same place: this is no end. If the return address is
 * no longer where it was, the code that a return probe returns to may have pushed a register there:
 * then a signal handler makes the new call before the kernel has seen the return.
 */
static __always_inline enum relation relation_by_walk(struct thread *thread, __u64 at,
						      __u64 returns_to, bool overwritten)
{
	struct unwind *walk = &thread->walk;
	enum relation by_sp = relation_by_sp(thread, at);
	bool met;

	unwind_start(walk, &thread->from);
	if (walk->flags & UNWIND_BY_BP)
		return overwritten ? CALL_IS_OVER : by_sp;
	met = thread_walk(thread, thread->call.sp + RETURN_POPS);
	if (overwritten)
		return met && walk->flags & UNWIND_RETURNING ? CALL_IS_INTERRUPTED : CALL_IS_OVER;
	if (met && (RETURN_POPS || walk->ip == returns_to)) {
		if (walk->flags & UNWIND_SIGNAL)
			return CALL_IS_INTERRUPTED;
		/* What a function that was named on the command line calls is its business. */
		if (thread->call.shape & SHAPE_NAMED)
			return CALL_IS_SERVED;
		return relation_meets_program(walk, thread->maps) ? CALL_IS_INTERRUPTED
								  : CALL_IS_SERVED;
	}
	if (!(walk->flags & UNWIND_GUESSED) &&
	    (walk->record.end == UNWIND_END_ROOT || walk->record.end == UNWIND_END_DEPTH))
		return relation_to_other_stack(thread, at);
	if (by_sp != CALL_IS_INTERRUPTED && relation_of_areas(at, thread->call.sp) == AREAS_OTHER)
		return CALL_IS_SUSPENDED;
	if (by_sp != CALL_IS_SERVED)
		return by_sp;
	if (walk->flags & UNWIND_SIGNAL)
		return CALL_IS_INTERRUPTED;
	/* Allocators without unwind tables make mappings, too. */
	return thread->maps ? CALL_IS_SERVED : CALL_IS_UNCLEAR;
}

/*
 * What the thread's pending call is to another one that begins (enum relation), whose return
 * address is at `at`, with these registers now. It may be pending if its return address is still
 * hijacked by a return probe, or be what it was if there is none (another tool may have one): a
 * longjmp leaves the frame, and the next calls write over that word, or at least their stacks do
 * not lead there. At the very same stack pointer a function has jumped to another one instead of
 * calling it.
 */
__noinline int relation_to_call(__u64 ip, __u64 sp, __u64 bp, __u64 lr, __u64 at)
{
	struct thread *thread = thread_find();
	__u64 returns_to, trampoline, address;
	bool overwritten = false;

	if (!thread || !thread->call.sp || thread->call.exec_id != current_exec_id())
		return CALL_IS_OVER;
	returns_to = thread->call.returns_to;
	trampoline = unwind_trampoline();
	if (!returns_to && !trampoline)
		return at < thread->call.sp ? CALL_IS_SERVED : CALL_IS_OVER;
	if (RETURN_POPS || at == thread->call.sp) {
		address = RETURN_POPS ? thread_read_word(thread->call.sp)
				      : UNWIND_WITHOUT_SIGNATURE(lr);
		overwritten = !address || (address != returns_to && address != trampoline);
	}
	if (overwritten &&
	    (!RETURN_POPS || !trampoline || !setting_unwind || at == thread->call.sp))
		return CALL_IS_OVER;
	if (at == thread->call.sp)
		return CALL_IS_SERVED;
	if (!setting_unwind)
		return relation_by_sp(thread, at);
	thread->from.ip = ip;
	thread->from.sp = sp;
	thread->from.bp = bp;
	thread->from.lr = lr;
	thread->from.target_id = SHAPE_TARGET(thread->call.shape);
	thread->from.exec_id = thread->call.exec_id;
	thread->from.depth = STACK_FRAMES_MAX;
	thread->from.flags = UNWIND_EXACT;
	return relation_by_walk(thread, at, returns_to ? returns_to : trampoline, overwritten);
}

/* The same at the registers of a probe. */
static __always_inline enum relation relation_at(struct pt_regs *ctx, __u64 at)
{
	return relation_to_call(PT_REGS_IP(ctx), PT_REGS_SP(ctx), PT_REGS_FP(ctx),
				RETURN_REGISTER(ctx), at);
}

#endif
