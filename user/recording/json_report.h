/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report of `tracer -j` read again, of schema 1 or 2, as a profile. Anybody may have written the file: numbers are within bounds,
 * positions are in their tables, texts are only compared, and printed as all names are.
 */
#ifndef RECORDING_JSON_REPORT_H
#define RECORDING_JSON_REPORT_H

#include "base/buffer.h"
#include "base/error.h"
#include "model/profile.h"

/* A larger file is refused: values take ten times as much memory as their text. */
#define JSON_REPORT_MAX (128u << 20)

/*
 * The last report in `text`, which is called `what` in messages. `profile` is {0} but for its name; free it with profile_free, also after
 * a failure. Returns 0, or a negative errno with `error` filled (ERROR_USAGE).
 */
int json_report_parse(const struct buffer *text, const char *what, struct profile *profile,
		      struct error *error);

#endif
