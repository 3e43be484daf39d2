/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See output_file.h. The kernel can do most of it (fs.protected_symlinks, fs.protected_regular, fs.protected_fifos), but not
 * every system asks it to.
 */
#include "system/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/memory.h"
#include "system/sudo_user.h"

#define LINKS_MAX 40
/* A file that others remove as soon as it is found is tried again so often. */
#define TRIES_MAX 10
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* The way to a folder, as far as it has been gone. */
struct output_way {
	int at; /* O_PATH */
	char *rest; /* owned */
	unsigned int links;
};

/* May what has this owner be trusted to be meant, in this folder? */
static bool output_is_trusted(const struct stat *status, int folder)
{
	struct stat above;

	if (status->st_uid == geteuid() || status->st_uid == 0)
		return true;
	return !fstat(folder, &above) && status->st_uid == above.st_uid;
}

static bool output_is_shared(int folder)
{
	struct stat status;

	return fstat(folder, &status) || status.st_mode & (S_IWGRP | S_IWOTH);
}

static int output_go(struct output_way *way, int next)
{
	if (next < 0)
		return -errno;
	close(way->at);
	way->at = next;
	return 0;
}

/* Go on where a link leads to: `link` is a descriptor of it. */
static int output_follow(struct output_way *way, int link)
{
	char target[PATH_MAX], *rest;
	ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);

	if (length <= 0)
		return length < 0 ? -errno : -ENOENT;
	target[length] = '\0';
	if (++way->links > LINKS_MAX)
		return -ELOOP;
	rest = memory_format("%s/%s", target, way->rest);
	free(way->rest);
	way->rest = rest;
	return *target == '/' ? output_go(way, open("/", FOLDER_FLAGS)) : 0;
}

/* A part of the path that is there as `part`, an O_PATH descriptor, which is closed or kept. */
static int output_enter(struct output_way *way, const char *name, int part)
{
	struct statfs system;
	struct stat status;
	int code;

	if (fstat(part, &status) || !S_ISLNK(status.st_mode))
		return output_go(way, part);
	/* Links of the kernel's do not lead where they read. */
	if (!fstatfs(part, &system) && (unsigned long)system.f_type == PROC_SUPER_MAGIC)
		code = output_go(way, openat(way->at, name, FOLDER_FLAGS));
	else if (output_is_shared(way->at) && !output_is_trusted(&status, way->at))
		code = -EPERM;
	else
		code = output_follow(way, part);
	close(part);
	return code;
}

