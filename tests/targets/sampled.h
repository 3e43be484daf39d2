/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An allocator that publishes samples by USDT probes: see sampled.c. */
#ifndef SAMPLED_H
#define SAMPLED_H

#include <stddef.h>

/* What the calling thread's last call has published; weight 0 = nothing. */
struct sampled_block {
	unsigned long size, weight, objects;
};

extern __thread struct sampled_block sampled_last_alloc, sampled_last_free;

/* How often the probes were passed, and how many bytes were asked for. */
extern unsigned long sampled_fired, sampled_bytes;

/* What its semaphores say; -1 = it has none. */
int sampled_semaphores(void);

/* The next sample is published with this weight, whatever it is; for wrong ones. */
extern unsigned long sampled_lie;

void *je_malloc(size_t size);
void *je_calloc(size_t count, size_t size);
void *je_realloc(void *block, size_t size);
void je_free(void *block);

#endif
