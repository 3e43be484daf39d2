/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether probes are visible in the code of a process. The kernel attaches probes to a file,
 * whoever maps it. A path or /proc/PID/map_files may lead to another file than the mapped one: an
 * overlay that has copied up a file gives both the same name and inode number. Attaching succeeds
 * then, but nothing is ever counted.
 */
#ifndef FOLLOW_PROBES_VISIBLE_H
#define FOLLOW_PROBES_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/process.h"
#include "kernel/attach.h"

/*
 * False if none of the attached `points` changes the code of `module` in the process. True if it
 * does, or if this is unknown: the process maps none of it, or cannot be read. `file` is the
 * module's descriptor.
 */
bool probes_visible(const struct process *process, uint32_t module, int file,
		    const struct attach_point *points, size_t count);

#endif
