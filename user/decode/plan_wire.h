/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serializes a plan between the tracer and a worker: options in one direction, the additions of one
 * file in the other. A new field of a struct without pointers is included automatically; the tracer
 * must not trust it.
 */
#ifndef DECODE_PLAN_WIRE_H
#define DECODE_PLAN_WIRE_H

#include "base/buffer.h"
#include "probe/plan.h"

/* Write the options of a plan. */
void plan_wire_put_options(struct buffer *bytes, const struct plan *plan);

/*
 * Read options: an empty plan for files of `modules`, and the named functions that its options
 * point to. False, with nothing to free, if the bytes are invalid.
 */
bool plan_wire_get_options(const struct buffer *bytes, struct module_list *modules,
			   struct named_list *named, struct plan *ret_plan);

/* Write the contents of a plan of one file. */
void plan_wire_put(struct buffer *bytes, const struct plan *plan);

/*
 * Add the contents of a serialized plan of this module's file to a plan. `file_size` is the size of
 * the file. False, with the plan unchanged, if the bytes are invalid, or impossible for the file.
 */
bool plan_wire_add(const struct buffer *bytes, struct plan *plan, uint32_t module,
		   uint64_t file_size);

#endif
