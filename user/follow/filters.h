/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes with seccomp filters: can a probe get them killed? */
#ifndef FOLLOW_FILTERS_H
#define FOLLOW_FILTERS_H

#include <stdbool.h>

#include "base/error.h"
#include "discover/process.h"
#include "kernel/features.h"
#include "kernel/return_check.h"

struct filters {
	const struct kernel_features *features;
	/* The kernel's behaviour; RETURNS_UNCHECKED = test it when needed. */
	enum return_check known;
	bool force; /* --force: take the risk */
	/* functions are probed; USDT samples do no harm, since nothing returns from them */
	bool functions;
};

/* May processes with filters be probed? The first call may take some tens of milliseconds. */
bool filters_allow(struct filters *filters);

/* Returns 0 if a process may be probed, or -ENOTSUP with `error` filled. */
int filters_check(struct filters *filters, const struct process *process, struct error *error);

#endif
