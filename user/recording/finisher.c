/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See finisher.h. */
#include "recording/finisher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/output_file.h"
#include "system/sudo_user.h"

/* Where the process has its descriptors. */
#define FOLDER HELPER_FD
#define FILE_ITSELF (HELPER_FD + 1)

/* What SQLite locks of a file that is open: PENDING_BYTE to the end of SHARED_SIZE. */
#define LOCK_FIRST 0x40000000
#define LOCK_SIZE 512

static const char *const ends[] = { "-wal", "-shm" };

/* A file that the writer has made beside it, and nobody else. */
static bool finisher_is_ours(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

/* Has no program the recording open, and is all data in it? */
static bool finisher_may_remove(const char *log)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_FIRST, .l_len = LOCK_SIZE
	};
	struct stat status;

	if (fcntl(FILE_ITSELF, F_SETLK, &lock))
		return false;
	return fstatat(FOLDER, log, &status, AT_SYMLINK_NOFOLLOW) || !status.st_size;
}

static void finisher_remove(const char *name)
{
	struct stat status;

	if (!fstatat(FOLDER, name, &status, AT_SYMLINK_NOFOLLOW) && finisher_is_ours(&status))
		unlinkat(FOLDER, name, 0);
}

static void finisher_give(const char *name)
{
	int fd = openat(FOLDER, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status) && finisher_is_ours(&status))
		sudo_user_give(fd);
	if (fd >= 0)
		close(fd);
}

static int finisher_act(const void *context, bool asked)
{
	char *names[] = { memory_format("%s%s", (const char *)context, ends[0]),
			  memory_format("%s%s", (const char *)context, ends[1]) };
	const bool removes = asked && finisher_may_remove(names[0]);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (removes)
			finisher_remove(names[i]);
		else
			finisher_give(names[i]);
		free(names[i]);
	}
	sudo_user_give(FILE_ITSELF);
	/* Without the lock, before the writer goes on. */
	close(FILE_ITSELF);
	return 0;
}

int finisher_open(struct helper *finisher, const char *path, struct error *error)
{
	const char *name;
	int fds[2], code = output_file_find(path, &fds[0], &name, error);

	*finisher = (struct helper){ 0 };
	if (code < 0)
		return code;
	fds[1] = output_file_create_in(fds[0], name, path, error);
	code = fds[1] < 0 ? fds[1] : helper_start(finisher, fds, 2, finisher_act, name);
	if (code && fds[1] >= 0)
		error_set(error, ERROR_USAGE, code, "cannot start a process that finishes '%s': %s",
			  path, strerror(-code));
	close(fds[0]);
	/* Before SQLite opens it: to close any descriptor of a file gives up all locks of it. */
	if (fds[1] >= 0)
		close(fds[1]);
	return code;
}

void finisher_close(struct helper *finisher)
{
	helper_ask(finisher);
}
