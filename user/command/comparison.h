/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what is compared to the bytes of a difference. */
#ifndef COMMAND_COMPARISON_H
#define COMMAND_COMPARISON_H

#include "analyze/difference.h"
#include "command/comparand.h"

/* Read what is compared, the earliest first, and write what differs. Returns the exit status of the program. */
int comparison_run(const struct comparand *comparands, size_t count, const struct options *options,
		   const struct log *log);

#endif
