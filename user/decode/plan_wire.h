/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan on its way between the tracer and a worker: there the options, back what one file adds. A new field of a struct
 * that has no pointers goes along by itself; what the tracer does with it must not trust it.
 */
#ifndef DECODE_PLAN_WIRE_H
#define DECODE_PLAN_WIRE_H

#include "base/buffer.h"
#include "probe/plan.h"

/* What a plan is made by. */
void plan_wire_put_options(struct buffer *bytes, const struct plan *plan);

/*
 * The same on the other side: an empty plan, for files of `modules`, and the named functions that its options point to.
 * False, with nothing to free, if the bytes are no options.
 */
bool plan_wire_get_options(const struct buffer *bytes, struct module_list *modules,
			   struct named_list *named, struct plan *ret_plan);

/* What a plan of one file holds. */
void plan_wire_put(struct buffer *bytes, const struct plan *plan);

/*
 * Add to a plan what another one, of the file of this module, holds. `file_size` is the size of the file. False, with the
 * plan as it was, if the bytes are no plan, or one that the file cannot have.
 */
bool plan_wire_add(const struct buffer *bytes, struct plan *plan, uint32_t module,
		   uint64_t file_size);

#endif
