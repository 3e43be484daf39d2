/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a program to the files it would map: see loader.h. The loader is run by loader_run.c. */
#include "system/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/loader_run.h"
#include "system/path_walk.h"
#include "system/regular_file.h"

/* What the kernel reads of a script for its #! line. */
#define SCRIPT_HEAD 256
/* Scripts whose interpreter is a script: the kernel gives up after as many. */
#define SCRIPT_DEPTH 4
#define TIMEOUT_MS 10000
/* More than any honest program maps. */
#define FILES_MAX 4096
#define ARROW " => "
#define ADDRESS_MIN_LENGTH 6 /* " (0x0)" */

struct path_list {
	char **items;
	size_t count, capacity;
};

void loader_list_free(char **paths, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
}

/* Takes `path`, which may be NULL, as the file it leads to; unless it is there, or is no file. */
static void loader_add(struct path_list *list, const char *path)
{
	char *resolved = path ? path_walk_real(path) : NULL;
	size_t i;

	for (i = 0; resolved && i < list->count; i++)
		if (strcmp(list->items[i], resolved) == 0)
			break;
	if (!resolved || i < list->count || i >= FILES_MAX) {
		free(resolved);
		return;
	}
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = resolved;
}

/* The length without " (0xADDRESS)", which ends every line of a mapped file; 0 if it is not there. */
static size_t loader_before_address(const char *line, size_t length)
{
	size_t at = length;

	if (length < ADDRESS_MIN_LENGTH || line[--at] != ')')
		return 0;
	while (at > 0 && strchr("0123456789abcdef", line[at - 1]) && line[at - 1])
		at--;
	if (at == length - 1 || at < strlen(" (0x") || memcmp(line + at - 4, " (0x", 4) != 0)
		return 0;
	return at - 4;
}

char *loader_parse_line(const char *line, size_t length)
{
	const char *arrow, *path;
	size_t path_length;
	char *copy;

	if (!length || line[0] != '\t' || memchr(line, '\0', length))
		return NULL;
	path = line + 1;
	path_length = loader_before_address(path, length - 1);
	arrow = memmem(path, path_length, ARROW, strlen(ARROW));
	if (arrow) {
		path_length -= (size_t)(arrow + strlen(ARROW) - path);
		path = arrow + strlen(ARROW);
	}
	/* A name without a slash is no file: the vdso. */
	if (!path_length || path_length >= PATH_MAX || !memchr(path, '/', path_length))
		return NULL;
	copy = memory_alloc(path_length + 1, 1);
	memcpy(copy, path, path_length);
	return copy;
}

static void loader_parse(struct path_list *list, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;
		char *path = loader_parse_line(text, (size_t)(line_end - text));

		loader_add(list, path);
		free(path);
		text = newline ? newline + 1 : end;
	}
}

/* The first line that is no list entry: the loader's error message. */
static void loader_explain(const struct buffer *output, char *text, size_t size)
{
	const char *at = output->data ? output->data : "";
	size_t length;

	while (*at == '\t') {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	length = strcspn(at, "\n");
	if (length >= size)
		length = size - 1;
	memcpy(text, at, length);
	text[length] = '\0';
}

/* Is a file or folder root's, and writable for root only? */
static bool loader_is_roots(const char *path)
{
	int fd = path_walk(AT_FDCWD, path, 0, 0);
	struct statx status;
	bool is;

	if (fd < 0)
		return false;
	is = !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_UID | STATX_MODE, &status) &&
	     status.stx_uid == 0 && !(status.stx_mode & 022);
	close(fd);
	return is;
}

/* The file and all folders above it. Cuts the path. */
static bool loader_is_roots_path(char *path)
{
	char *slash;

	for (; (slash = strrchr(path, '/')) != NULL; *slash = '\0')
		if (!loader_is_roots(*path ? path : "/"))
			return false;
	return loader_is_roots("/");
}

bool loader_is_system(const char *path)
{
	/* Musl's is a link to its C library. */
	static const char *const names[] = { "ld-linux", "ld-musl-", "ld.so",
					     "ld64.so",	 "ld-2.",    "libc.so" };
	char *real = path_walk_real(path);
	const char *name = real ? strrchr(real, '/') + 1 : "";
	bool is = false;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is |= !strncmp(name, names[i], strlen(names[i]));
	is = is && loader_is_roots_path(real);
	free(real);
	return is;
}

static int loader_refuse(const char *interpreter, const char *program, struct error *error)
{
	return error_set(error, ERROR_NOTHING, -EPERM,
			 "%s names %s as its loader, which is none of the system's (owned by root, "
			 "in folders of root's): it is not run just to list libraries",
			 program, interpreter);
}

/* What to do about a missing right to read the program, or to change the user. */
static const char *loader_advice(const struct loader_rights *rights)
{
	return rights->user ? " (its loader ran as another user; choose one with -u USER)" : "";
}