/* Returns an O_PATH descriptor of the folder, or a negative errno: -EPERM for a link that is not trusted. */
static int output_open_folder(const char *path)
{
	struct output_way way = { .rest = memory_copy_string(path) };
	int code = 0, part;

	way.at = open(*path == '/' ? "/" : ".", FOLDER_FLAGS);
	if (way.at < 0)
		code = -errno;
	while (!code && *way.rest) {
		size_t length = strcspn(way.rest, "/");
		size_t next = length + strspn(way.rest + length, "/");
		char *name = memory_format("%.*s", (int)length, way.rest);

		memmove(way.rest, way.rest + next, strlen(way.rest + next) + 1);
		part = *name ? openat(way.at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (*name)
			code = part < 0 ? -errno : output_enter(&way, name, part);
		free(name);
	}
	free(way.rest);
	if (code && way.at >= 0)
		close(way.at);
	return code ? code : way.at;
}

static int output_refuse(const char *path, int code, struct error *error)
{
	if (code == -ENXIO)
		return error_set(error, ERROR_USAGE, code,
				 "cannot write to '%s': it is a FIFO or a socket that nobody reads",
				 path);
	if (code == -EEXIST)
		return error_set(error, ERROR_USAGE, code,
				 "will not overwrite '%s': remove it, or name another file", path);
	if (code == -ELOOP)
		return error_set(
			error, ERROR_USAGE, code,
			"will not write to '%s': it is a symbolic link; name the file itself, "
			"or '-' for standard output",
			path);
	return error_set(error, ERROR_USAGE, code, "cannot write to '%s': %s", path,
			 strerror(-code));
}

/* What was opened: is it ours to write to? 1 = a regular file, 0 = another one. */
static int output_check(int fd, int folder, const char *path, struct error *error)
{
	struct stat status;

	if (fstat(fd, &status))
		return output_refuse(path, -errno, error);
	if ((S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) &&
	    !output_is_trusted(&status, folder) && !sudo_user_is(status.st_uid))
		return error_set(error, ERROR_USAGE, -EPERM,
				 "will not write to '%s': it belongs to another user (uid %u); "
				 "remove it, or name another file",
				 path, status.st_uid);
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		return error_set(error, ERROR_USAGE, -EPERM,
				 "will not write to '%s': the file has other names, too; remove "
				 "this one, or name another file",
				 path);
	return S_ISREG(status.st_mode);
}

/* As output_check; then it is emptied. */
static int output_take(int fd, int folder, const char *path, struct error *error)
{
	int code = output_check(fd, folder, path, error);

	if (code > 0 && ftruncate(fd, 0))
		return output_refuse(path, -errno, error);
	return code < 0 ? code : 0;
}

/* A file that was not there before, or else, unless with O_EXCL, the one that is. Returns a descriptor or a negative errno. */
static int output_try(int folder, const char *name, int flags, bool *ret_new)
{
	/* Without O_NONBLOCK the open of a FIFO would wait for a reader, and signals are blocked. */
	const int all = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int tries = 0, fd;

	do {
		*ret_new = true;
		fd = openat(folder, name, all | O_CREAT | O_EXCL, 0600);
		if (fd >= 0 || errno != EEXIST || flags & O_EXCL)
			break;
		*ret_new = false;
		fd = openat(folder, name, all);
	} while (fd < 0 && errno == ENOENT && ++tries < TRIES_MAX);
	return fd < 0 ? -errno : fd;
}

static int output_open_in(int folder, const char *name, int flags, const char *path, bool *ret_new,
			  struct error *error)
{
	int fd = output_try(folder, name, flags, ret_new);
	int code = fd < 0 ? output_refuse(path, fd, error) : output_take(fd, folder, path, error);

	if (code && fd >= 0)
		close(fd);
	return code ? code : fd;
}

/* Returns an O_PATH descriptor of the folder of `path`, or a negative errno with `error` filled. */
static int output_open_above(const char *path, const char **ret_name, struct error *error)
{
	const char *slash = strrchr(path, '/');
	char *above = slash ? memory_format("%.*s", (int)(slash - path + 1), path)
			    : memory_copy_string("");
	int folder = output_open_folder(above);

	*ret_name = slash ? slash + 1 : path;
	free(above);
	if (folder == -EPERM)
		return error_set(error, ERROR_USAGE, folder,
				 "will not write to '%s': a symbolic link on the way to it belongs "
				 "to another user; name the folder that is meant",
				 path);
	if (folder < 0)
		return output_refuse(path, folder, error);
	return folder;
}

static int output_open_path(const char *path, int flags, struct error *error)
{
	const char *name;
	int folder = output_open_above(path, &name, error), fd;
	bool is_new;

	if (folder < 0)
		return folder;
	fd = output_open_in(folder, name, flags, path, &is_new, error);
	if (fd >= 0 && is_new)
		sudo_user_give(fd);
	close(folder);
	return fd;
}

int output_file_open(const char *path, struct error *error)
{
	return output_open_path(path, 0, error);
}

int output_file_create(const char *path, struct error *error)
{
	return output_open_path(path, O_EXCL, error);
}

int output_file_find(const char *path, int *ret_folder, const char **ret_name, struct error *error)
{
	struct stat status;
	int code = 1, fd;

	*ret_folder = output_open_above(path, ret_name, error);
	if (*ret_folder < 0)
		return *ret_folder;
	fd = openat(*ret_folder, *ret_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		code = output_refuse(path, -errno, error);
	else if (fd >= 0 && !fstat(fd, &status) && S_ISLNK(status.st_mode))
		code = output_refuse(path, -ELOOP, error);
	else if (fd >= 0)
		code = output_check(fd, *ret_folder, path, error);
	if (fd >= 0)
		close(fd);
	if (code < 0)
		close(*ret_folder);
	return code;
}

int output_file_create_in(int folder, const char *name, const char *path, struct error *error)
{
	bool is_new;

	return output_open_in(folder, name, O_EXCL, path, &is_new, error);
}
