/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a process, from the C library's own lists: descriptors, TLS, stacks. */
#ifndef IMAGE_THREAD_LIST_H
#define IMAGE_THREAD_LIST_H

#include "image/claims.h"
#include "image/image.h"

enum thread_state {
	THREAD_RUNS,
	THREAD_ENDED, /* neither joined nor detached: its stack stays */
	THREAD_CACHED, /* ended; its stack is kept for the next thread */
};

struct thread_info {
	pid_t tid; /* as the process itself sees it; 0 = ended */
	/* The thread pointer (struct pthread; on x86 the static TLS ends there). */
	uint64_t descriptor;
	/*
	 * [tls_start, descriptor) contains the static TLS block; before it may be stack, or memory
	 * allocated by the loader.
	 */
	uint64_t tls_start;
	uint64_t stack_start, stack_end; /* with its guard; 0 for the main thread */
	uint64_t guard; /* bytes */
	enum thread_state state;
};

struct thread_list {
	struct thread_info *items; /* the main thread first */
	size_t count;
	bool complete; /* the lists were found and closed; false: some or all threads are missing */
};

/*
 * Read the lists of glibc, or of musl, which has no ended threads. x86-64 only; finds nothing
 * elsewhere. `own_pid` of the image must be known. Never fails: an incomplete result is not
 * `complete`. Free with thread_list_free.
 */
void thread_list_find(struct image *image, struct thread_list *ret_list);
void thread_list_free(struct thread_list *list);
void thread_list_claim(const struct thread_list *list, struct claims *claims);

#endif
