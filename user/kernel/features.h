/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out by trying what the running kernel can do: version numbers are misleading on
 * distribution kernels.
 */
#ifndef KERNEL_FEATURES_H
#define KERNEL_FEATURES_H

#include <stdbool.h>

#include "base/error.h"
#include "probe/trap.h"

/* How probes are attached, from the best to the oldest way. */
enum backend {
	BACKEND_KERNEL_SESSION, /* entry and return in one program: Linux 6.13 */
	BACKEND_KERNEL_MULTI, /* one link for many probes: Linux 6.6 */
	BACKEND_KERNEL_PERF, /* one perf event per probe, with a cookie: Linux 5.15 */
	BACKEND_KERNEL_IOCTL, /* one perf event and one program per probe: Linux 4.17 */
	BACKEND_KERNEL_COUNT,
};

struct kernel_features {
	bool backends[BACKEND_KERNEL_COUNT]; /* which of them work */
	bool task_storage; /* usable by probe programs */
	bool functions; /* global functions take memory: Linux 5.12 */
	bool callbacks; /* helpers take functions: Linux 5.13 */
	struct probe_features traps; /* what it costs to probe an instruction */
};

/*
 * Try everything. Returns 0, or a negative errno with `error` filled (ERROR_PERMISSION) if BPF programs cannot be
 * loaded at all: which privilege or feature is missing and what to do.
 */
int kernel_features_probe(struct kernel_features *ret_features, struct error *error);

const char *backend_name(enum backend backend); /* "session", ... */

/*
 * Choose the best working back end, or `*wanted`. Returns 0, or -ENOTSUP with `error` filled. A
 * back end for old kernels implies their limitations: changes `features`.
 */
int backend_choose(struct kernel_features *features, const enum backend *wanted,
		   enum backend *ret_backend, struct error *error);

#endif
