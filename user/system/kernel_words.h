/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that the kernel keeps for a process and returns to it: data of epoll events, values of
 * timer signals. Programs store pointers there.
 */
#ifndef SYSTEM_KERNEL_WORDS_H
#define SYSTEM_KERNEL_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Words of a process that the kernel has, and does not show; as bits. */
enum kernel_hidden {
	KERNEL_HIDDEN_RINGS = 1, /* io_uring: of requests */
	KERNEL_HIDDEN_AIO = 2, /* aio: of requests */
	KERNEL_HIDDEN_SIGNALS = 4, /* values of queued signals */
};

/* {0} is empty. Free `items` with free(). */
struct kernel_words {
	uint64_t *items;
	size_t count, capacity;
	unsigned int hidden; /* KERNEL_HIDDEN_RINGS, if a descriptor is one */
};

/*
 * Append the words of a process, as far as `proc_root` shows them; reads its files through
 * `thread`, one of its live threads.
 */
void kernel_words_read(const char *proc_root, pid_t pid, pid_t thread, struct kernel_words *words);

/*
 * KERNEL_HIDDEN_SIGNALS if a signal that may have a value is pending for the process or one of its
 * threads, else 0.
 */
unsigned int kernel_words_signals(const char *proc_root, pid_t pid);
/* The same of a text of /proc/PID/status or /proc/PID/task/TID/status. */
unsigned int kernel_words_parse_signals(const char *text, size_t length);

/* Append the words in a text of /proc/PID/fdinfo/FD or /proc/PID/timers. */
void kernel_words_parse(const char *text, size_t length, struct kernel_words *words);

#endif
