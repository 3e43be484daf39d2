/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See path_walk.h. What the kernel has in its cache is found without a wait. For the rest, if the mount namespace has any
 * file system that asks a server, another process goes.
 */
#include "system/path_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "base/clock.h"
#include "base/memory.h"
#include "system/mount_list.h"
#include "system/proc_text.h"
#include "system/remote_file.h"

/* Headers of older distributions lack it, and kernels before 5.12, which then return EINVAL. */
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

#define PATIENCE_MS 2000
#define HALVINGS_MAX 5
#define LATE_NS 60000000000u

/* Walks that were late, and when the last one was. */
static unsigned int walks_late;
static uint64_t walks_late_ns;

static int walk_open(int root, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* True if it cannot be known. */
static bool walk_may_wait(pid_t pid)
{
	struct buffer text = { 0 };
	bool may = true;

	if (!proc_read_text("/proc", pid, "mountinfo", &text) && text.data)
		may = mount_list_has_remote(text.data);
	buffer_free(&text);
	return may;
}

struct walk {
	struct remote_work work;
	const char *path;
	uint64_t resolve;
};

static int walk_run(struct remote_work *work)
{
	const struct walk *walk = (const struct walk *)work;

	return walk_open(walk->work.fd, walk->path, walk->resolve);
}

static int walk_elsewhere(int root, const char *path, uint64_t resolve)
{
	struct walk walk = { .work = { .run = walk_run, .fd = root, .gives_fd = true },
			     .path = path,
			     .resolve = resolve };
	int fd;

	if (walks_late && clock_now_ns() - walks_late_ns > LATE_NS)
		walks_late = 0;
	walk.work.patience_ms = PATIENCE_MS >>
				(walks_late < HALVINGS_MAX ? walks_late : HALVINGS_MAX);
	fd = remote_file_work(&walk.work);
	if (fd == -ETIMEDOUT) {
		walks_late++;
		walks_late_ns = clock_now_ns();
	}
	return fd;
}

int path_walk(int root, const char *path, uint64_t resolve, pid_t pid)
{
	int fd = walk_open(root, path, resolve | RESOLVE_CACHED);

	if (fd != -EAGAIN && fd != -EINVAL)
		return fd;
	return walk_may_wait(pid) ? walk_elsewhere(root, path, resolve)
				  : walk_open(root, path, resolve);
}

char *path_walk_name(int fd)
{
	char *link = memory_format("/proc/self/fd/%d", fd), path[PATH_MAX];
	ssize_t length = readlink(link, path, sizeof(path) - 1);

	free(link);
	if (length <= 0)
		return NULL;
	path[length] = '\0';
	return memory_copy_string(path);
}

char *path_walk_real(const char *path)
{
	int fd = path_walk(AT_FDCWD, path, 0, 0);
	char *real = fd >= 0 ? path_walk_name(fd) : NULL;

	if (fd >= 0)
		close(fd);
	return real;
}
