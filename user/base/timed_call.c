/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See timed_call.h. Whoever is last, the thread or the one that waits for it, frees what they share. */
#include "base/timed_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"

/* After so many late calls the time is not halved any more: it is a few milliseconds. */
#define HALVINGS_MAX 10

#define STACK_BYTES (256u << 10)

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct timed_call *call;
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

static struct timespec shared_deadline(const struct call_patience *patience)
{
	unsigned int halvings = patience->late < HALVINGS_MAX ? patience->late : HALVINGS_MAX;

	return clock_timespec(clock_now_ns() + (patience->full_ns >> halvings));
}

/* False if it is late; then it is the thread's. */
static bool shared_wait(struct shared *shared, const struct call_patience *patience)
{
	struct timespec until = shared_deadline(patience);
	bool returned;
	int code = 0;

	pthread_mutex_lock(&shared->lock);
	while (!shared->returned && !code)
		code = pthread_cond_timedwait(&shared->changed, &shared->lock, &until);
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
