/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of a process's threads, as of their last entry into the kernel. */
#ifndef SYSTEM_THREAD_REGISTERS_H
#define SYSTEM_THREAD_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREAD_WORDS_MAX 34

struct thread_registers {
	pid_t tid; /* in the kernel's initial pid namespace */
	/* Threads that have its memory, of whatever process in whatever pid namespace, and who looks at that at the moment; 0 = unknown, or it has none. */
	uint32_t memory_users;
	uint64_t stack_pointer; /* 0 = unknown */
	uint64_t signal_stack; /* where the alternate one begins; 0 = none, or unknown */
	uint64_t dead_end; /* nothing of the stack below it is alive; 0 = as of the pointer */
	uint64_t words[THREAD_WORDS_MAX];
	size_t count;
};

/* {0} is an empty list. Free `items` with free(). */
struct thread_registers_list {
	struct thread_registers *items;
	size_t count, capacity;
	bool is_whole; /* all general registers of all threads */
};

#endif
