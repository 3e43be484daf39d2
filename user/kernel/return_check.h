/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests whether probes harm a process with a seccomp filter. Since Linux 6.11, on x86-64, a probed
 * function returns through a system call made by the process; since 6.18 some entry probes are
 * system calls, too. An allowlist filter contains neither, and kills the process unless the kernel
 * exempts them. Distributions backport fixes, so versions prove nothing: this tests it on a child
 * of the tracer.
 */
#ifndef KERNEL_RETURN_CHECK_H
#define KERNEL_RETURN_CHECK_H

#include "kernel/features.h"

enum return_check {
	RETURNS_UNCHECKED = 0,
	RETURNS_SAFE, /* the child lives */
	RETURNS_FATAL, /* it was killed */
	RETURNS_UNKNOWN, /* the test failed */
};

/*
 * Fork a child with such a filter, probe it, and see whether it survives. Takes some tens of
 * milliseconds.
 */
enum return_check return_check_run(const struct kernel_features *features);

#endif
