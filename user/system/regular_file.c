/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See regular_file.h. O_PATH looks without opening; only then the very file that was looked at is opened. */
#include "system/regular_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>
#include <linux/openat2.h>

#include "system/cgroup.h"
#include "system/cgroup_memory.h"
#include "system/path_walk.h"
#include "system/proc.h"
#include "system/remote_file.h"

/* Not in the headers of all distributions that this builds on: MFD_NOEXEC_SEAL, MADV_POPULATE_READ. */
#define MEMFD_NOEXEC_SEAL 8u
#define POPULATE_READ 22

#define COPY_BYTES 65536

/* All copies together have no more than this, or this part of what the control group allows. */
#define COPIES_MAX (512u << 20)
#define COPIES_SHARE 16

/* Not in the headers of all distributions that this builds on. */
#define MAGIC_CONFIGFS 0x62656570
#define MAGIC_FUSECTL 0x65735543
#define MAGIC_MQUEUE 0x19800202
#define MAGIC_RESCTRL 0x7655821

/* Files of the kernel are regular files to stat(), but to open or read one may act, or take what another reads. */
static bool regular_file_is_kernel(int path_fd)
{
	static const unsigned long kernel[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	  DEBUGFS_MAGIC,     TRACEFS_MAGIC,
		SECURITYFS_MAGIC, SELINUX_MAGIC,  SMACK_MAGIC,	     CGROUP_SUPER_MAGIC,
		BPF_FS_MAGIC,	  PSTOREFS_MAGIC, EFIVARFS_MAGIC,    CGROUP2_SUPER_MAGIC,
		NSFS_MAGIC,	  BINFMTFS_MAGIC, MAGIC_CONFIGFS,    MAGIC_FUSECTL,
		MAGIC_MQUEUE,	  MAGIC_RESCTRL,  XENFS_SUPER_MAGIC,
	};
	struct statfs status;
	size_t i;

	/* All of the kernel's have an answer; a server may have none. */
	if (fstatfs(path_fd, &status))
		return errno != ENOSYS;
	for (i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++)
		if ((unsigned long)status.f_type == kernel[i])
			return true;
	return false;
}

