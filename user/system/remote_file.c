/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See remote_file.h. */
#include "system/remote_file.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
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
	int64_t until_ms; /* 0 = unused */
} silent[SILENT_MAX];

static pid_t openers[OPENERS_MAX]; /* 0 = unused */

static int64_t remote_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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

static enum mount_kind remote_kind_of(pid_t pid, uint64_t mount)
{
	struct buffer text = { 0 };
	enum mount_kind kind = MOUNT_UNKNOWN;

	if (!proc_read_text("/proc", pid, "mountinfo", &text) && text.data)
		kind = mount_list_kind(text.data, mount);
	buffer_free(&text);
	return kind;
}

bool remote_file_is(int path_fd, pid_t pid)
{
	enum mount_kind kind;
	uint64_t mount;

	if (!remote_find_mount(path_fd, &mount))
		return true;
	kind = remote_kind_of(0, mount);
	if (kind == MOUNT_UNKNOWN && pid > 0)
		kind = remote_kind_of(pid, mount);
	return kind != MOUNT_LOCAL;
}

/* How long to wait for a mount; 0 = not at all. */
static int remote_patience_ms(uint64_t mount)
{
	int64_t now = remote_now_ms();
	int patience = ANSWER_MS;
	size_t i;

	for (i = 0; i < SILENT_MAX; i++) {
		if (silent[i].until_ms <= now)
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
		if (silent[i].until_ms < silent[first].until_ms)
			first = i;
	silent[first].mount = mount;
	silent[first].until_ms = remote_now_ms() + SILENT_MS;
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

/* A message of one int, the result, with a descriptor if that is one. */
union remote_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static void remote_answer(int socket, int result)
{
	struct iovec part = { .iov_base = &result, .iov_len = sizeof(result) };
	union remote_control control = { 0 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (result >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &result, sizeof(int));
	}
	(void)!sendmsg(socket, &message, MSG_NOSIGNAL);
}

static int remote_receive(int socket)
{
	union remote_control control = { 0 };
	int result = -EIO, fd = -1;
	struct iovec part = { .iov_base = &result, .iov_len = sizeof(result) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.room) };

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != (ssize_t)sizeof(result))
		return -EIO;
	if (CMSG_FIRSTHDR(&message) && control.header.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.header), sizeof(int));
	/* Without a free number for it there is none. */
	return result < 0 ? result : fd >= 0 ? fd : -EMFILE;
}

/* Whatever it keeps stays open for as long as the server likes: probes, for instance. */
static _Noreturn void remote_run(int path_fd, int socket, int (*open_file)(int path_fd))
{
	bool own;
	int code = fd_table_keep(path_fd, socket, &own);

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "tracer-opener", 0, 0, 0);
	/* A table that is not its own is the tracer's. */
	remote_answer(socket, code ? code : open_file(path_fd));
	_exit(0);
}

/*
 * As fork(), but the descriptors are shared until the process has a table of its own, so that few are copied. It sends no
 * SIGCHLD at its end. The tracer's handlers of signals are not for it: all signals must be blocked.
 */
static pid_t remote_start(int path_fd, int socket, int (*open_file)(int path_fd))
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
	if (!pid)
		remote_run(path_fd, socket, open_file);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int remote_wait(int socket, int patience_ms)
{
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	int64_t until = remote_now_ms() + patience_ms, left;
	int count;

	do {
		left = until - remote_now_ms();
		count = poll(&ready, 1, left > 0 ? (int)left : 0);
	} while (count < 0 && errno == EINTR);
	return count > 0 ? remote_receive(socket) : -ETIMEDOUT;
}

int remote_file_open(int path_fd, int (*open_file)(int path_fd))
{
	pid_t *place = remote_find_place();
	uint64_t mount = 0;
	int ends[2], patience, result;

	if (!remote_find_mount(path_fd, &mount) || !place)
		return -EAGAIN;
	patience = remote_patience_ms(mount);
	if (!patience)
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	*place = remote_start(path_fd, ends[1], open_file);
	result = *place < 0 ? -errno : remote_wait(ends[0], patience);
	if (*place < 0)
		*place = 0;
	if (result == -ETIMEDOUT) {
		remote_note_silent(mount);
		kill(*place, SIGKILL);
	}
	close(ends[0]);
	close(ends[1]);
	return result;
}
