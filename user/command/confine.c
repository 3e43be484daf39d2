/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See confine.h. */
#include "command/confine.h"

#include <string.h>

#include "system/privilege.h"

void confine_tracer(enum backend backend, const struct log *log)
{
	int code = privileges_drop(backend > BACKEND_KERNEL_MULTI);

	if (code)
		log_write(log, LOG_VERBOSE, "privileges are kept: %s", strerror(-code));
}
