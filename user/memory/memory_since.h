/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a report of `tracer memory -j` for comparison with a later look. The file is untrusted:
 * numbers are bounded, and texts are only compared, and printed like all names.
 */
#ifndef MEMORY_MEMORY_SINCE_H
#define MEMORY_MEMORY_SINCE_H

#include "base/buffer.h"
#include "base/error.h"
#include "model/memory_report.h"

/* A larger file is no report. */
#define MEMORY_SINCE_MAX (64u << 20)

/*
 * Append the file to `text`. Returns 0, or a negative errno with `error` filled (ERROR_USAGE). Call
 * before privileges are dropped, and decode the text afterwards.
 */
int memory_since_read(const char *path, struct buffer *text, struct error *error);

/*
 * Parse the last report in `text`, which may contain several (INTERVAL), as the base of growth.
 * Fills `*ret_report`, which is {0}; free it with memory_report_free, also after a failure. Returns
 * 0, or a negative errno with `error` filled (ERROR_USAGE).
 */
int memory_since_parse(const struct buffer *text, struct memory_report *ret_report,
		       struct error *error);

/*
 * Compare `report` with `before`: set the time between them, and add remarks on what makes the comparison doubtful: other
 * processes, or no objects in the earlier one. Returns 0, or -EINVAL with `error` filled if `before` is the later one.
 */
int memory_since_compare(struct memory_report *report, const struct memory_report *before,
			 struct error *error);

#endif
