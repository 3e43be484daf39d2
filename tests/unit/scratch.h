/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder for the files of one test, and commands that are the truth about them. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"

struct scratch {
	char path[64];
};

/* Run a shell command; returns its wait status. */
static inline int scratch_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline int scratch_run(const char *format, ...)
{
	char command[4096];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	return system(command);
}

static inline struct scratch scratch_make(void)
{
	struct scratch scratch = { "/tmp/tracer-test-XXXXXX" };

	assert_non_null(mkdtemp(scratch.path));
	assert_int_equal(chmod(scratch.path, 0755), 0);
	return scratch;
}

static inline void scratch_remove(struct scratch *scratch)
{
	assert_int_equal(scratch_run("rm -rf '%s'", scratch->path), 0);
}

/* The path of a file in the folder; free with free(). */
static inline char *scratch_path(const struct scratch *scratch, const char *name)
{
	return memory_format("%s/%s", scratch->path, name);
}

/* Make a file; returns its path. */
static inline char *scratch_file(const struct scratch *scratch, const char *name, const void *bytes,
				 size_t size, mode_t mode)
{
	char *path = scratch_path(scratch, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

/* Make a file of a text, and the folders that it is in. */
static inline void scratch_put(const struct scratch *scratch, const char *name, const char *text)
{
	char *path = scratch_path(scratch, name);

	assert_int_equal(scratch_run("mkdir -p \"$(dirname '%s')\"", path), 0);
	free(path);
	free(scratch_file(scratch, name, text, strlen(text), 0644));
}

/* All that a shell command prints on stdout. It must succeed. */
static inline void scratch_output(struct buffer *output, const char *command)
{
	FILE *stream = popen(command, "re");
	char chunk[4096];
	size_t got;

	assert_non_null(stream);
	while ((got = fread(chunk, 1, sizeof(chunk), stream)) > 0)
		buffer_append(output, chunk, got);
	assert_int_equal(pclose(stream), 0);
}

#endif
