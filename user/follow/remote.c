/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See remote.h. */
#include "follow/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/regular_file.h"

int remote_warm(const struct module *module, const struct attach_point *points, size_t count,
		const struct log *log)
{
	uint64_t *offsets;
	int code = -EPERM;
	size_t i;

	if (!module->path_fd)
		return 0;
	offsets = memory_alloc(count, sizeof(*offsets));
	for (i = 0; i < count; i++)
		offsets[i] = points[i].offset;
	if (!module->of_user)
		code = regular_file_warm(module->path_fd, offsets, count);
	free(offsets);
	if (!code)
		return 0;
	log_write(log, LOG_NOTICE, "%s is not probed, so what it allocates is not counted: %s",
		  module->path,
		  module->of_user
			  ? "a process of a user is the server of its file system, and could "
			    "stop the kernel in it"
			  : strerror(-code));
	return code;
}
