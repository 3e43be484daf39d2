/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running a loader's --list and collecting what it prints. */
#ifndef SYSTEM_LOADER_RUN_H
#define SYSTEM_LOADER_RUN_H

#include "base/buffer.h"
#include "system/user.h"

struct loader_child {
	const char *interpreter, *program;
	/* Whom it runs as, without a way to more privileges; NULL = the caller. */
	const struct user *user;
};

/*
 * Append what `interpreter --list program` prints, on stdout and stderr, to `output`. It gets no ambient capabilities and
 * no terminal. Returns 0 if it ended with
 * success, 1 if it did not, or a negative errno: -ETIMEDOUT after `timeout_ms`, -EFBIG (it printed too much).
 */
int loader_run(const struct loader_child *child, int timeout_ms, struct buffer *output);

#endif
