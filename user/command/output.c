/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports to a file descriptor, with plain system calls: see output.h. */
#include "command/output.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"
#include "system/end_signals.h"
#include "system/output_file.h"
#include "system/stdio.h"

/* How long a reader that takes nothing is waited for when the tracer is to end, and how often that is asked. */
#define END_PATIENCE_MS 2000
#define LOOK_MS 100

bool output_check_template(const char *template, struct error *error)
{
	const char *at;

	if (!*template) {
		error_set(error, ERROR_USAGE, -EINVAL, "-o/--output needs the name of a file");
		return false;
	}
	for (at = strchr(template, '%'); at; at = strchr(at + 2, '%'))
		if (!at[1] || !strchr("pth%", at[1])) {
			error_set(error, ERROR_USAGE, -EINVAL,
				  "-o/--output does not know '%.2s': there are %%p (process ID), "
				  "%%t (time), %%h (host) and %%%%",
				  at);
			return false;
		}
	return true;
}

static void output_append_pids(struct buffer *name, const struct output_names *names)
{
	size_t i;

	for (i = 0; i < names->pid_count; i++)
		buffer_printf(name, "%s%d", i ? "-" : "", names->pids[i]);
}

static void output_append_host(struct buffer *name, const char *host)
{
	for (; *host; host++)
		buffer_append(name, *host == '/' ? "_" : host, 1);
}

char *output_expand(const char *template, const struct output_names *names)
{
	struct buffer name = { 0 };

	buffer_append_string(&name, ""); /* an empty name is still a name, not NULL */
	for (; *template; template ++) {
		if (*template != '%' || !template[1]) {
			buffer_append(&name, template, 1);
			continue;
		}
		switch (*++template) {
		case 'p':
			output_append_pids(&name, names);
			break;
		case 't':
			buffer_printf(&name, "%" PRId64, names->time);
			break;
		case 'h':
			output_append_host(&name, names->host);
			break;
		default:
			buffer_append_string(&name, "%");
		}
	}
	return name.data;
}

char *output_host(void)
{
	char name[HOST_NAME_MAX + 1] = "";

	if (gethostname(name, sizeof(name) - 1))
		return memory_copy_string("localhost");
	return memory_copy_string(name);
}

void output_ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int output_open(struct output *output, const char *path, struct error *error)
{
	int fd;

	if (!path || !strcmp(path, "-")) {
		*output = OUTPUT_STDOUT;
		if (stdio_is_writable(STDOUT_FILENO))
			return 0;
		return error_set(error, ERROR_USAGE, -EBADF,
				 "cannot write to standard output: it is closed, or open for "
				 "reading only; -o FILE writes to a file");
	}
	fd = output_file_open(path, error);
	if (fd < 0)
		return fd;
	*output = (struct output){ .fd = fd, .path = memory_copy_string(path) };
	return 0;
}

static int output_fail(const struct output *output, int code, struct error *error)
{
	return error_set(error, ERROR_PERMISSION, -code, "cannot write to %s%s%s: %s",
			 output->path ? "'" : "", output->path ? output->path : "standard output",
			 output->path ? "'" : "",
			 code == EINTR ? "its reader takes nothing" : strerror(code));
}

/* Wait until the descriptor takes more, but not for long when the tracer is to end. Returns 0 or an errno. */
static int output_wait(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int waited;

	for (waited = 0; waited < END_PATIENCE_MS;
	     waited += end_signals_are_pending() ? LOOK_MS : 0)
		if (poll(&poll_fd, 1, LOOK_MS))
			return 0;
	return EINTR;
}

int output_write(const struct output *output, const struct buffer *text, struct error *error)
{
	size_t written = 0, size;
	ssize_t result;
	int code;

	while (written < text->length) {
		code = output_wait(output->fd);
		if (code)
			return output_fail(output, code, error);
		/* As much as a pipe takes without waiting if it takes anything. */
		size = text->length - written;
		size = size < PIPE_BUF ? size : PIPE_BUF;
		result = write(output->fd, text->data + written, size);
		if (result >= 0)
			written += (size_t)result;
		else if (errno == EPIPE)
			return -EPIPE;
		else if (errno != EINTR && errno != EAGAIN)
			return output_fail(output, errno, error);
	}
	return 0;
}

int output_close(struct output *output, struct error *error)
{
	int result = 0;

	if (output->path && output->fd >= 0 && close(output->fd) && errno != EINTR)
		result = output_fail(output, errno, error);
	free(output->path);
	*output = (struct output){ .fd = -1 };
	return result;
}

bool output_is_terminal(const struct output *output)
{
	return isatty(output->fd) == 1;
}

void output_size(const struct output *output, const char *columns, size_t *ret_columns,
		 size_t *ret_lines)
{
	struct winsize size = { 0 };
	uint64_t number;

	if (ioctl(output->fd, TIOCGWINSZ, &size))
		size = (struct winsize){ 0 };
	*ret_columns = size.ws_col;
	*ret_lines = size.ws_row;
	if (!size.ws_col && columns && units_parse_number(columns, UINT16_MAX, &number))
		*ret_columns = (size_t)number;
}
