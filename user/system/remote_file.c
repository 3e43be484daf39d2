/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See remote_file.h. */
#include "system/remote_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/memory.h"
#include "base/table.h"
#include "system/fd_table.h"
#include "system/mount_list.h"
#include "system/proc_text.h"

#define ANSWER_MS 5000
/* While other mounts do not answer: whoever has many of them does not get 5 seconds for each. */
#define NEXT_ANSWER_MS 500
#define SILENT_MS 60000
#define SILENT_MAX 16
/* Processes that have not ended yet. */
#define OPENERS_MAX 64

static struct {
	uint64_t mount;
	uint64_t until_ns; /* 0 = unused */
} silent[SILENT_MAX];

static pid_t openers[OPENERS_MAX]; /* 0 = unused */

/* The kernel knows the mount of an open file without asking. False if /proc is not there. */
static bool remote_find_mount(int fd, uint64_t *ret_mount)
{
	char *name = memory_format("fdinfo/%d", fd);
	struct buffer text = { 0 };
	const char *line = NULL;

	if (!proc_read_text("/proc", 0, name, &text) && text.data)
		line = strstr(text.data, "mnt_id:");
	if (line)
		*ret_mount = strtoull(line + strlen("mnt_id:"), NULL, 10);
	buffer_free(&text);
	free(name);
	return line != NULL;
}

/* A text of mountinfo, read when it is first needed. */
struct remote_text {
	struct buffer text;
	bool is_read;
};

struct remote_mounts {
	pid_t pid;
	struct remote_text own, theirs;
	struct table kinds; /* by mount: the kind, + 1 */
};

struct remote_mounts *remote_mounts_new(pid_t pid)
{
	struct remote_mounts *mounts = memory_alloc(1, sizeof(*mounts));

	mounts->pid = pid;
	return mounts;
}

void remote_mounts_free(struct remote_mounts *mounts)
{
	if (!mounts)
		return;
	buffer_free(&mounts->own.text);
	buffer_free(&mounts->theirs.text);
	table_free(&mounts->kinds);
	free(mounts);
}

/* "" if it cannot be read. */
static const char *remote_text_get(struct remote_text *text, pid_t pid)
{
	if (!text->is_read && proc_read_text("/proc", pid, "mountinfo", &text->text))
		buffer_clear(&text->text);
	text->is_read = true;
	return text->text.data ? text->text.data : "";
}

/* Files without a name have a mount of the kernel's own, another one if they are of huge pages. */
static bool remote_is_nameless(const struct statx *status, unsigned int flags)
{
	int fd = memfd_create("device", MFD_CLOEXEC | flags);
	struct statx own;
	bool is;

	if (fd < 0)
		return false;
	is = !statx(fd, "", AT_EMPTY_PATH, 0, &own) && own.stx_dev_major == status->stx_dev_major &&
	     own.stx_dev_minor == status->stx_dev_minor;
	close(fd);
	return is;
}

/* Of a mount that no process sees any more, or that other processes see: is its device known? */
static bool remote_is_of_local_device(int path_fd, struct remote_mounts *mounts)
{
	struct statx status;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status))
		return false;
	if (remote_is_nameless(&status, 0) || remote_is_nameless(&status, MFD_HUGETLB))
		return true;
	return mount_list_has_local(remote_text_get(&mounts->own, 0), status.stx_dev_major,
				    status.stx_dev_minor);
}

