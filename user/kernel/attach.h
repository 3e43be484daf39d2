/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Putting probes into a file for one process, in whichever way the kernel has. All probes of a file that run the same
 * program are one link where the kernel can do that.
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

/* The loaded programs; those that the back end does not need are NULL. */
struct attach_programs {
	struct bpf_program *session, *entry, *exit, *free, *throw, *leave, *sample, *inside;
};

/* How to attach. */
struct attach_how {
	enum backend backend;
	struct attach_programs programs;
	const struct log *log; /* for functions that the kernel refuses to probe */
};

/* Which programs a probe runs. In the order in which they are attached. */
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
	/* Offset in the file of a USDT semaphore, which the kernel raises while attached; 0 = none. */
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
	struct links calls; /* of functions whose return is probed, for entry and return */
	struct links others;
};

/*
 * Probe `points` of the file behind the descriptor `file` in process `pid`. Frees are probed before what allocates. A
 * point that the kernel cannot probe is left out, with a message, and marked. Returns 0, or a negative errno with
 * `error` filled if all of one kind are refused, or one cannot be attached for another reason; none is in place then.
 */
int attach_file(struct attachment *attachment, const struct attach_how *how, int file, pid_t pid,
		struct attach_point *points, size_t count, struct error *error);

/* Is that an error of attach_file by which the kernel refuses the instructions, now and later? */
bool attach_is_refusal(int code);

/* What `from` holds is from now on held by `attachment`; `from` is none then. */
void attachment_join(struct attachment *attachment, struct attachment *from);

/* How many links there are. */
size_t attachment_count(const struct attachment *attachment);

/* Take all probes out. */
void attachment_close(struct attachment *attachment);

/* Begin to; link_task_close_end returns when they are out. */
struct link_closing *attachment_close_begin(struct attachment *attachment);

#endif
