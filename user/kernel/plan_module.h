/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a module to its part of the plan: its file is opened, and its debug file where that is needed. */
#ifndef KERNEL_PLAN_MODULE_H
#define KERNEL_PLAN_MODULE_H

#include "probe/plan.h"

/* Plan the functions of a module of the plan's list. Returns how many probes were added; 0 is no error. */
size_t plan_add_module(struct plan *plan, uint32_t module);

#endif
