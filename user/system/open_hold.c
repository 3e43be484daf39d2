/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fanotify permission events: see open_hold.h. Events exist for regular files only, so FIFOs and devices are never
 * touched. Each event brings a descriptor, and an open is denied if the reader has no number left for it: so the
 * thread that reads has a descriptor table of its own, which also makes the group end with that thread.
 */
#include "system/open_hold.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/memory.h"
#include "system/fd_table.h"
#include "system/mount_list.h"
#include "system/proc_text.h"

/* Opens that wait at the same time; more wait in the kernel's queue. */
#define HELD_MAX 256

/* Opens wait no longer than this for a tracer that answers none of them. */
#define HELD_NS 10000000000

/* Files that are skipped have their inodes pinned before Linux 5.19: no more than this many. */
#define SKIPPED_MAX 16384

/* Headers of older distributions lack it. */
#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE 0x200
#endif

/* The kernel asks twice about a program: as of one that is executed, then as of any file. */
#define ALL_OPENS (FAN_OPEN_PERM | FAN_OPEN_EXEC_PERM)

/* Programs about which it is going to ask again. */
#define ANSWERED_MAX 64

struct waiting {
	uint64_t id; /* 0 = none */
	uint64_t since_ns;
	pid_t pid;
	bool exec;
	int fd;
};

struct answered {
	pid_t pid; /* 0 = none */
	dev_t device;
	ino_t inode;
};

struct question {
	uint64_t id;
	pid_t pid;
	bool exec;
};

struct answer {
	uint64_t id;
	uint64_t skip;
};

struct open_hold {
	int socket; /* the tracer's end */
	pthread_t thread;
	bool started; /* the thread */
	bool handed_over; /* the group is the thread's alone */
	/* What follows is the thread's once it runs. */
	int group; /* fanotify's */
	int other_end;
	dev_t device; /* of the mount namespace */
	ino_t inode;
	uint64_t last_id, answered_ns;
	size_t skipped, waiting_count;
	struct waiting waiting[HELD_MAX];
	struct answered answered[ANSWERED_MAX]; /* the newest, in turn */
	size_t answered_next;
};

/* Marks */

/* Mounts under another one cannot be reached by a path, so their failures do not matter; the root's does. */
static int hold_mark_mounts(struct open_hold *hold, pid_t pid)
{
	struct buffer text = { 0 };
	int code = proc_read_text("/proc", pid, "mountinfo", &text), marked = -ENOENT;
	const char *at = text.data;
	char *point, *path;

	while (!code && (point = mount_list_next(&at))) {
		path = memory_format("/proc/%d/root%s", (int)pid, point);
		if (!fanotify_mark(hold->group, FAN_MARK_ADD | FAN_MARK_MOUNT, ALL_OPENS, AT_FDCWD,
				   path))
			marked = 0;
		else if (marked)
			marked = -errno;
		free(path);
		free(point);
	}
	buffer_free(&text);
	return code ? code : marked;
}

static int hold_open(struct open_hold *hold)
{
	int ends[2];

	/* Without O_NONBLOCK: an open that another process's lease delays would be denied instead. */
	hold->group = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK |
					    FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS,
				    O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NOATIME);
	if (hold->group < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	hold->socket = ends[0];
	hold->other_end = ends[1];
	return 0;
}

static int hold_refuse(int code, struct error *error)
{
	return error_set(error, ERROR_PERMISSION, code, "fanotify: %s", strerror(-code));
}

int open_hold_new(struct open_hold **ret_hold, struct error *error)
{
	struct open_hold *hold = memory_alloc(1, sizeof(*hold));
	int code;

	hold->group = hold->socket = hold->other_end = -1;
	code = hold_open(hold);
	if (code) {
		open_hold_free(hold);
		return hold_refuse(code, error);
	}
	*ret_hold = hold;
	return 0;
}

int open_hold_mark(struct open_hold *hold, pid_t pid, struct error *error)
{
	int code = mount_namespace_identify(pid, &hold->device, &hold->inode);
	ino_t inode;
	dev_t device;

	if (!code)
		code = mount_namespace_identify(getpid(), &device, &inode);
	/* The tracer would wait for itself. */
	if (!code && device == hold->device && inode == hold->inode)
		code = -EDEADLK;
	if (!code)
		code = hold_mark_mounts(hold, pid);
	return code ? hold_refuse(code, error) : 0;
}

/* The thread */

static void hold_allow(struct open_hold *hold, int fd)
{
	struct fanotify_response response = { .fd = fd, .response = FAN_ALLOW };

	/* First, or who is let go could find the file open once more: it gets no lease on it, and cannot unmount it. */
	close(fd);
	(void)!write(hold->group, &response, sizeof(response));
}

