/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a walk reads the stack, and what a return probe put there in place of a return address. A part of
 * unwind.bpf.h.
 */
#ifndef UNWIND_MEMORY_BPF_H
#define UNWIND_MEMORY_BPF_H

/* The first window is a multiple of this. */
#define UNWIND_WINDOW_GRAIN 256

/* Return probes nest no deeper in the kernel. */
#define UNWIND_PROBES_MAX 64

static __always_inline bool unwind_copy(void *to, __u64 bytes, __u64 from)
{
	return !bpf_probe_read_user(to, (__u32)bytes, (void *)from);
}

/* How much of the stack to have in the first window: as much as the thread's last walk needed. */
static __always_inline __u64 unwind_first_bytes(const struct unwind *walk)
{
	__u64 bytes = (walk->extent + UNWIND_WINDOW_GRAIN - 1) & ~(UNWIND_WINDOW_GRAIN - 1ULL);

	UNWIND_HIDE(bytes);
	if (bytes > UNWIND_WINDOW_BYTES || bytes < UNWIND_WINDOW_GRAIN)
		return UNWIND_WINDOW_BYTES;
	return bytes;
}

/* Fill the window from `start`; near the end of the stack, only to the end of its page. */
static __always_inline bool unwind_fill(struct unwind *walk, __u64 start)
{
	__u32 rest = UNWIND_PAGE_SIZE - (__u32)(start & (UNWIND_PAGE_SIZE - 1));
	__u64 bytes = walk->window_start ? UNWIND_WINDOW_BYTES : unwind_first_bytes(walk);

	walk->window_start = start;
	walk->window_bytes = bytes;
	if (unwind_copy(walk->window, bytes, start))
		return true;
	walk->window_bytes = rest;
	if (unwind_copy(walk->window, rest, start))
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
static __always_inline bool unwind_read(struct unwind *walk, __u64 address, __u64 *ret_word)
{
	__u64 offset = address - walk->window_start;

	if (offset >= walk->window_bytes) {
		if (address & 7 || address < walk->window_start)
			return unwind_copy(ret_word, sizeof(*ret_word), address);
		if (!unwind_fill(walk, unwind_window_for(walk, address)))
			return false;
		offset = address - walk->window_start;
		/* The window starts below and may have ended with its page. */
		if (offset >= walk->window_bytes)
			return unwind_copy(ret_word, sizeof(*ret_word), address);
	}
	if (offset & 7)
		return unwind_copy(ret_word, sizeof(*ret_word), address);
	offset >>= 3;
	UNWIND_HIDE(offset);
	*ret_word = walk->window[offset & (UNWIND_WINDOW_WORDS - 1)];
	return true;
}

/* A word of the window. False if it is not there. */
static __always_inline bool unwind_peek(const struct unwind *walk, __u64 address, __u64 *ret_word)
{
	__u64 word = address - walk->window_start;

	if (word >= walk->window_bytes || word & 7)
		return false;
	word >>= 3;
	UNWIND_HIDE(word);
	*ret_word = walk->window[word & (UNWIND_WINDOW_WORDS - 1)];
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

/*
 * What a pending return probe puts over a return address in this process, as UNWIND_WITHOUT_SIGNATURE leaves it: arm64 has
 * it above all other addresses. 0 = none has been set yet.
 */
__noinline __u64 unwind_trampoline(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (!bpf_core_type_exists(struct xol_area))
		return 0;
	return UNWIND_WITHOUT_SIGNATURE(BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr));
}

/* The mapping that is being looked for, and whether it maps a file. Stacks of functions in a chain of calls add up. */
struct unwind_vma_search {
	struct unwind_vma *vma;
	__u64 found;
	struct unwind_file_key upper; /* of the overlay that the file may belong to */
};

static __always_inline struct unwind_file_key unwind_file_key_of(struct inode *inode)
{
	return (struct unwind_file_key){ .device = BPF_CORE_READ(inode, i_sb, s_dev),
					 .inode = BPF_CORE_READ(inode, i_ino) };
}

/*
 * What is mapped of an overlay's file is the file below it. Since Linux 6.8 /proc/PID/maps and the records of mappings name the
 * overlay's. Whether there is one is told by a flag whose bit is not the same in all kernels, so it is looked whether the
 * file that there may be is known.
 */
static __always_inline void unwind_name_by_overlay(struct file *file,
						   struct unwind_vma_search *search)
{
	struct backing_file *backing = (struct backing_file *)file;
	struct unwind_file_key *key = &search->vma->file;

	if (!bpf_core_field_exists(backing->user_path) || bpf_map_lookup_elem(&unwind_files, key))
		return;
	search->upper = unwind_file_key_of(BPF_CORE_READ(backing, user_path.dentry, d_inode));
	if (bpf_map_lookup_elem(&unwind_files, &search->upper))
		*key = search->upper;
}

static __attribute__((unused)) long unwind_vma_see(struct task_struct *task,
						   struct vm_area_struct *area,
						   struct unwind_vma_search *search)
{
	struct file *file = BPF_CORE_READ(area, vm_file);
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	(void)task;
	if (!inode)
		return 0;
	search->vma->start = BPF_CORE_READ(area, vm_start);
	search->vma->end = BPF_CORE_READ(area, vm_end);
	search->vma->offset = BPF_CORE_READ(area, vm_pgoff) * UNWIND_PAGE_SIZE;
	search->vma->file = unwind_file_key_of(inode);
	unwind_name_by_overlay(file, search);
	search->found = 1;
	return 0;
}

/* Kernels without that helper have a tree of mappings, whose fields may be of other kernels' other trees. */
struct rb_node___unwind {
	struct rb_node___unwind *rb_left, *rb_right;
} __attribute__((preserve_access_index));

struct rb_root___unwind {
	struct rb_node___unwind *rb_node;
} __attribute__((preserve_access_index));

struct mm_struct___unwind {
	struct rb_root___unwind mm_rb;
} __attribute__((preserve_access_index));

struct vm_area_struct___unwind {
	struct rb_node___unwind vm_rb;
} __attribute__((preserve_access_index));

struct task_struct___tree {
	struct mm_struct___unwind *mm;
} __attribute__((preserve_access_index));

/*
 * The kernel's address of the mapping that holds a pc; 0 = there is none. The tree is not locked and may be changing:
 * then nothing is found, or a mapping that has just ended.
 */
__noinline __u64 unwind_area_of(__u64 pc)
{
	struct task_struct___tree *task = (void *)bpf_get_current_task();
	struct vm_area_struct *area;
	struct rb_node___unwind *node;
	int i;

	if (!bpf_core_field_exists(struct mm_struct___unwind, mm_rb) ||
	    !bpf_core_field_exists(struct vm_area_struct___unwind, vm_rb))
		return 0;
	node = BPF_CORE_READ(task, mm, mm_rb.rb_node);
	for (i = 0; i < UNWIND_TREE_HEIGHT && node; i++) {
		area = (void *)node - bpf_core_field_offset(struct vm_area_struct___unwind, vm_rb);
		if (pc >= BPF_CORE_READ(area, vm_end))
			node = BPF_CORE_READ(node, rb_right);
		else if (pc < BPF_CORE_READ(area, vm_start))
			node = BPF_CORE_READ(node, rb_left);
		else
			return (__u64)area;
	}
	return 0;
}

static __always_inline int unwind_vma_by_tree(__u64 pc, struct unwind_vma_search *search)
{
	struct vm_area_struct *area = (void *)unwind_area_of(pc);

	if (area)
		unwind_vma_see(NULL, area, search);
	return search->found ? 0 : -ENOENT;
}

/* The mapping of a file that holds a pc. Returns 0; -EBUSY: the mappings are being changed; -ENOENT: there is none. */
static __always_inline int unwind_vma_of(__u64 pc, struct unwind_vma *vma)
{
	struct unwind_vma_search search = { .vma = vma };
	long error;

	if (!setting_functions || !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return unwind_vma_by_tree(pc, &search);
	error = bpf_find_vma(bpf_get_current_task_btf(), pc, unwind_vma_see, &search, 0);
	if (error || !search.found)
		return error == -EBUSY ? -EBUSY : -ENOENT;
	return 0;
}
#endif

#endif
