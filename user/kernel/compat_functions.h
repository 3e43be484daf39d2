/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adapts the BPF programs to kernels before 5.13, which support neither global functions with
 * memory arguments nor functions as arguments of helpers. Such a kernel verifies the former at each
 * call, like static functions; the latter are in code that is dead there, but must still be valid.
 */
#ifndef KERNEL_COMPAT_FUNCTIONS_H
#define KERNEL_COMPAT_FUNCTIONS_H

struct bpf_object;

#define COMPAT_SECTIONS 2

struct compat_functions {
	int handlers[COMPAT_SECTIONS]; /* libbpf's numbers of our handlers */
};

/* Before the object is opened. Nothing else may open one until compat_functions_end. */
void compat_functions_begin(struct compat_functions *compat);

/* Between open and load. */
void compat_functions_object(const struct bpf_object *object);

/* After the load, whether it succeeded or not. */
void compat_functions_end(const struct compat_functions *compat);

#endif