/* The mark goes when the file is modified; a file that is open for writing gets none. */
static void hold_skip(struct open_hold *hold, int fd)
{
	unsigned int flags = FAN_MARK_ADD | FAN_MARK_IGNORED_MASK;

	if (fanotify_mark(hold->group, flags | FAN_MARK_EVICTABLE, ALL_OPENS, fd, NULL) &&
	    errno == EINVAL && hold->skipped < SKIPPED_MAX &&
	    !fanotify_mark(hold->group, flags, ALL_OPENS, fd, NULL))
		hold->skipped++;
}

static bool hold_is_elf(int fd)
{
	unsigned char head[EI_NIDENT + 2];

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	/* The type has two bytes, in either order; one of them is 0. */
	return (head[EI_NIDENT] | head[EI_NIDENT + 1]) == ET_EXEC ||
	       (head[EI_NIDENT] | head[EI_NIDENT + 1]) == ET_DYN;
}

/* Files are also opened from outside, through /proc/PID/root for instance; by the tracer itself, too. */
static bool hold_concerns(const struct open_hold *hold, pid_t pid)
{
	dev_t device;
	ino_t inode;

	return pid > 0 && pid != getpid() && !mount_namespace_identify(pid, &device, &inode) &&
	       device == hold->device && inode == hold->inode;
}

static bool hold_ask(const struct open_hold *hold, const struct waiting *waiting)
{
	struct question question = { .id = waiting->id,
				     .pid = waiting->pid,
				     .exec = waiting->exec };
	struct iovec part = { .iov_base = &question, .iov_len = sizeof(question) };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &waiting->fd, sizeof(int));
	return sendmsg(hold->other_end, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(question);
}

static void hold_remember(struct open_hold *hold, pid_t pid, int fd)
{
	struct answered *answered = &hold->answered[hold->answered_next++ % ANSWERED_MAX];
	struct stat status;

	if (!fstat(fd, &status))
		*answered = (struct answered){ pid, status.st_dev, status.st_ino };
}

/* Has just this been answered? */
static bool hold_knows(struct open_hold *hold, pid_t pid, int fd)
{
	struct stat status;
	size_t i;

	if (fstat(fd, &status))
		return false;
	for (i = 0; i < ANSWERED_MAX; i++) {
		struct answered *answered = &hold->answered[i];

		if (answered->pid != pid || answered->device != status.st_dev ||
		    answered->inode != status.st_ino)
			continue;
		*answered = (struct answered){ 0 };
		return true;
	}
	return false;
}

static void hold_see_open(struct open_hold *hold, const struct waiting *seen)
{
	struct waiting *place = hold->waiting;

	while (place->id)
		place++;
	if (!hold_is_elf(seen->fd)) {
		hold_skip(hold, seen->fd);
	} else if ((seen->exec || !hold_knows(hold, seen->pid, seen->fd)) &&
		   hold_concerns(hold, seen->pid) && hold_ask(hold, seen)) {
		*place = *seen;
		hold->waiting_count++;
		return;
	}
	hold_allow(hold, seen->fd);
}

/* One event at a time: each needs a place. */
static void hold_read_event(struct open_hold *hold)
{
	struct fanotify_event_metadata event;

	if (read(hold->group, &event, sizeof(event)) != (ssize_t)sizeof(event) || event.fd < 0)
		return;
	if (event.mask & ALL_OPENS)
		hold_see_open(hold, &(struct waiting){ .id = ++hold->last_id,
						       .since_ns = clock_now_ns(),
						       .pid = event.pid,
						       .exec = event.mask & FAN_OPEN_EXEC_PERM,
						       .fd = event.fd });
	else
		close(event.fd);
}

static void hold_let_go(struct open_hold *hold, struct waiting *waiting)
{
	hold_allow(hold, waiting->fd);
	waiting->id = 0;
	hold->waiting_count--;
}

/* False when the tracer wants no more. */
static bool hold_read_answer(struct open_hold *hold)
{
	struct answer answer;
	ssize_t size = read(hold->other_end, &answer, sizeof(answer));
	size_t i;

	if (size != (ssize_t)sizeof(answer))
		return size < 0 && (errno == EAGAIN || errno == EINTR);
	hold->answered_ns = clock_now_ns();
	for (i = 0; i < HELD_MAX; i++) {
		if (!answer.id || hold->waiting[i].id != answer.id)
			continue;
		if (answer.skip)
			hold_skip(hold, hold->waiting[i].fd);
		else if (hold->waiting[i].exec)
			hold_remember(hold, hold->waiting[i].pid, hold->waiting[i].fd);
		hold_let_go(hold, &hold->waiting[i]);
	}
	return true;
}

