/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs of a worker for one file: bytes in, bytes out. Run only in the sandbox, except in tests.
 */
#ifndef DECODE_JOBS_H
#define DECODE_JOBS_H

#include <stdint.h>

#include "base/buffer.h"
#include "discover/debug_want.h"

enum decode_job {
	JOB_DESCRIBE = 1, /* nothing -> struct file_facts */
	JOB_PLAN, /* plan_wire_put_options -> plan_wire_put */
	JOB_INTERPRETER, /* nothing -> struct interp_file */
	JOB_ROWS, /* nothing -> struct rows_head, rows, pages */
	JOB_ROWS_OF_MEMORY, /* the same of an image that was copied from memory */
	JOB_BUILD_ID, /* nothing -> the bytes of the build ID */
	JOB_DISTRIBUTION, /* nothing -> of an os-release(5): uint32_t, enum distribution */
	JOB_PACKAGE_HAS, /* a path -> of dpkg's list of a package's files: uint32_t, 1 = the path is in it */
	JOB_DEMANGLE, /* name_job_demangle, without a file */
	JOB_PLACES, /* name_job_places */
	JOB_ALL, /* plan_wire_put_options -> of the first four: number, errno, size, answer */
	JOB_COUNT,
};

#define FACTS_PATH_MAX 1024

/* Facts requested of every file. */
struct file_facts {
	uint8_t has_symbols; /* a symbol table of its own */
	uint8_t has_samplers; /* it has USDT probes that report samples */
	uint32_t switching; /* from switching_find */
	char interpreter[FACTS_PATH_MAX]; /* PT_INTERP; "" = there is none, or it is longer */
	uint32_t build_id_size;
	unsigned char build_id[BUILD_ID_MAX];
};

/* Goes before the rows and the pages, one more than `page_count`, of a struct cfi_table. */
struct rows_head {
	uint32_t row_count, first_page, page_count, functions, skipped, code_count;
};

/*
 * Do a job for the file behind `fd`, which the tracer knows by `path`. Debug files come from `source`. Appends to `answer`
 * and returns 0, or a negative errno: -ENOEXEC (no ELF file of this machine), -EPROTO (no such job), what the job returns.
 */
int job_run(enum decode_job job, int fd, const char *path, const struct buffer *question,
	    const struct debug_source *source, struct buffer *answer);

#endif
