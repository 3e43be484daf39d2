/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of file systems that ask a server, which may not answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/parts.h"
#include "system/regular_file.h"

void session_note_unopened(struct session *session, struct module *module)
{
	if ((!module->unanswered && !module->uncopied) || module->said_unopened)
		return;
	module->said_unopened = true;
	log_write(
		session->options.log, LOG_NOTICE,
		"the server of the file system of %s does not answer%s: functions in the file have "
		"no names, and what it allocates is not counted; %sstart the tracer anew",
		module->path, module->uncopied ? " for all of so large a file" : "",
		module->uncopied ? "" : "when it answers again, ");
}

int session_warm(struct session *session, const struct module *module,
		 const struct attach_point *points, size_t count)
{
	uint64_t *offsets;
	int code = -EPERM;
	size_t i;

	if (!module->place)
		return 0;
	offsets = memory_alloc(count, sizeof(*offsets));
	for (i = 0; i < count; i++)
		offsets[i] = points[i].offset;
	if (!module->of_user)
		code = regular_file_warm(module->place, offsets, count);
	free(offsets);
	if (!code)
		return 0;
	session->files_unprobed++;
	log_write(session->options.log, LOG_NOTICE,
		  "%s is not probed, so what it allocates is not counted: %s", module->path,
		  module->of_user
			  ? "a process of a user is the server of its file system, and could "
			    "stop the kernel in it"
			  : strerror(-code));
	return code;
}
