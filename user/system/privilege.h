/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privileges of this process: its capabilities, what else may restrict it, and dropping what is no
 * longer needed.
 */
#ifndef SYSTEM_PRIVILEGE_H
#define SYSTEM_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/* What the tracer does that needs a privilege. */
enum privilege_step {
	STEP_LOAD, /* load BPF programs and maps */
	STEP_ATTACH_MULTI, /* link a program to many uprobes */
	STEP_ATTACH_PERF, /* make a perf event of a uprobe */
	STEP_LISTEN, /* open a perf event for records of processes */
	STEP_LOOK, /* read the mappings and files of another process */
	STEP_READ, /* read memory of another user's process, which only that user may open */
};

/* Possible restrictions, read from /proc or supplied by a test. */
struct privileges {
	uint64_t effective; /* capabilities, as bits */
	bool filtered; /* this process has a seccomp filter */
	/* An enforced AppArmor profile: access only to processes with the same one */
	bool profiled;
	bool confined; /* in a user namespace of its own: its capabilities do not count */
	int paranoid; /* kernel.perf_event_paranoid; -1 = nothing is forbidden */
	bool locked; /* kernel lockdown forbids reading kernel memory */
};

/*
 * Unknown restrictions count as absent. `proc_root` is "/proc" and `sys_root` is "/sys", or a
 * test's directories.
 */
void privileges_read(const char *proc_root, const char *sys_root,
		     struct privileges *ret_privileges);

/*
 * Append why a step was refused with a permission error, and what to do: the missing capability,
 * or, if none is missing, what else may forbid it.
 */
void privileges_explain(const struct privileges *privileges, enum privilege_step step,
			struct buffer *text);

/*
 * Fill `error` (ERROR_PERMISSION) for a step that failed with `code`, a negative errno: what was
 * refused, why, and what to do. Returns `code`.
 */
int privileges_refuse(enum privilege_step step, int code, struct error *error);

/*
 * Give up for good every capability that a running trace does not need; open descriptors stay
 * usable. `perf`: later probes are perf events, which need CAP_SYS_ADMIN on many kernels. Returns 0
 * or a negative errno.
 */
int privileges_drop(bool perf);

/*
 * Switch to `user`, an unused user from privileges_unused_user, keeping the process's capabilities;
 * call before privileges_drop. Applies to the calling thread and those that it starts. Returns 0,
 * or -EPERM if the process is root and cannot switch, or would lose access to files and processes.
 */
int privileges_leave_root(unsigned int user);

/*
 * A user ID that no distribution, systemd or container runtime assigns; a different one each time.
 */
unsigned int privileges_unused_user(void);

/* Give up all capabilities of the calling thread, and root for `user`. */
void privileges_drop_all(unsigned int user);

/* Give up the capabilities that the next exec would pass on to an ordinary program. */
void privileges_hand_on_none(void);

#endif
