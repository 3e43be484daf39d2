/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that the kernel keeps for a process and gives back to it: the data of epoll's events, the values of timers' signals. Programs keep
 * pointers there.
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

/* Append the words of a process, as far as `proc_root` shows them; those of its files by one of its threads that has not ended. */
void kernel_words_read(const char *proc_root, pid_t pid, pid_t thread, struct kernel_words *words);

/* Append those of a text in the format of /proc/PID/fdinfo/FD, or of /proc/PID/timers. */
void kernel_words_parse(const char *text, size_t length, struct kernel_words *words);

#endif
