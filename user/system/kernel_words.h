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

/* {0} is empty. Free `items` with free(). */
struct kernel_words {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * Append the words of a process, as far as `proc_root` shows them; reads its files through
 * `thread`, one of its live threads.
 */
void kernel_words_read(const char *proc_root, pid_t pid, pid_t thread, struct kernel_words *words);

/* Append the words in a text of /proc/PID/fdinfo/FD or /proc/PID/timers. */
void kernel_words_parse(const char *text, size_t length, struct kernel_words *words);

#endif
