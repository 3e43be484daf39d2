/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are probes visible in the code of a process? The kernel attaches them to a file, whoever maps it.
 * What a path or /proc/PID/map_files leads to can be another file than what is mapped: an overlay
 * that has copied a file up gives both the same name and number. Then everything is accepted, and
 * nothing is ever counted.
 */
#ifndef SESSION_PROBES_VISIBLE_H
#define SESSION_PROBES_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/process.h"
#include "kernel/attach.h"

/*
 * False if none of `points`, which are attached, changes the code of `module` as the process has it now. True if that
 * is unknown: the process maps none of it, or may not be read. `file` is the module's descriptor.
 */
bool probes_visible(const struct process *process, uint32_t module, int file,
		    const struct attach_point *points, size_t count);

#endif
