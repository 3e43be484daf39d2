/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the BPF programs fit kernels before 5.13, which know neither global functions that take memory nor functions
 * as arguments of helpers. Such a kernel looks at the former at each call, as at any other function; the latter
 * are in code that is dead there, but has to look like code.
 */
#ifndef KERNEL_DOWNGRADE_H
#define KERNEL_DOWNGRADE_H

struct bpf_object;

#define DOWNGRADE_SECTIONS 2

struct downgrade {
	int handlers[DOWNGRADE_SECTIONS]; /* libbpf's numbers of our handlers */
};

/* Before the object is opened. Nothing else may open one until downgrade_end. */
void downgrade_begin(struct downgrade *downgrade);

/* Between open and load. */
void downgrade_object(const struct bpf_object *object);

/* After the load, whether it succeeded or not. */
void downgrade_end(const struct downgrade *downgrade);

#endif
