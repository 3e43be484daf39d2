/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do probes harm a process that has a seccomp filter? Since Linux 6.11, on x86-64, a probed function returns through a
 * system call, made by the process; since 6.18 some probes at entries are system calls, too. A filter that lists what
 * is allowed knows of neither, and where the kernel does not make an exception for them, it kills the process. Version
 * numbers do not tell (distributions take fixes back), so it is tried on a child of our own.
 */
#ifndef KERNEL_RETURN_CHECK_H
#define KERNEL_RETURN_CHECK_H

#include "kernel/features.h"

enum return_check {
	RETURNS_UNCHECKED = 0,
	RETURNS_SAFE, /* the child lives */
	RETURNS_FATAL, /* it was killed */
	RETURNS_UNKNOWN, /* it could not be found out */
};

/* Fork a child with such a filter, probe it, and see. Takes some tens of milliseconds. */
enum return_check return_check_run(const struct kernel_features *features);

#endif
