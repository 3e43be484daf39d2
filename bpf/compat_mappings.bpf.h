/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For kernels before 5.17, which have no bpf_find_vma: their tree of mappings.
 */
#ifndef COMPAT_MAPPINGS_BPF_H
#define COMPAT_MAPPINGS_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Of the kernel's tree of mappings: 65,530 is the limit of a process's mappings. */
#define UNWIND_TREE_HEIGHT 34

__u64 unwind_area_of(__u64 pc);

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

#endif
