/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans whole processes: opens modules, with their debug files if needed, and reports what is
 * missing.
 */
#ifndef DECODE_PLAN_MODULE_H
#define DECODE_PLAN_MODULE_H

#include "decode/decoder.h"
#include "probe/plan.h"

/* Plan the functions of a module of the plan's list. Returns how many probes were added; 0 is no error. */
size_t plan_add_module(struct plan *plan, struct decoder *decoder, uint32_t module);

/* The module is about to be closed, and no function of it is in the plan. */
void plan_forget_module(struct plan *plan, uint32_t module);

/*
 * Is there anything to trace: allocating functions, and all named functions? Returns 0, or -ENOENT
 * with `error` filled (ERROR_NOTHING): which files were searched and what they lack, or which name
 * has no function. -ECANCELED (ERROR_PERMISSION): the tracer has to end, so that is not known.
 */
int plan_check(const struct plan *plan, const struct log *log, struct error *error);

#endif
