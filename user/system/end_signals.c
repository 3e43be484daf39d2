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
#include "base/cpu_delay.h"
#include "base/memory.h"
#include "system/privilege.h"

#define PATIENCE_SECONDS 5

/* On a busy machine, waits for a CPU do not count, up to so many times the patience. */
#define BUSY_TIMES 4

/* timeout(1) sends a signal to the process and to its group: so soon after the first, it is the same request. */
#define SAME_NS 200000000ull

/* To the thread. */
#define SIGNAL_DROP (SIGRTMIN + 1)

struct end_signals {
	pid_t process, caller;
	uint64_t patience_ns;
	uint64_t first_ns; /* when the first signal came */
	struct cpu_delay delay; /* of the caller, until then */
	int status;
	unsigned int user; /* to be, when privileges are dropped */
	sem_t dropped;
};

/* When the end becomes urgent, a time of clock_now_ns(); 0 = no end was requested. There is one thread for the program. */
static _Atomic uint64_t end_urgent_ns;

/* The same, with the first signal; NULL = none has come. */
static struct end_signals *_Atomic end_requested;

/* How far the program is, or, once all results are written, its exit status. */
enum { END_BEFORE_RESULTS = -2, END_BEFORE_REPORT = -1 };
static _Atomic int end_status = END_BEFORE_RESULTS;

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
	const int status = atomic_load(&end_status);
	struct buffer line = { 0 };

	if (last)
		last();
	if (status >= 0)
		_exit(status);
	buffer_printf(&line, "tracer: %s: ended %s\n", why,
		      status == END_BEFORE_REPORT ? "without the last report"
						  : "before there was anything to report");
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

/* When the caller has had its time for an orderly end. Any thread may ask. */
static uint64_t end_deadline(const struct end_signals *signals)
{
	const bool has_results = atomic_load(&end_status) != END_BEFORE_RESULTS;
	const uint64_t most_ns = has_results ? signals->patience_ns * (BUSY_TIMES - 1) : 0;
	struct cpu_delay now = signals->delay;
	const uint64_t waited_ns = (uint64_t)(cpu_delay_read(&now) - signals->delay.ns);

	return signals->first_ns + signals->patience_ns +
	       (waited_ns < most_ns ? waited_ns : most_ns);
}

static void *end_run(void *context)
{
	struct end_signals *signals = context;
	int number = end_take(signals, 0);
	char why[128];

	signals->first_ns = clock_now_ns();
	cpu_delay_read(&signals->delay);
	atomic_store(&end_requested, signals);
	atomic_store(&end_urgent_ns, signals->first_ns + signals->patience_ns / 5 * 2);
	syscall(SYS_tgkill, signals->process, signals->caller, end_signals_number());
	snprintf(why, sizeof(why), "not at an end %u seconds after signal %d (%s)",
		 (unsigned int)(signals->patience_ns / 1000000000), number, strsignal(number));
	do {
		number = end_take(signals, end_deadline(signals));
		if (number && number != SIGHUP && clock_now_ns() - signals->first_ns > SAME_NS)
			end_at_once(signals, "a second signal has come");
	} while (number || clock_now_ns() < end_deadline(signals));
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
					 .delay = cpu_delay_open(CPU_DELAY_OWN),
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
	cpu_delay_close(&signals->delay);
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

bool end_signals_are_late(void)
{
	const struct end_signals *signals = atomic_load(&end_requested);

	return signals && clock_now_ns() >= end_deadline(signals) - signals->patience_ns / 5;
}

bool end_signals_are_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, end_signals_number()) == 1;
}

void end_signals_set_begun(void)
{
	atomic_store(&end_status, END_BEFORE_REPORT);
}

void end_signals_set_done(int status)
{
	atomic_store(&end_status, status);
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
