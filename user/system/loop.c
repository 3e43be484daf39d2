/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See loop.h. */
#include "system/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

int loop_open(struct loop *loop, struct error *error)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return error_set(error, ERROR_PERMISSION, -errno, "cannot wait for events: %s",
				 strerror(errno));
	*loop = (struct loop){ .epoll = fd };
	return 0;
}

void loop_close(struct loop *loop)
{
	if (loop->epoll > 0)
		close(loop->epoll);
	loop->epoll = -1;
}

static int loop_watch(struct loop *loop, struct watch *watch, uint32_t events)
{
	struct epoll_event interest = { .events = events, .data.ptr = watch };

	return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &interest) ? -errno : 0;
}

int loop_add(struct loop *loop, struct watch *watch)
{
	return loop_watch(loop, watch, EPOLLIN);
}

int loop_add_broken(struct loop *loop, struct watch *watch)
{
	return loop_watch(loop, watch, 0);
}

void loop_remove(struct loop *loop, struct watch *watch)
{
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
}

int loop_run(struct loop *loop)
{
	struct epoll_event event;
	struct watch *watch;
	int count;

	while (!loop->stopped) {
		/* One at a time: handling it may remove another. */
		count = epoll_wait(loop->epoll, &event, 1, -1);
		if (count < 0 && errno != EINTR)
			return -errno;
		if (count <= 0)
			continue;
		watch = event.data.ptr;
		watch->handle(watch->context, watch);
	}
	return 0;
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}

int loop_open_signals(const int *signals)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (; *signals; signals++)
		sigaddset(&set, *signals);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int loop_take_signal(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

int loop_open_timer(uint64_t first_ns, uint64_t interval_ns)
{
	struct itimerspec times = { .it_value = clock_timespec(first_ns ? first_ns : 1),
				    .it_interval = clock_timespec(interval_ns) };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int code;

	if (fd < 0)
		return -errno;
	if (!timerfd_settime(fd, 0, &times, NULL))
		return fd;
	code = -errno;
	close(fd);
	return code;
}

uint64_t loop_take_ticks(int fd)
{
	uint64_t ticks;

	return read(fd, &ticks, sizeof(ticks)) == sizeof(ticks) ? ticks : 0;
}

void loop_set_timer(int fd, uint64_t ns)
{
	const struct itimerspec times = { .it_value = clock_timespec(ns) };

	timerfd_settime(fd, 0, &times, NULL);
}
