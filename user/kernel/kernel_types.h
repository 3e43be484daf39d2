/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The types of the running kernel, as its BTF has them. */
#ifndef KERNEL_KERNEL_TYPES_H
#define KERNEL_KERNEL_TYPES_H

#include <stddef.h>

#include "base/error.h"
#include "probe/kernel_events.h"

struct kernel_types;

/* Returns 0 or a negative errno with `error` filled. Free with kernel_types_free. */
int kernel_types_open(struct kernel_types **ret_types, struct error *error);
/* Accepts NULL. */
void kernel_types_free(struct kernel_types *types);

/* The arguments of a tracepoint; none if there is no such tracepoint. `context` is the types: for kernel_events_choose. */
void kernel_types_find_event(void *context, const char *event,
			     struct kernel_arguments *ret_arguments);

/* Bytes of the struct that describes a page; 0 = unknown. */
size_t kernel_types_page_bytes(const struct kernel_types *types);

#endif
