/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel is asked for during a walk: what return probes have replaced, and mappings that are new. */
#ifndef UNWIND_KERNEL_BPF_H
#define UNWIND_KERNEL_BPF_H

#include "unwind_maps.bpf.h"
#include "unwind_state.bpf.h"
#ifdef __bpf__
#include <bpf/bpf_core_read.h>
#include "compat_mappings.bpf.h"
#endif

#ifdef __bpf__
/* Global functions: the verifier looks at each only once. */
__u64 unwind_original(__u64 slot);
__u64 unwind_trampoline(void);

/* Return probes nest no deeper in the kernel. */
#define UNWIND_PROBES_MAX 64

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
 * What was at `slot`, an address of the stack, before a return probe replaced it, whoever set the probe; 0 if no
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

/* The mapping to find, and whether it maps a file. Stacks of functions in a chain of calls add up. */
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
 * overlay's. The backing-file flag's bit differs by kernel: try the overlay's inode and use it if its rows are loaded.
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

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return unwind_vma_by_tree(pc, &search);
	error = bpf_find_vma(bpf_get_current_task_btf(), pc, unwind_vma_see, &search, 0);
	if (error || !search.found)
		return error == -EBUSY ? -EBUSY : -ENOENT;
	return 0;
}
#else
/* The host's tests have their own. */
__u64 unwind_original(__u64 slot);
__u64 unwind_trampoline(void);
int unwind_vma_of(__u64 pc, struct unwind_vma *vma);
#endif

#endif
