/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that were selected by pid, and are looked at several times: when one has ended, its pid
 * may be another process's.
 */
#ifndef COMMAND_HELD_PIDS_H
#define COMMAND_HELD_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct held_pid {
	pid_t pid;
	int fd; /* pidfd; -1 = could not be opened */
	uint64_t start_ticks; /* since boot; 0 = unknown */
	char comm[16];
};

struct held_pids {
	struct held_pid *items;
	size_t count;
};

/* Fill `*ret_held` with the processes that have these pids now; close with held_pids_close. */
void held_pids_open(struct held_pids *ret_held, const pid_t *pids, size_t count);
void held_pids_close(struct held_pids *held);

/* The process that was held with this pid, if it has ended; else NULL, also if none was held. */
const struct held_pid *held_pids_ended(const struct held_pids *held, pid_t pid);

#endif
