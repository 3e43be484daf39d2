/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See end_signals.h. The thread is woken by a signal as well: nothing else can be waited for together with signals. */
#include "system/end_signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "system/privilege.h"

#define PATIENCE_SECONDS 5

/* timeout(1) sends a signal to the process and to its group: so soon after the first, it is the same request. */
#define SAME_NS 200000000ull

/* To the thread. */
#define SIGNAL_DROP (SIGRTMIN + 1)

struct end_signals {
	pid_t process, caller;
	uint64_t patience_ns;
	int status;
	unsigned int user; /* to be, when privileges are dropped */
	sem_t dropped;
};

/* When the end becomes urgent, a time of clock_now_ns(); 0 = no end was requested. There is one thread for the program. */
static _Atomic uint64_t end_urgent_ns;

/* For the program as well. */
static void (*_Atomic end_last)(void);

static sigset_t end_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGNAL_DROP);
	return set;
}

/* Without a wait for who reads the messages. */
static _Noreturn void end_at_once(const struct end_signals *signals, const char *why)
{
	struct pollfd messages = { .fd = STDERR_FILENO, .events = POLLOUT };
	void (*last)(void) = atomic_load(&end_last);
	struct buffer line = { 0 };

	if (last)
		last();
	buffer_printf(&line, "tracer: %s: ended without the last report\n", why);
	if (poll(&messages, 1, 0) == 1 &&
	    write(STDERR_FILENO, line.data, line.length) != (ssize_t)line.length)
		_exit(signals->status);
	_exit(signals->status);
}

/* The next signal that asks for the end; 0 if none has come until `until_ns`, which is 0 for ever. */
static int end_take(struct end_signals *signals, uint64_t until_ns)
{
	const sigset_t set = end_set();
	struct timespec left;
	int number = -1;
	uint64_t now;

	while (number < 0) {
		now = clock_now_ns();
		if (until_ns && now >= until_ns)
			return 0;
		left = clock_timespec(until_ns - now);
		number = sigtimedwait(&set, NULL, until_ns ? &left : NULL);
		if (number != SIGNAL_DROP)
			continue;
		privileges_drop_all(signals->user);
		sem_post(&signals->dropped);
		number = -1;
	}
	return number;
}

static void *end_run(void *context)
{
	struct end_signals *signals = context;
	int number = end_take(signals, 0);
	uint64_t first_ns = clock_now_ns();
	char why[128];

	atomic_store(&end_urgent_ns, first_ns + signals->patience_ns / 5 * 2);
	syscall(SYS_tgkill, signals->process, signals->caller, end_signals_number());
	snprintf(why, sizeof(why), "not at an end %u seconds after signal %d (%s)",
		 (unsigned int)(signals->patience_ns / 1000000000), number, strsignal(number));
	while ((number = end_take(signals, first_ns + signals->patience_ns)))
		if (number != SIGHUP && clock_now_ns() - first_ns > SAME_NS)
			end_at_once(signals, "a second signal has come");
	end_at_once(signals, why);
}

static uint64_t end_patience(void)
{
	const char *text = getenv("TRACER_END_SECONDS");
	unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;

	return (seconds && seconds < 86400 ? seconds : PATIENCE_SECONDS) * 1000000000ull;
}

unsigned int end_signals_slowness(void)
{
	uint64_t times = end_patience() / (PATIENCE_SECONDS * 1000000000ull);

	return times ? (unsigned int)times : 1;
}

int end_signals_open(int status, struct end_signals **ret_signals, struct error *error)
{
	struct end_signals *signals = memory_alloc(1, sizeof(*signals));
	sigset_t set = end_set(), all, before;
	pthread_t thread;
	int code;

	*signals = (struct end_signals){ .process = getpid(),
					 .caller = (pid_t)syscall(SYS_gettid),
					 .patience_ns = end_patience(),
					 .status = status };
	sem_init(&signals->dropped, 0, 0);
	sigaddset(&set, end_signals_number());
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* What is blocked later is for other threads, too. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, NULL, end_run, signals);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code) {
		pthread_detach(thread);
		*ret_signals = signals;
		return 0;
	}
	free(signals);
	return error_set(error, ERROR_PERMISSION, -code, "cannot wait for signals: %s",
			 strerror(code));
}

int end_signals_number(void)
{
	return SIGRTMIN;
}

bool end_signals_are_urgent(void)
{
	uint64_t urgent_ns = atomic_load(&end_urgent_ns);

	return urgent_ns && clock_now_ns() >= urgent_ns;
}

bool end_signals_are_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, end_signals_number()) == 1;
}

void end_signals_set_last(void (*last)(void))
{
	atomic_store(&end_last, last);
}

void end_signals_drop_privileges(struct end_signals *signals, unsigned int user)
{
	signals->user = user;
	if (kill(getpid(), SIGNAL_DROP))
		return;
	while (sem_wait(&signals->dropped) && errno == EINTR)
		;
}
