/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel types and constants that the BPF programs use. Offsets of kernel structures are relocated
 * at load time (CO-RE), so only the fields that are read are here. Constants are from the kernel's
 * <linux/bpf.h>, whose values never change.
 */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

/* Makes bpf_tracing.h use the kernel's register names. */
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

/* For bpf_core_enum_value_exists: which helpers the running kernel has. */
enum bpf_func_id {
	BPF_FUNC_get_current_task_btf = 158,
	BPF_FUNC_find_vma = 180,
};

/* Of a process, as a pid namespace numbers it. */
struct bpf_pidns_info {
	__u32 pid, tgid;
};

#define ENOENT 2
#define EEXIST 17
#define EBUSY 16
#define E2BIG 7

#define MAP_FIXED 0x10

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
/* Where the kernel puts the code that its probes need in a process. */
struct xol_area {
	unsigned long vaddr;
};
struct uprobes_state {
	struct xol_area *xol_area;
};
typedef struct {
	int counter;
} atomic_t;
struct mm_struct {
	/* Threads that have this memory, of whatever process, and who looks at it right now. */
	atomic_t mm_users;
	unsigned long mmap_base; /* where mappings begin */
	unsigned long start_stack;
	struct uprobes_state uprobes_state;
};
struct pid_namespace;
/* A number of a thread, and the pid namespace that has it. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level; /* of the namespace that the thread is in; the first one is 0 */
	struct upid numbers[1]; /* one for each level up to that */
};
struct task_struct {
	struct mm_struct *mm;
	struct task_struct *group_leader;
	int pid, tgid; /* of the thread, of the process */
	__u64 self_exec_id; /* counts the execs of the process */
	unsigned long sas_ss_sp; /* the alternate signal stack */
	unsigned long sas_ss_size;
	struct pid *thread_pid;
};
struct super_block {
	__u32 s_dev;
};
struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};
struct dentry {
	struct inode *d_inode;
};
struct path {
	struct dentry *dentry;
};
struct file {
	struct inode *f_inode;
};
/* A mapped file of a stacked file system: the file below it, and where it is itself. */
struct backing_file {
	struct file file;
	struct path user_path;
};
struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	struct file *vm_file;
};
#pragma clang attribute pop

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
};
#else
#error "this architecture is not supported"
#endif

#endif
