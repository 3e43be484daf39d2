/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread with a queue of links to close: see detach_queue.h. */
#include "kernel/detach_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/memory.h"

struct detach_queue {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed, closed;
	struct attachment links;
	size_t closing; /* links that are taken from the queue and not closed yet */
	bool ending;
};

static void *detach_queue_run(void *context)
{
	struct detach_queue *queue = context;
	struct attachment next;

	pthread_mutex_lock(&queue->lock);
	while (attachment_count(&queue->links) || !queue->ending) {
		if (!attachment_count(&queue->links)) {
			pthread_cond_wait(&queue->changed, &queue->lock);
			continue;
		}
		/* All that have come meanwhile, together: it takes no longer than one. */
		next = queue->links;
		queue->links = (struct attachment){ 0 };
		queue->closing = attachment_count(&next);
		pthread_mutex_unlock(&queue->lock);
		attachment_close(&next);
		pthread_mutex_lock(&queue->lock);
		queue->closing = 0;
		pthread_cond_broadcast(&queue->closed);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

struct detach_queue *detach_queue_new(void)
{
	struct detach_queue *queue = memory_alloc(1, sizeof(*queue));
	sigset_t all, before;
	int code;

	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	pthread_cond_init(&queue->closed, NULL);
	/* Signals are for the thread that waits for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&queue->thread, NULL, detach_queue_run, queue);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		return queue;
	free(queue);
	return NULL;
}

void detach_queue_add(struct detach_queue *queue, struct attachment *attachment)
{
	if (!queue) {
		attachment_close(attachment);
		return;
	}
	pthread_mutex_lock(&queue->lock);
	attachment_join(&queue->links, attachment);
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

size_t detach_queue_pending(struct detach_queue *queue)
{
	size_t pending;

	if (!queue)
		return 0;
	pthread_mutex_lock(&queue->lock);
	pending = attachment_count(&queue->links) + queue->closing;
	pthread_mutex_unlock(&queue->lock);
	return pending;
}

void detach_queue_wait(struct detach_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	while (attachment_count(&queue->links) + queue->closing)
		pthread_cond_wait(&queue->closed, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
}

void detach_queue_free(struct detach_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	queue->ending = true;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	pthread_join(queue->thread, NULL);
	free(queue);
}
