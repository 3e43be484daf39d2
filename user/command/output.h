/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where reports go: stdout, or the file of -o. Each report is handed to the kernel as soon as it is made;
 * nothing is kept back. SIGPIPE must be ignored where a closed pipe is not to end the program.
 */
#ifndef COMMAND_OUTPUT_H
#define COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct output {
	int fd; /* -1 = closed */
	char *path; /* owned; NULL = stdout, which stays open */
};

#define OUTPUT_STDOUT ((struct output){ .fd = 1, .path = NULL })

/* What a file name can be made of. */
struct output_names {
	const int *pids; /* %p, joined by '-' */
	size_t pid_count;
	int64_t time; /* %t, seconds since the epoch */
	const char *host; /* %h, where '/' becomes '_' */
};

/* Is every % of `template` one of %p %t %h %%, and is there a name at all? If not, fills `error` (ERROR_USAGE). */
bool output_check_template(const char *template, struct error *error);

/* The file name of a template that output_check_template has passed. Free with free(). */
char *output_expand(const char *template, const struct output_names *names);

/* The name of this machine for output_names. Free with free(). */
char *output_host(void);

/*
 * Open `path`, emptying what is there and creating it for its owner only; a symbolic link as its last part is
 * refused, because others may plant one where a privileged user writes, and so is a FIFO without a reader. NULL or
 * "-" is stdout. Returns 0, or a negative errno with `error` filled (ERROR_USAGE). Close with output_close.
 */
int output_open(struct output *output, const char *path, struct error *error);

/*
 * Write all of `text` behind what has been written. Returns 0; -EPIPE, without an error, if the reader has
 * gone: the caller ends quietly; or another negative errno with `error` filled: -EINTR if the reader takes nothing
 * and SIGINT, SIGTERM or SIGHUP is pending. They should be blocked.
 */
int output_write(const struct output *output, const struct buffer *text, struct error *error);

/*
 * Close the file; only now some file systems report that they could not keep what was written. Returns 0 or a
 * negative errno with `error` filled. Does nothing the second time.
 */
int output_close(struct output *output, struct error *error);

bool output_is_terminal(const struct output *output);

/*
 * The size of the terminal that `output` is, now; 0 = not known. Where there is none, `columns` is what the environment has as
 * COLUMNS, or NULL.
 */
void output_size(const struct output *output, const char *columns, size_t *ret_columns,
		 size_t *ret_lines);

#endif
