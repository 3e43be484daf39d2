/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes as single perf events. A program is linked to one with its cookie; on kernels without such
 * links it is attached by ioctl, with the cookie patched into its code.
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
	uint64_t semaphore; /* file offset of the semaphore that the kernel raises; 0 = none */
	pid_t pid;
	bool returns;
	int program; /* descriptor; -1 = none: only set the breakpoint */
	bool linked; /* with `cookie` */
	uint64_t cookie;
};

/* Does the kernel have events for uprobes? */
bool perf_probe_works(void);

/* Attach a probe. Returns the descriptor that holds it, or a negative errno. */
int perf_probe_attach(const struct perf_probe *probe);

/*
 * Load a copy of a loaded program with this cookie in place of COOKIE_PLACEHOLDER. Returns its
 * descriptor or a negative errno: -ENOEXEC if it has no cookie.
 */
int perf_probe_load_copy(const struct bpf_program *program, uint64_t cookie);

#endif
