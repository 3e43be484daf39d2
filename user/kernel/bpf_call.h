/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf() calls that older distributions' libbpf lacks: links to many uprobes at once, and session
 * programs. The layouts are kernel ABI. Obsolete once libbpf 1.6 can be required.
 */
#ifndef KERNEL_BPF_CALL_H
#define KERNEL_BPF_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Attach types of the kernel's <linux/bpf.h> that older headers lack. */
#define ATTACH_UPROBE_MULTI 48
#define ATTACH_UPROBE_SESSION 57

/* Where one link attaches a program. */
struct uprobe_multi {
	int program; /* descriptor */
	uint32_t attach_type; /* ATTACH_* */
	int file; /* descriptor of the probed file; selects its inode, whatever the path is now */
	pid_t pid; /* 0 = every process that maps the file */
	bool returns; /* probe the returns; not with ATTACH_UPROBE_SESSION */
	const uint64_t *offsets; /* in the file */
	const uint64_t *cookies;
	/* File offsets of the probes' semaphores, 0 = none; or NULL. */
	const uint64_t *semaphores;
	size_t count;
};

/* Returns the descriptor of a new link, or a negative errno. */
int bpf_call_link_uprobes(const struct uprobe_multi *probes);

/*
 * Load an empty program of type kprobe (the type of uprobes) with this expected attach type.
 * Returns its descriptor or a negative errno.
 */
int bpf_call_load_empty(uint32_t attach_type);

#endif
