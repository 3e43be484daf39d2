/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that are perf events of their own. A program is linked to one with its cookie; on kernels without such links
 * it is given to it by ioctl, and has its cookie inside.
 */
#ifndef KERNEL_PERF_PROBE_H
#define KERNEL_PERF_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;

struct perf_probe {
	int file; /* descriptor of the probed file */
	uint64_t offset; /* in it */
	uint64_t semaphore; /* offset in it of a count that the kernel raises meanwhile; 0 = none */
	pid_t pid;
	bool returns;
	int program; /* descriptor; -1 = none: only the breakpoint is wanted */
	bool linked; /* with `cookie` */
	uint64_t cookie;
};

/* Does the kernel have events for uprobes? */
bool perf_probe_works(void);

/* Put a probe in. Returns the descriptor that holds it there, or a negative errno. */
int perf_probe_attach(const struct perf_probe *probe);

/*
 * Load another copy of a program that was loaded, with this cookie in place of COOKIE_PLACEHOLDER. Returns its descriptor or a
 * negative errno: -ENOEXEC if it asks for no cookie.
 */
int perf_probe_load_copy(const struct bpf_program *program, uint64_t cookie);

#endif
