/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that wait in one system call each, and count how often it fails with EINTR. Another one is never at rest, and a block is lost, so
 * that whoever looks for lost blocks has a reason for a stop. Prints the counts, a JSON object on a line, at each line that it reads.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONG_S 1000

static const struct timespec long_time = { .tv_sec = LONG_S };
static int semaphores, messages;

static int empty_pipe(void)
{
	int ends[2];

	return pipe(ends) ? -1 : ends[0];
}

static int wait_read(void)
{
	char byte;

	return (int)read(empty_pipe(), &byte, 1);
}

static int wait_nanosleep(void)
{
	return nanosleep(&long_time, NULL);
}

static int wait_poll(void)
{
	struct pollfd fd = { .fd = empty_pipe(), .events = POLLIN };

	return poll(&fd, 1, LONG_S * 1000);
}

static int wait_select(void)
{
	struct timeval time = { .tv_sec = LONG_S };

	return select(0, NULL, NULL, NULL, &time);
}

static int wait_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_create1(0), &event, 1, LONG_S * 1000);
}

static int wait_futex(void)
{
	static uint32_t word;

	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &long_time, NULL, 0);
}

static int wait_sem(void)
{
	sem_t sem;

	sem_init(&sem, 0, 0);
	return sem_wait(&sem);
}

static int wait_accept(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr address = { .sa_family = AF_UNIX };

	/* A name of the system's choice. */
	if (bind(fd, &address, sizeof(address.sa_family)) || listen(fd, 1))
		return 0;
	return accept(fd, NULL, NULL);
}

static int wait_recv(void)
{
	int ends[2];
	char byte;

	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? 0 : (int)recv(ends[0], &byte, 1, 0);
}

static int wait_recv_timeout(void)
{
	const struct timeval time = { .tv_sec = LONG_S };
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)))
		return 0;
	return (int)recv(ends[0], &byte, 1, 0);
}

static int wait_semop(void)
{
	struct sembuf take = { .sem_op = -1 };

	return semop(semaphores, &take, 1);
}

static int wait_msgrcv(void)
{
	char message[64];

	return (int)msgrcv(messages, message, sizeof(message) - sizeof(long), 0, 0);
}

static int wait_sigtimedwait(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigaddset(&none, SIGUSR2);
	return sigtimedwait(&none, NULL, &long_time);
}

static int wait_inotify(void)
{
	char event[256];

	return (int)read(inotify_init1(0), event, sizeof(event));
}

static struct call {
	const char *name;
	int (*wait)(void);
	unsigned int interrupted;
} calls[] = {
	{ "read", wait_read, 0 },
	{ "nanosleep", wait_nanosleep, 0 },
	{ "poll", wait_poll, 0 },
	{ "select", wait_select, 0 },
	{ "epoll_wait", wait_epoll, 0 },
	{ "futex", wait_futex, 0 },
	{ "sem_wait", wait_sem, 0 },
	{ "accept", wait_accept, 0 },
	{ "recv", wait_recv, 0 },
	{ "recv with a timeout", wait_recv_timeout, 0 },
	{ "semop", wait_semop, 0 },
	{ "msgrcv", wait_msgrcv, 0 },
	{ "sigtimedwait", wait_sigtimedwait, 0 },
	{ "read of inotify", wait_inotify, 0 },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void *wait_forever(void *context)
{
	struct call *call = context;

	while (call->wait() < 0 && errno == EINTR)
		__atomic_add_fetch(&call->interrupted, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *move_forever(void *context)
{
	const struct timespec short_time = { .tv_nsec = 200000 };

	while (!context)
		nanosleep(&short_time, NULL);
	return NULL;
}

static void lose(void)
{
	void *volatile block = malloc(5000);

	block = NULL;
	(void)block;
}

int main(void)
{
	pthread_t thread;
	char line[16];
	size_t i;

	semaphores = semget(IPC_PRIVATE, 1, 0600);
	messages = msgget(IPC_PRIVATE, 0600);
	lose();
	for (i = 0; i < CALLS; i++)
		if (pthread_create(&thread, NULL, wait_forever, &calls[i]))
			return 1;
	if (pthread_create(&thread, NULL, move_forever, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (i = 0; i < CALLS; i++)
			printf("%s\"%s\": %u", i ? ", " : "{", calls[i].name,
			       __atomic_load_n(&calls[i].interrupted, __ATOMIC_RELAXED));
		puts("}");
		fflush(stdout);
	}
	semctl(semaphores, 0, IPC_RMID);
	msgctl(messages, IPC_RMID, NULL);
	return 0;
}
