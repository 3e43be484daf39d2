/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs of a worker that name types, by their mangled names, and addresses, by the symbols that
 * cover them. Bytes in, bytes out, like jobs.h; for the tracer's side see name_reader.h.
 */
#ifndef DECODE_NAME_JOBS_H
#define DECODE_NAME_JOBS_H

#include "base/buffer.h"
#include "discover/debug_want.h"

/* Limit of items in a request. */
#define NAME_JOB_ITEMS_MAX 512

/* number, texts -> as many texts; "" = it is no mangled type. Returns 0 or -EPROTO. */
int name_job_demangle(const struct buffer *question, struct buffer *answer);

/*
 * number, addresses (uint64_t, as the file has them) -> for each the distance from where its symbol begins (uint64_t) and a
 * text; "" = no symbol covers it. The file comes from `source`, too. Returns 0, -EPROTO, -ENOEXEC.
 */
int name_job_places(const struct debug_source *source, const struct buffer *question,
		    struct buffer *answer);

#endif
