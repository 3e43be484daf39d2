/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The open file descriptors of a process by kind, and what waits in its sockets. Nothing is opened but files of /proc. */
#ifndef SYSTEM_PROC_DESCRIPTORS_H
#define SYSTEM_PROC_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_descriptors {
	uint64_t sockets, pipes, files, others; /* others: eventfd, epoll, ... */
	uint64_t queued_bytes; /* in its TCP and UDP sockets: to be sent, or to be read */
};

/* Returns 0, or a negative errno with `*ret_descriptors` untouched. At most 2^16 descriptors are looked at. */
int proc_read_descriptors(const char *proc_root, pid_t pid,
			  struct proc_descriptors *ret_descriptors);

/*
 * Bytes in the queues of those sockets of a text in the format of /proc/PID/net/tcp whose inodes are among `count` sorted
 * ones. For tests.
 */
uint64_t proc_parse_queues(const char *text, size_t length, const uint64_t *inodes, size_t count);

#endif
