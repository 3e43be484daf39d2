/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open descriptors of a process by kind, and the bytes queued in its sockets. Opens only files
 * of /proc.
 */
#ifndef SYSTEM_PROC_DESCRIPTORS_H
#define SYSTEM_PROC_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_descriptors {
	uint64_t sockets, pipes, files, others; /* others: eventfd, epoll, ... */
	uint64_t queued_bytes; /* in its TCP and UDP sockets, to be sent or read */
};

/*
 * Returns 0, or a negative errno with `*ret_descriptors` untouched. Examines at most 2^16
 * descriptors.
 */
int proc_read_descriptors(const char *proc_root, pid_t pid,
			  struct proc_descriptors *ret_descriptors);

/*
 * Bytes in the queues of those sockets, in a text of /proc/PID/net/tcp, whose inodes are in the
 * sorted array `inodes`. Public for tests.
 */
uint64_t proc_parse_queues(const char *text, size_t length, const uint64_t *inodes, size_t count);

#endif
