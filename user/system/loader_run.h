/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running a loader's --list and collecting what it prints. */
#ifndef SYSTEM_LOADER_RUN_H
#define SYSTEM_LOADER_RUN_H

#include "base/buffer.h"
#include "system/user.h"

struct loader_child {
	const char *interpreter, *program;
	/* User to run it as, without a way to gain privileges; NULL = the caller. */
	const struct user *user;
};

/*
 * Append the output of `interpreter --list program`, stdout and stderr, to `output`. The child gets
 * no ambient capabilities and no terminal. Returns 0 if it succeeded, 1 if it failed, or a negative
 * errno: -ETIMEDOUT after `timeout_ms`, -EFBIG (too much output).
 */
int loader_run(const struct loader_child *child, int timeout_ms, struct buffer *output);

#endif
