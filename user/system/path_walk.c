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

/* Headers of older distributions lack it, and kernels before 6.10, which then return ENOSYS. */
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

/* All values of RESOLVE_* up to RESOLVE_CACHED. */
#define WALK_FLAGS_COUNT 64

/* So that each begins at a multiple of its size. */
union walk_flags {
	struct open_how how;
	unsigned char room[32];
};

#define WALK_FLAGS(number)                                                           \
	{                                                                            \
		.how = {.flags = O_PATH | O_CLOEXEC, .resolve = (uint64_t)(number) } \
	}
#define WALK_FLAGS_4(number)                                                    \
	WALK_FLAGS(number), WALK_FLAGS((number) + 1), WALK_FLAGS((number) + 2), \
		WALK_FLAGS((number) + 3)
#define WALK_FLAGS_16(number)                                                         \
	WALK_FLAGS_4(number), WALK_FLAGS_4((number) + 4), WALK_FLAGS_4((number) + 8), \
		WALK_FLAGS_4((number) + 12)

/* By the value of RESOLVE_*. The size is a power of two, and the address a multiple of it. */
static const union walk_flags walk_flags[WALK_FLAGS_COUNT]
	__attribute__((aligned(sizeof(union walk_flags) * WALK_FLAGS_COUNT))) = {
		WALK_FLAGS_16(0),
		WALK_FLAGS_16(16),
		WALK_FLAGS_16(32),
		WALK_FLAGS_16(48),
	};

#define PATIENCE_MS 2000
#define HALVINGS_MAX 5
#define LATE_NS 60000000000u

/* Walks that were late, and when the last one was. */
static unsigned int walks_late;
static uint64_t walks_late_ns;

static int walk_open(int root, const char *path, uint64_t resolve)
{
	int fd;

	if (resolve >= WALK_FLAGS_COUNT)
		return -EINVAL;
	fd = (int)syscall(SYS_openat2, root, path, &walk_flags[resolve].how,
			  sizeof(walk_flags[resolve].how));
	return fd < 0 ? -errno : fd;
}

uint64_t path_walk_fix_flags(uint64_t *ret_mask)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = (uint64_t)walk_flags,
		 end = start + sizeof(walk_flags);

	start -= start % page;
	end += page - 1;
	end -= end % page;
	(void)syscall(SYS_mseal, start, end - start, 0);
	*ret_mask = ~(uint64_t)(sizeof(walk_flags) - sizeof(walk_flags[0]));
	return (uint64_t)walk_flags;
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