static int regular_file_open_link(int path_fd)
{
	struct stat status;
	char link[64];
	int fd;

	if (fstat(path_fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || regular_file_is_kernel(path_fd))
		return -EACCES;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* Where the kernel maps it is the only way to learn the device and inode that /proc/PID/maps has. Allocates no memory. */
static void regular_file_describe(int fd, struct file_origin *origin)
{
	if (fstat(fd, &origin->status) || !proc_identify_file(fd, &origin->device, &origin->inode))
		origin->status.st_ino = origin->inode = 0;
}

struct copying {
	struct remote_work work;
	uint64_t most;
	struct file_origin origin;
};

/* A file without a name, of this size. */
static int copying_create(uint64_t size)
{
	int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING | MEMFD_NOEXEC_SEAL);

	/* Before Linux 6.3. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 || ftruncate(fd, (off_t)size) ? -errno : fd;
}

/* Returns what there was at `offset`, at most `size` bytes, or a negative errno. Zeros need no memory. */
static ssize_t copying_copy_part(int from, int to, off_t offset, size_t size)
{
	static char part[COPY_BYTES];
	ssize_t got = pread(from, part, size < COPY_BYTES ? size : COPY_BYTES, offset);

	if (got <= 0)
		return got < 0 ? -errno : 0;
	if (part[0] || memcmp(part, part + 1, (size_t)got - 1) != 0)
		got = pwrite(to, part, (size_t)got, offset);
	return got < 0 ? -errno : got;
}

static int copying_copy(int from, uint64_t size)
{
	int to = copying_create(size);
	uint64_t done = 0;
	ssize_t got = 1;

	for (; to >= 0 && got > 0 && done < size; done += (uint64_t)got) {
		got = copying_copy_part(from, to, (off_t)done, size - done);
		if (got < 0)
			return (int)got;
	}
	/* Whoever gets it, a worker for instance, cannot change it. */
	if (to >= 0 &&
	    fcntl(to, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return to;
}

/* In a process of its own, where nothing is closed: it ends after it. */
static int copying_run(struct remote_work *work)
{
	struct copying *copying = (struct copying *)work;
	int fd = regular_file_open_link(work->fd);

	if (fd < 0)
		return fd;
	regular_file_describe(fd, &copying->origin);
	if ((uint64_t)copying->origin.status.st_size > copying->most)
		return -EFBIG;
	return copying_copy(fd, (uint64_t)copying->origin.status.st_size);
}

static int regular_file_copy(int path_fd, uint64_t most, struct file_origin *origin)
{
	struct copying copying = {
		.work = { .run = copying_run,
			  .fd = path_fd,
			  .gives_fd = true,
			  .facts = &copying.origin,
			  .facts_size = sizeof(copying.origin) },
		.most = most,
	};
	int fd = remote_file_work(&copying.work);

	origin->status = copying.origin.status;
	origin->device = copying.origin.device;
	origin->inode = copying.origin.inode;
	return fd;
}

uint64_t regular_file_copies_max(void)
{
	static uint64_t most;

	if (!most)
		most = cgroup_memory_limit("/proc", CGROUP_ROOT) / COPIES_SHARE;
	if (most > COPIES_MAX)
		most = COPIES_MAX;
	return most;
}

int regular_file_reopen_as(int path_fd, pid_t pid, uint64_t most, struct file_origin *ret_origin)
{
	enum mount_kind kind;
	int fd;

	*ret_origin = (struct file_origin){ 0 };
	if (path_fd < 0)
		return path_fd;
	kind = remote_file_kind(path_fd, pid);
	if (kind == MOUNT_LOCAL) {
		fd = regular_file_open_link(path_fd);
		if (fd >= 0)
			regular_file_describe(fd, ret_origin);
		close(path_fd);
		return fd;
	}
	fd = regular_file_copy(path_fd, most, ret_origin);
	ret_origin->of_user = kind == MOUNT_REMOTE_OF_USER;
	if (fd >= 0)
		ret_origin->path_fd = path_fd;
	else
		close(path_fd);
	return fd;
}

int regular_file_reopen(int path_fd, pid_t pid)
{
	struct file_origin origin;
	int fd;

	if (path_fd < 0)
		return path_fd;
	if (remote_file_kind(path_fd, pid) == MOUNT_LOCAL)
		fd = regular_file_open_link(path_fd);
	else
		fd = regular_file_copy(path_fd, regular_file_copies_max() / 2, &origin);
	close(path_fd);
	return fd;
}

const char *regular_file_failure(const char *path, int code)
{
	struct stat status;

	if (code == -EACCES && !stat(path, &status) && !S_ISREG(status.st_mode))
		return "it is not a regular file";
	return strerror(-code);
}

int regular_file_open(const char *path, enum regular_file_links links)
{
	uint64_t resolve = RESOLVE_NO_MAGICLINKS;

	if (links == REGULAR_FILE_NO_LINKS)
		resolve |= RESOLVE_NO_SYMLINKS;
	return regular_file_reopen(path_walk(AT_FDCWD, path, resolve, 0), 0);
}

int regular_file_keep_elf(int fd)
{
	char magic[SELFMAG];

	if (fd < 0)
		return -1;
	if (pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG))
		return fd;
	close(fd);
	return -1;
}

/* The page of each offset, which is one of the file's pages. A page that has been read is not asked for again. */
struct warming {
	struct remote_work work;
	const uint64_t *offsets;
	size_t count;
};

static int warming_touch(int fd, uint64_t offset, uint64_t page_size)
{
	void *page = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE, fd,
			  (off_t)(offset - offset % page_size));
	char byte;
	int code = 0;

	if (page == MAP_FAILED)
		return -errno;
	if (madvise(page, page_size, POPULATE_READ)) {
		/* Before Linux 5.14; where it has no page, a read through the same cache fails without a signal. */
		if (errno != EINVAL || pread(fd, &byte, 1, (off_t)offset) != 1)
			code = -EIO;
	}
	munmap(page, page_size);
	return code;
}

static int warming_run(struct remote_work *work)
{
	const struct warming *warming = (const struct warming *)work;
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = regular_file_open_link(work->fd), code = fd < 0 ? fd : 0;
	size_t i;

	for (i = 0; i < warming->count && !code; i++)
		code = warming_touch(fd, warming->offsets[i], page_size);
	return code;
}

int regular_file_warm(int path_fd, const uint64_t *offsets, size_t count)
{
	struct warming warming = { .work = { .run = warming_run, .fd = path_fd },
				   .offsets = offsets,
				   .count = count };

	return remote_file_work(&warming.work);
}

enum mapped_kind regular_file_mapped_kind_in(int path_fd, struct remote_mounts *mounts)
{
	struct statx status;
	struct statfs system;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) ||
	    !S_ISREG(status.stx_mode))
		return MAPPED_DEVICE;
	if (remote_mounts_kind(mounts, path_fd) != MOUNT_LOCAL)
		return MAPPED_REMOTE;
	if (regular_file_is_kernel(path_fd))
		return MAPPED_DEVICE;
	return fstatfs(path_fd, &system) || system.f_type != HUGETLBFS_MAGIC ? MAPPED_LOCAL
									     : MAPPED_HUGE;
}

bool regular_file_is_unchanged_since(int path_fd, int64_t seconds)
{
	struct statfs system;
	struct statx status;

	return !fstatfs(path_fd, &system) && system.f_type != TMPFS_MAGIC &&
	       !statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MTIME, &status) &&
	       status.stx_mask & STATX_MTIME && status.stx_mtime.tv_sec < seconds;
}

enum mapped_kind regular_file_mapped_kind(int path_fd, pid_t pid)
{
	struct remote_mounts *mounts = remote_mounts_new(pid);
	enum mapped_kind kind = regular_file_mapped_kind_in(path_fd, mounts);

	remote_mounts_free(mounts);
	return kind;
}
