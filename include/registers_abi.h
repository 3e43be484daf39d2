/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the BPF iterator over threads (bpf/registers.bpf.c) writes for user space. */
#ifndef REGISTERS_ABI_H
#define REGISTERS_ABI_H

#if defined(__TARGET_ARCH_arm64) || (!defined(__bpf__) && defined(__aarch64__))
#define REGISTERS_WORDS 34 /* struct user_pt_regs */
#define REGISTERS_STACK_POINTER 31
#else
#define REGISTERS_WORDS 21 /* struct pt_regs */
#define REGISTERS_STACK_POINTER 19
#endif

/* A thread, with its registers as of its last entry to the kernel. */
struct registers_record {
	unsigned int tid;
	/* Threads that have the same memory, of whatever process; 0 = it has none. */
	unsigned int memory_users;
	unsigned long long signal_stack; /* the alternate one; 0 = none */
	unsigned long long words[REGISTERS_WORDS];
};

#endif
