/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame in a report: named, independent of a process. */
#ifndef MODEL_REPORT_FRAME_H
#define MODEL_REPORT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "model/stack.h"

struct report_frame {
	enum frame_kind kind;
	const char *function; /* NULL = unknown */
	const char *module; /* path; NULL = none */
	char *build_id; /* hexadecimal, owned; NULL = none */
	uint64_t offset;
	const char *file; /* NULL = unknown */
	uint32_t line; /* 0 = unknown */
	bool inlined;
	bool whole; /* an entire module or function: no offset, no line */
};

#endif