/* Milliseconds until the first one has waited too long, after all that have are let go; -1 = none waits. */
static int hold_check_waiting(struct open_hold *hold)
{
	uint64_t now = clock_now_ns(), next = 0, since;
	size_t i;

	for (i = 0; i < HELD_MAX && hold->waiting_count; i++) {
		since = hold->waiting[i].since_ns;
		if (since < hold->answered_ns)
			since = hold->answered_ns;
		if (!hold->waiting[i].id)
			continue;
		if (since + HELD_NS <= now)
			hold_let_go(hold, &hold->waiting[i]);
		else
			deadline_add(&next, since + HELD_NS);
	}
	return deadline_poll_ms(next);
}

static void hold_answer_all(struct open_hold *hold)
{
	struct pollfd ready[2] = { { .fd = hold->group },
				   { .fd = hold->other_end, .events = POLLIN } };
	int timeout;

	for (;;) {
		timeout = hold_check_waiting(hold);
		ready[0].events = hold->waiting_count < HELD_MAX ? POLLIN : 0;
		ready[0].revents = ready[1].revents = 0;
		if (poll(ready, 2, timeout) < 0 && errno != EINTR)
			return;
		if (ready[1].revents && !hold_read_answer(hold))
			return;
		if (ready[0].revents & POLLIN)
			hold_read_event(hold);
		else if (ready[0].revents)
			return;
	}
}

static void *hold_run(void *context)
{
	struct open_hold *hold = context;
	struct answer started = { 0 };
	bool own;
	int code = fd_table_keep(hold->group, hold->other_end, &own);

	started.skip = (uint64_t)-code;
	if (send(hold->other_end, &started, sizeof(started), MSG_NOSIGNAL) == sizeof(started) &&
	    !code)
		hold_answer_all(hold);
	/* Otherwise they are the tracer's. */
	if (!own)
		return NULL;
	/* The end of the group lets everybody go. */
	close(hold->group);
	close(hold->other_end);
	return NULL;
}

/* The tracer */

static int hold_start_thread(struct open_hold *hold)
{
	sigset_t all, before;
	int code;

	/* Signals are for the thread that waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = -pthread_create(&hold->thread, NULL, hold_run, hold);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	hold->started = !code;
	return code;
}

/* The group must not outlive the thread: no other process may have its descriptor, no later child either. */
static int hold_wait_started(struct open_hold *hold)
{
	struct pollfd ready = { .fd = hold->socket, .events = POLLIN };
	struct answer started;

	while (poll(&ready, 1, -1) < 0 && errno == EINTR)
		;
	if (read(hold->socket, &started, sizeof(started)) != (ssize_t)sizeof(started))
		return -EIO;
	if (started.skip)
		return -(int)started.skip;
	close(hold->group);
	close(hold->other_end);
	hold->handed_over = true;
	return 0;
}

int open_hold_start(struct open_hold *hold, struct error *error)
{
	int code = hold_start_thread(hold);

	if (!code)
		code = hold_wait_started(hold);
	if (code)
		error_set(error, ERROR_PERMISSION, code, "a thread of its own: %s",
			  strerror(-code));
	return code;
}

int open_hold_fd(const struct open_hold *hold)
{
	return hold->socket;
}

bool open_hold_take(struct open_hold *hold, struct held_open *ret_held)
{
	struct question question;
	struct iovec part = { .iov_base = &question, .iov_len = sizeof(question) };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *header;

	if (recvmsg(hold->socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(question))
		return false;
	*ret_held = (struct held_open){
		.id = question.id, .pid = question.pid, .exec = question.exec, .fd = -1
	};
	/* Without a free number for it there is none. */
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&ret_held->fd, CMSG_DATA(header), sizeof(int));
	return true;
}

void open_hold_answer(struct open_hold *hold, const struct held_open *held, bool skip)
{
	struct answer answer = { .id = held->id, .skip = skip };

	(void)!send(hold->socket, &answer, sizeof(answer), MSG_NOSIGNAL);
}

void open_hold_free(struct open_hold *hold)
{
	if (!hold)
		return;
	if (hold->socket >= 0)
		close(hold->socket);
	if (hold->started)
		pthread_join(hold->thread, NULL);
	if (!hold->handed_over && hold->group >= 0)
		close(hold->group);
	if (!hold->handed_over && hold->other_end >= 0)
		close(hold->other_end);
	free(hold);
}
