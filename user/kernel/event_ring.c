/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See event_ring.h. */
#include "kernel/event_ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

struct event_ring {
	struct ring_buffer *buffer;
	void (*handle)(void *context, const void *record, size_t size);
	void *context;
};

static int event_ring_handle(void *context, void *record, size_t size)
{
	const struct event_ring *ring = context;

	ring->handle(ring->context, record, size);
	return 0;
}

int event_ring_open(int map, void (*handle)(void *context, const void *record, size_t size),
		    void *context, struct event_ring **ret_ring)
{
	struct event_ring *ring = memory_alloc(1, sizeof(*ring));

	ring->handle = handle;
	ring->context = context;
	ring->buffer = ring_buffer__new(map, event_ring_handle, ring, NULL);
	if (!ring->buffer) {
		free(ring);
		return -errno;
	}
	*ret_ring = ring;
	return 0;
}

void event_ring_close(struct event_ring *ring)
{
	if (!ring)
		return;
	ring_buffer__free(ring->buffer);
	free(ring);
}

int event_ring_fd(const struct event_ring *ring)
{
	return ring_buffer__epoll_fd(ring->buffer);
}

void event_ring_drain(struct event_ring *ring)
{
	ring_buffer__consume(ring->buffer);
}
