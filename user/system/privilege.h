/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this process may do, and why not: its capabilities, and what else the system puts in the way of those who have
 * them. Giving up what is not needed any more.
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
	STEP_READ, /* read its memory where it is of another user, who alone may open that */
};

/* What may stand in the way, read from /proc or made up by a test. */
struct privileges {
	uint64_t effective; /* capabilities, as bits */
	bool filtered; /* this process has a seccomp filter */
	bool profiled; /* an AppArmor profile is enforced: it may look at processes of the same only */
	bool confined; /* its user namespace is not the first one: its capabilities do not count */
	int paranoid; /* kernel.perf_event_paranoid; -1 = nothing is forbidden */
	bool locked; /* the kernel is locked down against reading its memory */
};

/* What is not known is taken for harmless. `proc_root` is "/proc", or a folder of a test; so is `sys_root`, "/sys". */
void privileges_read(const char *proc_root, const char *sys_root,
		     struct privileges *ret_privileges);

/*
 * Append why a step was refused with a permission error, and the way out: which capability is missing; or, if none is, what
 * else may forbid it.
 */
void privileges_explain(const struct privileges *privileges, enum privilege_step step,
			struct buffer *text);

/*
 * Fill `error` (ERROR_PERMISSION) for a step that the system has refused with `code`, a negative errno: what was refused,
 * why, and what to do. Returns `code`.
 */
int privileges_refuse(enum privilege_step step, int code, struct error *error);

/*
 * Give up every capability but those that a running trace needs, for ever: what is opened is open. `perf`: later
 * probes are perf events, which need CAP_SYS_ADMIN on many kernels. Returns 0 or a negative errno.
 */
int privileges_drop(bool perf);

/*
 * Run as `user`, of privileges_unused_user, who owns nothing, with the capabilities that the process has; to be called before
 * privileges_drop. For the calling thread and those that it starts. Returns 0; -EPERM if the process is
 * root's and may not change that, or would lose the sight of files and processes by it.
 */
int privileges_leave_root(unsigned int user);

/* A user ID that neither distributions nor systemd nor containers assign: another one each time. */
unsigned int privileges_unused_user(void);

/* Give up all capabilities of the calling thread, and root for `user`. */
void privileges_drop_all(unsigned int user);

/* Give up the capabilities that the next exec would hand on to a program that has none by itself or by its user. */
void privileges_hand_on_none(void);

#endif
