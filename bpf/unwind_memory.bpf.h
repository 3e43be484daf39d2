/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a walk reads the stack, and what a return probe put there in place of a return address. A part of
 * unwind.bpf.h.
 */
#ifndef UNWIND_MEMORY_BPF_H
#define UNWIND_MEMORY_BPF_H

/* Return probes nest no deeper in the kernel. */
#define UNWIND_PROBES_MAX 64

/* `sleepable` is known at compile time: other programs may not even contain the call. */
static __always_inline bool unwind_copy(void *to, __u32 bytes, __u64 from, bool sleepable)
{
	if (!bpf_probe_read_user(to, bytes, (void *)from))
		return true;
	return sleepable && !bpf_copy_from_user(to, bytes, (void *)from);
}

/* Fill the window from `start`; near the end of the stack, only to the end of its page. */
static __always_inline bool unwind_fill(struct unwind *walk, __u64 start, bool sleepable)
{
	__u32 rest = UNWIND_PAGE_SIZE - (__u32)(start & (UNWIND_PAGE_SIZE - 1));

	walk->window_start = start;
	walk->window_bytes = UNWIND_WINDOW_BYTES;
	if (!bpf_probe_read_user(walk->window, UNWIND_WINDOW_BYTES, (void *)start))
		return true;
	walk->window_bytes = rest;
	if (unwind_copy(walk->window, rest, start, sleepable))
		return true;
	walk->window_bytes = 0;
	return false;
}

/* The address at which a new window for `address` starts: a little below, but in the stack. */
static __always_inline __u64 unwind_window_for(const struct unwind *walk, __u64 address)
{
	__u64 start = address - UNWIND_WINDOW_LEAD;
	__u64 lowest = walk->sp & ~7ULL;

	if (address < lowest || address - lowest > UNWIND_WINDOW_LEAD)
		return address < lowest ? address : start;
	return lowest;
}

/* One word of the stack. Frames lie ever higher, so what is below the window is read alone. */
static __always_inline bool unwind_read(struct unwind *walk, __u64 address, __u64 *ret_word,
					bool sleepable)
{
	__u64 offset = address - walk->window_start;

	if (offset >= walk->window_bytes) {
		if (address & 7 || address < walk->window_start)
			return unwind_copy(ret_word, sizeof(*ret_word), address, sleepable);
		if (!unwind_fill(walk, unwind_window_for(walk, address), sleepable))
			return false;
		offset = address - walk->window_start;
		/* The window starts below and may have ended with its page. */
		if (offset >= walk->window_bytes)
			return unwind_copy(ret_word, sizeof(*ret_word), address, sleepable);
	}
	if (offset & 7)
		return unwind_copy(ret_word, sizeof(*ret_word), address, sleepable);
	offset >>= 3;
	UNWIND_HIDE(offset);
	*ret_word = walk->window[offset & (UNWIND_WINDOW_WORDS - 1)];
	return true;
}

#ifdef __bpf__
/* The kernel's names of the fields; libbpf finds where they are in the running kernel. */
struct return_instance___unwind {
	unsigned long stack; /* where the return address was replaced */
	unsigned long orig_ret_vaddr;
	struct return_instance___unwind *next;
} __attribute__((preserve_access_index));

struct uprobe_task___unwind {
	struct return_instance___unwind *return_instances;
} __attribute__((preserve_access_index));

struct task_struct___unwind {
	struct uprobe_task___unwind *utask;
} __attribute__((preserve_access_index));

/*
 * What stood at `slot`, an address of the stack, before a return probe replaced it, whoever set the probe; 0 if no
 * pending return probe did.
 */
__noinline __u64 unwind_original(__u64 slot)
{
	struct task_struct___unwind *task = (void *)bpf_get_current_task();
	struct return_instance___unwind *probe = NULL;
	int i;

	if (!bpf_core_field_exists(probe->stack) || !bpf_core_field_exists(probe->orig_ret_vaddr))
		return 0;
	probe = BPF_CORE_READ(task, utask, return_instances);
	for (i = 0; i < UNWIND_PROBES_MAX && probe; i++) {
		if (BPF_CORE_READ(probe, stack) == slot)
			return BPF_CORE_READ(probe, orig_ret_vaddr);
		probe = BPF_CORE_READ(probe, next);
	}
	return 0;
}
#endif

#endif
