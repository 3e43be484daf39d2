/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that `tracer memory` examines with INTERVAL: members of a tree or a control group
 * come and go.
 */
#ifndef COMMAND_MEMORY_MEMBERS_H
#define COMMAND_MEMORY_MEMBERS_H

#include "base/error.h"
#include "command/held_pids.h"
#include "command/options.h"
#include "model/memory_report.h"
#include "system/cgroup.h"

/*
 * Rebuild `list`; where the options name pids only, `held` has them, and those that have ended are
 * removed. In a tree, processes examined by `before` stay, with their children, after their parent
 * has ended. Returns 0, or a negative errno with `error` filled and `list` unchanged: ERROR_TARGET
 * if all have ended.
 */
int memory_members_list(const struct options *options, const struct held_pids *held,
			const struct memory_report *before, struct pid_list *list,
			struct error *error);

/* Add remarks on processes that have come or gone since `before`. */
void memory_members_compare(struct memory_report *report, const struct memory_report *before);

#endif
