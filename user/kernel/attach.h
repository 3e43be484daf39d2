/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches probes to a file for one process, in the best way that the kernel has. Probes of a file
 * that run the same program share one link if the kernel supports it.
 */
#ifndef KERNEL_ATTACH_H
#define KERNEL_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "kernel/features.h"

struct bpf_program;

/* The loaded programs; NULL = the back end does not need it. */
struct attach_programs {
	struct bpf_program *session, *entry, *exit, *free, *throw, *leave, *sample, *inside;
};

/* How to attach. */
struct attach_how {
	enum backend backend;
	struct attach_programs programs;
	const struct log *log; /* for functions that the kernel refuses to probe */
};

/* Which programs a probe runs, in the order of attaching. */
enum attach_kind {
	ATTACH_THROW, /* `throw` */
	ATTACH_LEAVE, /* `leave` */
	ATTACH_INSIDE, /* `inside` */
	ATTACH_FREE, /* `free` */
	ATTACH_SAMPLE_END, /* `sample` */
	ATTACH_ENTRY, /* `entry`, and no return */
	ATTACH_CALL, /* entry and return */
	ATTACH_SAMPLE, /* `sample` */
	ATTACH_KIND_COUNT,
};

struct attach_point {
	uint64_t offset; /* of the probed instruction in the file */
	uint64_t cookie; /* the call shape */
	/* File offset of a USDT semaphore, which the kernel raises while attached; 0 = none. */
	uint64_t semaphore;
	enum attach_kind kind;
	const char *symbol; /* for messages */
	bool refused; /* set by attach_file: the kernel cannot probe it */
};

struct links {
	int *fds;
	size_t count, capacity;
};

/* Links that hold probes in place. {0} is none. */
struct attachment {
	struct links calls; /* entries and returns of functions whose return is probed */
	struct links others;
};

/*
 * Attach probes to `points` of the file open as `file`, in process `pid`. Frees come before
 * allocations. A point that the kernel cannot probe is skipped, with a message, and marked. Returns
 * 0, or a negative errno with `error` filled if all points of one kind are refused, or one fails
 * for another reason; then none stays attached.
 */
int attach_file(struct attachment *attachment, const struct attach_how *how, int file, pid_t pid,
		struct attach_point *points, size_t count, struct error *error);

/* Does this error of attach_file mean that the kernel refuses the instructions for good? */
bool attach_is_refusal(int code);

/* Move all links of `from` to `attachment`. */
void attachment_join(struct attachment *attachment, struct attachment *from);

/* Number of links. */
size_t attachment_count(const struct attachment *attachment);

/* Detach all probes. */
void attachment_close(struct attachment *attachment);

/* Begin to detach; link_task_close_end returns when they are out. */
struct link_closing *attachment_close_begin(struct attachment *attachment);

#endif