static int loader_ask(const char *interpreter, const char *program,
		      const struct loader_rights *rights, struct path_list *list,
		      struct error *error)
{
	struct loader_child child = { .interpreter = interpreter, .program = program };
	struct buffer output = { 0 };
	struct user user = { 0 };
	char why[256];
	int status;

	if (rights->system_only && !loader_is_system(interpreter))
		return loader_refuse(interpreter, program, error);
	if (rights->user) {
		status = user_find("/etc", rights->user, &user, error);
		if (status)
			return status;
		child.user = &user;
	}
	status = loader_run(&child, TIMEOUT_MS, &output);
	user_free(&user);
	loader_explain(&output, why, sizeof(why));
	if (status == -ETIMEDOUT)
		error_set(error, ERROR_NOTHING, status, "%s --list %s did not end", interpreter,
			  program);
	else if (status < 0)
		error_set(error, ERROR_NOTHING, status, "cannot run %s --list %s: %s%s",
			  interpreter, program, strerror(-status), loader_advice(rights));
	else if (status > 0)
		status = error_set(error, ERROR_NOTHING, -EIO, "%s --list %s failed: %s%s",
				   interpreter, program, why, loader_advice(rights));
	else
		loader_parse(list, output.data ? output.data : "", output.length);
	buffer_free(&output);
	return status;
}

static int loader_list_elf(int fd, const char *program, const struct loader_rights *rights,
			   struct path_list *list, struct error *error)
{
	char *interpreter = NULL;
	int status = rights->reader.read(rights->reader.context, fd, program, &interpreter, error);

	if (status)
		return status;
	loader_add(list, program);
	if (interpreter && list->count) {
		loader_add(list, interpreter);
		status = loader_ask(interpreter, list->items[0], rights, list, error);
		if (status && rights->may_fail)
			status = 1;
	}
	free(interpreter);
	return status;
}

/*
 * The interpreter that the start of a file names, as the kernel reads it: "#!", blanks, a path. A file that is no
 * ELF file and has no such line is run by the shell. NULL: an ELF file.
 */
static char *loader_script_interpreter(const char head[SCRIPT_HEAD + 1], size_t size)
{
	const char *at = head + 2;
	size_t length;

	if (size >= 4 && memcmp(head, "\177ELF", 4) == 0)
		return NULL;
	if (size < 2 || memcmp(head, "#!", 2) != 0)
		return memory_copy_string(_PATH_BSHELL);
	at += strspn(at, " \t");
	length = strcspn(at, " \t\n");
	return length ? memory_format("%.*s", (int)length, at) : memory_copy_string(_PATH_BSHELL);
}

/* Opens a program; `*ret_interpreter` is what runs it if it is a script, else NULL. */
static int loader_open_program(const char *program, char **ret_interpreter, struct error *error)
{
	char head[SCRIPT_HEAD + 1] = { 0 };
	int fd, status;
	ssize_t size;

	fd = regular_file_open(program, REGULAR_FILE_LINKS);
	if (fd < 0)
		return error_set(error, ERROR_TARGET, fd, "cannot read %s: %s", program,
				 strerror(-fd));
	size = TEMP_FAILURE_RETRY(pread(fd, head, SCRIPT_HEAD, 0));
	if (size < 0) {
		status = error_set(error, ERROR_TARGET, -errno, "cannot read %s: %s", program,
				   strerror(errno));
		close(fd);
		return status;
	}
	*ret_interpreter = loader_script_interpreter(head, (size_t)size);
	return fd;
}

/* Behind scripts to the program that is executed in the end. */
static int loader_resolve(const char *program, const struct loader_rights *rights,
			  struct path_list *list, struct error *error)
{
	char *path = memory_copy_string(program), *interpreter;
	int status = -ELOOP, depth, fd;

	for (depth = 0; depth <= SCRIPT_DEPTH; depth++) {
		fd = loader_open_program(path, &interpreter, error);
		if (fd < 0) {
			status = fd;
			break;
		}
		if (!interpreter)
			status = loader_list_elf(fd, path, rights, list, error);
		close(fd);
		if (!interpreter)
			break;
		free(path);
		path = interpreter;
	}
	if (depth > SCRIPT_DEPTH)
		error_set(error, ERROR_TARGET, status, "%s: too many levels of scripts", program);
	free(path);
	return status;
}

int loader_list_libraries(const char *program, const struct loader_rights *rights,
			  char ***ret_paths, size_t *ret_count, struct error *error)
{
	struct path_list list = { 0 };
	int status = loader_resolve(program, rights, &list, error);

	if (!status && !list.count)
		status = error_set(error, ERROR_TARGET, -ENOENT, "%s has gone", program);
	if (status < 0) {
		loader_list_free(list.items, list.count);
		return status;
	}
	*ret_paths = list.items;
	*ret_count = list.count;
	return status;
}
