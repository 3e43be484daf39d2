/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server with a pool of threads: pool leak|none [REQUESTS_PER_SECOND]. One thread makes requests, four take them from a queue, free what
 * the first one has allocated, and have a cache of sessions together. What is logged of a request is leaked now and then. The time of a
 * request is that from its beginning to its end, queue included.
 */
#include "account.h"

#include <pthread.h>

#define RATE 2000
#define WORK 50000 /* some 120 us */
#define WORKERS 4
#define QUEUE 1024
#define SESSIONS 16384

struct request {
	unsigned long begin_ns, user;
	char *text;
};

static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct request *items[QUEUE];
	unsigned long first, last;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
	    .filled = PTHREAD_COND_INITIALIZER,
	    .emptied = PTHREAD_COND_INITIALIZER };

static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;
static char *sessions[SESSIONS];

static char *fill(char *block, size_t size, unsigned long mark)
{
	memset(block, 0, size);
	memcpy(block, &mark, sizeof(mark));
	return block;
}

SITE static struct request *accept_request(unsigned long user)
{
	struct request *request = malloc(sizeof(*request));

	request->text = fill(malloc(64 + user % 900), 64, user);
	request->user = user;
	request->begin_ns = account_clock(CLOCK_MONOTONIC);
	return request;
}

SITE static char *cache_session(unsigned long user)
{
	char *session = fill(malloc(240), 240, user);

	__asm__ volatile("" : : "r"(session) : "memory");
	return session;
}

SITE static char *leak_audit(unsigned long user)
{
	char *entry = fill(malloc(296), 296, user);

	__asm__ volatile("" : : "r"(entry) : "memory");
	return entry;
}

SITE static char *leak_reply(unsigned long user)
{
	char *reply = fill(malloc(520), 520, user);

	__asm__ volatile("" : : "r"(reply) : "memory");
	return reply;
}

SITE static char *leak_error(unsigned long user)
{
	char *error = fill(malloc(152), 152, user);

	__asm__ volatile("" : : "r"(error) : "memory");
	return error;
}

static void release_or_leak(char *block, int leak, const char *name, unsigned long bytes,
			    unsigned long share, unsigned long *random)
{
	if (account.leaking && account_draw(random) % share == 0)
		account_leak(leak, name, bytes);
	else
		free(block);
}

static void handle(struct request *request, unsigned long *random)
{
	unsigned long slot = account_draw(random) % SESSIONS;
	char *session = cache_session(request->user), *old, *audit = leak_audit(request->user),
	     *error = leak_error(request->user);
	char *reply = leak_reply(request->user), *scratch = malloc(4096);

	scratch[0] = (char)account_compute(random, WORK);
	pthread_mutex_lock(&session_lock);
	old = sessions[slot];
	sessions[slot] = session;
	pthread_mutex_unlock(&session_lock);
	free(old);
	free(scratch);
	release_or_leak(audit, 0, "leak_audit", 296, 10, random);
	release_or_leak(reply, 1, "leak_reply", 520, 50, random);
	release_or_leak(error, 2, "leak_error", 152, 100, random);
	account_request(request->begin_ns);
	free(request->text);
	free(request);
}

static void *work(void *argument)
{
	unsigned long random = 88172645463325252UL + (unsigned long)argument;
	struct request *request;

	for (;;) {
		pthread_mutex_lock(&queue.lock);
		while (queue.first == queue.last)
			pthread_cond_wait(&queue.filled, &queue.lock);
		request = queue.items[queue.first++ % QUEUE];
		pthread_cond_signal(&queue.emptied);
		pthread_mutex_unlock(&queue.lock);
		handle(request, &random);
	}
	return NULL;
}

static void enqueue(struct request *request)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.last - queue.first == QUEUE)
		pthread_cond_wait(&queue.emptied, &queue.lock);
	queue.items[queue.last++ % QUEUE] = request;
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

/* As account_serve, but what a request takes is counted by who handles it. */
static void produce(unsigned long per_second)
{
	const struct timespec tick = { .tv_nsec = 2000000 };
	unsigned long begin_ns = account_clock(CLOCK_MONOTONIC), made = 0, due;

	while (account_poll()) {
		due = (account_clock(CLOCK_MONOTONIC) - begin_ns) / 1000 * per_second / 1000000;
		/* What was missed is not made up for. */
		made = due - made > per_second / 5 ? due - per_second / 500 : made;
		while (made++ < due)
			enqueue(accept_request(account_draw(&account.random)));
		made--;
		nanosleep(&tick, NULL);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;
	unsigned long i;

	for (i = 0; i < SESSIONS; i++)
		sessions[i] = cache_session(i);
	for (i = 0; i < WORKERS; i++)
		if (pthread_create(&thread, NULL, work, (void *)i))
			return 1;
	account_begin(argc, argv);
	produce(account_rate(argc, argv, RATE));
	return 0;
}
