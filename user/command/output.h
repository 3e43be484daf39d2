/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where reports go: stdout or the file of -o. Each report is written at once, without buffering.
 * Ignore SIGPIPE if a closed pipe should not end the program.
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

/* The values of placeholders in a file name. */
struct output_names {
	const int *pids; /* %p, joined by '-' */
	size_t pid_count;
	int64_t time; /* %t, seconds since the epoch */
	const char *host; /* %h, where '/' becomes '_' */
};

/* Does `template` use only %p %t %h %%, and make a name? If not, fills `error` (ERROR_USAGE). */
bool output_check_template(const char *template, struct error *error);

/* The file name of a template that output_check_template has passed. Free with free(). */
char *output_expand(const char *template, const struct output_names *names);

/* The name of this machine for output_names. Free with free(). */
char *output_host(void);

/*
 * A reader that has gone and a limit of file sizes (RLIMIT_FSIZE) are errors of writing from now on, EPIPE and EFBIG, and
 * end no process. Call after spawn_signals_save: programs that are started have what the tracer was started with.
 */
void output_ignore_signals(void);

/*
 * Open `path`, truncated, or created with access for its owner only. Refuses a symbolic link as the
 * last component, which others may plant where a privileged user writes, and a FIFO without a
 * reader. NULL or "-" is stdout. Returns 0, or a negative errno with `error` filled (ERROR_USAGE).
 * Close with output_close.
 */
int output_open(struct output *output, const char *path, struct error *error);

/*
 * Append all of `text`. Returns 0; -EPIPE, without an error, if the reader has closed the pipe: the
 * caller ends quietly; or another negative errno with `error` filled: -EINTR if the reader blocks
 * and SIGINT, SIGTERM or SIGHUP is pending. Block these signals.
 */
int output_write(const struct output *output, const struct buffer *text, struct error *error);

/*
 * Close the file; some file systems report write errors only now. Returns 0 or a negative errno
 * with `error` filled. A second call does nothing.
 */
int output_close(struct output *output, struct error *error);

bool output_is_terminal(const struct output *output);

/*
 * The current size of the terminal behind `output`; 0 = unknown. Without a terminal, uses
 * `columns`, the value of COLUMNS or NULL.
 */
void output_size(const struct output *output, const char *columns, size_t *ret_columns,
		 size_t *ret_lines);

#endif
