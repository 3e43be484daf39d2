/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See timed_call.h. Whoever is last, the thread or the one that waits for it, frees what they share. */
#include "base/timed_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu_delay.h"
#include "base/memory.h"

/* After so many late calls the time is not halved any more: it is a few milliseconds. */
#define HALVINGS_MAX 10

#define STACK_BYTES (256u << 10)

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct timed_call *call;
	int thread; /* 0 = it has not run yet */
	bool returned, abandoned;
};

static void shared_free(struct shared *shared)
{
	pthread_cond_destroy(&shared->changed);
	pthread_mutex_destroy(&shared->lock);
	free(shared);
}

static void *shared_run(void *context)
{
	struct shared *shared = context;
	bool abandoned;

	__atomic_store_n(&shared->thread, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	shared->call->run(shared->call);
	pthread_mutex_lock(&shared->lock);
	shared->returned = true;
	abandoned = shared->abandoned;
	pthread_cond_signal(&shared->changed);
	pthread_mutex_unlock(&shared->lock);
	if (abandoned) {
		shared->call->free(shared->call);
		shared_free(shared);
	}
	return NULL;
}

static struct shared *shared_new(struct timed_call *call)
{
	struct shared *shared = memory_alloc(1, sizeof(*shared));
	pthread_condattr_t clock;

	shared->call = call;
	pthread_mutex_init(&shared->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&shared->changed, &clock);
	pthread_condattr_destroy(&clock);
	return shared;
}

/* Returns 0 or a negative errno. Signals are for the threads that wait for them. */
static int shared_start(struct shared *shared, pthread_t *ret_thread)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int code;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(ret_thread, &attributes, shared_run, shared);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -code;
}

/* How long the thread has waited for a CPU, by the kernel's count; `since_ns`: all the time since then if it has not had one yet. */
static uint64_t shared_queued_ns(const struct shared *shared, uint64_t since_ns)
{
	const int thread = __atomic_load_n(&shared->thread, __ATOMIC_ACQUIRE);
	struct cpu_delay delay;
	uint64_t queued_ns;
	char path[48];

	if (!thread)
		return clock_now_ns() - since_ns;
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", thread);
	delay = cpu_delay_open(path);
	queued_ns = (uint64_t)cpu_delay_read(&delay);
	cpu_delay_close(&delay);
	return queued_ns;
}

/* False if it is late; then it is the thread's. On a busy machine, what it has waited for a CPU makes it no later. */
static bool shared_wait(struct shared *shared, const struct call_patience *patience)
{
	const unsigned int halvings = patience->late < HALVINGS_MAX ? patience->late : HALVINGS_MAX;
	const uint64_t begin_ns = clock_now_ns(), limit_ns = patience->full_ns >> halvings;
	uint64_t until_ns = begin_ns + limit_ns;
	struct timespec until;
	bool returned;

	pthread_mutex_lock(&shared->lock);
	while (!shared->returned && clock_now_ns() < until_ns) {
		until = clock_timespec(until_ns);
		if (pthread_cond_timedwait(&shared->changed, &shared->lock, &until))
			until_ns = begin_ns + limit_ns + shared_queued_ns(shared, begin_ns);
	}
	returned = shared->returned;
	shared->abandoned = !returned;
	pthread_mutex_unlock(&shared->lock);
	return returned;
}

int timed_call_run(struct timed_call *call, struct call_patience *patience)
{
	struct shared *shared = shared_new(call);
	pthread_t thread;
	int code = shared_start(shared, &thread);

	if (code) {
		call->free(call);
		shared_free(shared);
		return code;
	}
	if (!shared_wait(shared, patience)) {
		pthread_detach(thread);
		patience->late++;
		return -ETIMEDOUT;
	}
	pthread_join(thread, NULL);
	shared_free(shared);
	return 0;
}
