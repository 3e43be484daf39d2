/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a report of `tracer -j`, schema 1 or 2, as a profile. The file is untrusted: numbers are
 * bounded, positions are checked against their tables, and texts are only compared, and printed
 * like all names.
 */
#ifndef RECORDING_JSON_REPORT_H
#define RECORDING_JSON_REPORT_H

#include "base/buffer.h"
#include "base/error.h"
#include "model/profile.h"

/* A larger file is refused: values take ten times as much memory as their text. */
#define JSON_REPORT_MAX (128u << 20)

/*
 * Parse the last report in `text`, which messages call `what`. `profile` is {0} except for its
 * name; free it with profile_free, also after a failure. Returns 0, or a negative errno with
 * `error` filled (ERROR_USAGE).
 */
int json_report_parse(const struct buffer *text, const char *what, struct profile *profile,
		      struct error *error);

#endif