/* In a user namespace of its own, whoever has made the mount is root there only. */
static bool remote_is_foreign(pid_t pid)
{
	char path[64], theirs[64] = "", ours[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return readlink(path, theirs, sizeof(theirs) - 1) <= 0 ||
	       readlink("/proc/self/ns/user", ours, sizeof(ours) - 1) <= 0 ||
	       strcmp(theirs, ours) != 0;
}

static enum mount_kind remote_mounts_find(struct remote_mounts *mounts, uint64_t mount, int path_fd)
{
	enum mount_kind kind = mount_list_kind(remote_text_get(&mounts->own, 0), mount);

	if (kind == MOUNT_UNKNOWN && mounts->pid > 0) {
		kind = mount_list_kind(remote_text_get(&mounts->theirs, mounts->pid), mount);
		if (kind == MOUNT_REMOTE && remote_is_foreign(mounts->pid))
			kind = MOUNT_REMOTE_OF_USER;
	}
	if (kind != MOUNT_UNKNOWN)
		return kind;
	/* A process in a chroot does not see the mount that its root is on. */
	return remote_is_of_local_device(path_fd, mounts) ? MOUNT_LOCAL : MOUNT_REMOTE;
}

enum mount_kind remote_mounts_kind(struct remote_mounts *mounts, int path_fd)
{
	uintptr_t kind;
	uint64_t mount;

	if (!remote_find_mount(path_fd, &mount))
		return MOUNT_REMOTE_OF_USER;
	kind = (uintptr_t)table_get(&mounts->kinds, mount);
	if (!kind) {
		kind = (uintptr_t)remote_mounts_find(mounts, mount, path_fd) + 1;
		table_put(&mounts->kinds, mount, (void *)kind);
	}
	return (enum mount_kind)(kind - 1);
}

enum mount_kind remote_file_kind(int path_fd, pid_t pid)
{
	struct remote_mounts *mounts = remote_mounts_new(pid);
	enum mount_kind kind = remote_mounts_kind(mounts, path_fd);

	remote_mounts_free(mounts);
	return kind;
}

/* How long to wait for a mount; 0 = not at all. */
static int remote_patience_ms(uint64_t mount)
{
	uint64_t now = clock_now_ns();
	int patience = ANSWER_MS;
	size_t i;

	for (i = 0; i < SILENT_MAX; i++) {
		if (silent[i].until_ns <= now)
			continue;
		if (silent[i].mount == mount)
			return 0;
		patience = NEXT_ANSWER_MS;
	}
	return patience;
}

/* In the place of the one that is tried again first. */
static void remote_note_silent(uint64_t mount)
{
	size_t i, first = 0;

	for (i = 1; i < SILENT_MAX; i++)
		if (silent[i].until_ns < silent[first].until_ns)
			first = i;
	silent[first].mount = mount;
	silent[first].until_ns = deadline_in_ms(SILENT_MS);
}

/* A place for another process, after those that have ended are released. NULL if there is none. */
static pid_t *remote_find_place(void)
{
	pid_t *place = NULL;
	size_t i;

	for (i = 0; i < OPENERS_MAX; i++) {
		if (openers[i] && waitpid(openers[i], NULL, WNOHANG | __WALL))
			openers[i] = 0;
		if (!openers[i])
			place = &openers[i];
	}
	return place;
}

/* A message of the result, with a descriptor if that is one, and what was found out. */
union remote_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static void remote_answer(int socket, int result, bool with_fd, struct remote_work *work)
{
	struct iovec parts[] = { { .iov_base = &result, .iov_len = sizeof(result) },
				 { .iov_base = work->facts, .iov_len = work->facts_size } };
	union remote_control control = { 0 };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (with_fd && result >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &result, sizeof(int));
	}
	(void)!sendmsg(socket, &message, MSG_NOSIGNAL);
}

static int remote_receive(int socket, struct remote_work *work)
{
	union remote_control control = { 0 };
	int result = -EIO, fd = -1;
	struct iovec parts[] = { { .iov_base = &result, .iov_len = sizeof(result) },
				 { .iov_base = work->facts, .iov_len = work->facts_size } };
	struct msghdr message = { .msg_iov = parts,
				  .msg_iovlen = 2,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.room) };

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) !=
	    (ssize_t)(sizeof(result) + work->facts_size))
		return -EIO;
	if (CMSG_FIRSTHDR(&message) && control.header.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.header), sizeof(int));
	if (result < 0 || !work->gives_fd)
		return result;
	/* Without a free number for it there is none. */
	return fd >= 0 ? fd : -EMFILE;
}

/* Whatever it keeps stays open for as long as the server likes: probes, for instance. */
static _Noreturn void remote_run(int socket, struct remote_work *work)
{
	bool own;
	int code = fd_table_keep(work->fd >= 0 ? work->fd : socket, socket, &own);

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "tracer-opener", 0, 0, 0);
	/* A table that is not its own is the tracer's. */
	remote_answer(socket, code ? code : work->run(work), work->gives_fd && !code, work);
	_exit(0);
}

/*
 * As fork(), but the descriptors are shared until the process has a table of its own, so that few are copied. It sends no
 * SIGCHLD at its end. The tracer's handlers of signals are not for it: all signals must be blocked.
 */
static pid_t remote_start(int socket, struct remote_work *work)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
	if (!pid)
		remote_run(socket, work);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int remote_wait(int socket, struct remote_work *work, int patience_ms)
{
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	uint64_t deadline_ns = deadline_in_ms(patience_ms);
	int count;

	do {
		count = poll(&ready, 1, deadline_poll_ms(deadline_ns));
	} while (count < 0 && errno == EINTR);
	return count > 0 ? remote_receive(socket, work) : -ETIMEDOUT;
}

int remote_file_work(struct remote_work *work)
{
	pid_t *place = remote_find_place();
	int ends[2], patience = work->patience_ms, result;
	uint64_t mount = 0;

	if (!place || (!patience && !remote_find_mount(work->fd, &mount)))
		return -EAGAIN;
	if (!patience)
		patience = remote_patience_ms(mount);
	if (!patience)
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	*place = remote_start(ends[1], work);
	result = *place < 0 ? -errno : remote_wait(ends[0], work, patience);
	if (*place < 0)
		*place = 0;
	if (result == -ETIMEDOUT) {
		if (!work->patience_ms)
			remote_note_silent(mount);
		kill(*place, SIGKILL);
	}
	close(ends[0]);
	close(ends[1]);
	return result;
}
