/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread with a queue of links to close: see closer.h. */
#include "kernel/closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/memory.h"

struct closer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed, closed;
	struct attachment queue;
	size_t closing; /* links that are taken from the queue and not closed yet */
	bool ending;
};

static void *closer_run(void *context)
{
	struct closer *closer = context;
	struct attachment next;

	pthread_mutex_lock(&closer->lock);
	while (attachment_count(&closer->queue) || !closer->ending) {
		if (!attachment_count(&closer->queue)) {
			pthread_cond_wait(&closer->changed, &closer->lock);
			continue;
		}
		/* All that have come meanwhile, together: it takes no longer than one. */
		next = closer->queue;
		closer->queue = (struct attachment){ 0 };
		closer->closing = attachment_count(&next);
		pthread_mutex_unlock(&closer->lock);
		attachment_close(&next);
		pthread_mutex_lock(&closer->lock);
		closer->closing = 0;
		pthread_cond_broadcast(&closer->closed);
	}
	pthread_mutex_unlock(&closer->lock);
	return NULL;
}

struct closer *closer_new(void)
{
	struct closer *closer = memory_alloc(1, sizeof(*closer));
	sigset_t all, before;
	int code;

	pthread_mutex_init(&closer->lock, NULL);
	pthread_cond_init(&closer->changed, NULL);
	pthread_cond_init(&closer->closed, NULL);
	/* Signals are for the thread that waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&closer->thread, NULL, closer_run, closer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		return closer;
	free(closer);
	return NULL;
}

void closer_add(struct closer *closer, struct attachment *attachment)
{
	if (!closer) {
		attachment_close(attachment);
		return;
	}
	pthread_mutex_lock(&closer->lock);
	attachment_join(&closer->queue, attachment);
	pthread_cond_signal(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
}

size_t closer_pending(struct closer *closer)
{
	size_t pending;

	if (!closer)
		return 0;
	pthread_mutex_lock(&closer->lock);
	pending = attachment_count(&closer->queue) + closer->closing;
	pthread_mutex_unlock(&closer->lock);
	return pending;
}

void closer_wait(struct closer *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->lock);
	while (attachment_count(&closer->queue) + closer->closing)
		pthread_cond_wait(&closer->closed, &closer->lock);
	pthread_mutex_unlock(&closer->lock);
}

void closer_free(struct closer *closer)
{
	if (!closer)
		return;
	pthread_mutex_lock(&closer->lock);
	closer->ending = true;
	pthread_cond_signal(&closer->changed);
	pthread_mutex_unlock(&closer->lock);
	pthread_join(closer->thread, NULL);
	free(closer);
}
