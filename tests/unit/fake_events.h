/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What brings events to a session, without a kernel: the test writes down task events and records of BPF programs, and the next
 * drain hands them out. Include it once in a test program.
 */
#ifndef TESTS_FAKE_EVENTS_H
#define TESTS_FAKE_EVENTS_H

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "kernel/bpf_programs.h"
#include "kernel/event_ring.h"
#include "kernel/sideband.h"
#include "tracer_abi.h"

#define FAKE_EVENTS 64

struct sideband {
	struct sideband_event events[FAKE_EVENTS];
	size_t count;
	int fd;
};

struct fake_record {
	size_t size;
	struct event_mapping bytes; /* the largest */
};

struct event_ring {
	void (*handle)(void *context, const void *record, size_t size);
	void *context;
	struct fake_record records[FAKE_EVENTS];
	size_t count;
	int fd;
};

static struct sideband fake_sideband;
static struct event_ring fake_ring;
static int fake_sideband_error, fake_ring_error; /* of opening them, 0 = none */
static int fake_cpus_changed; /* what sideband_update_cpus returns */

static void fake_events_reset(void)
{
	fake_sideband.count = fake_ring.count = 0;
	fake_sideband.fd = fake_ring.fd = -1;
	fake_sideband_error = fake_ring_error = fake_cpus_changed = 0;
}

/* A task event that is read next, behind those before. */
static __attribute__((unused)) void fake_task_event(const struct sideband_event *event)
{
	const uint64_t one = 1;

	fake_sideband.events[fake_sideband.count++] = *event;
	if (fake_sideband.fd >= 0 && write(fake_sideband.fd, &one, sizeof(one)) < 0)
		abort();
}

/* A record in the ring buffer, of which `size` bytes are there. */
static __attribute__((unused)) void fake_ring_record(const void *record, size_t size)
{
	struct fake_record *added = &fake_ring.records[fake_ring.count++];

	added->size = size;
	memcpy(&added->bytes, record, size);
}

int sideband_open(struct sideband **ret_sideband, struct error *error)
{
	if (fake_sideband_error)
		return error_set(error, ERROR_PERMISSION, fake_sideband_error, "refused");
	fake_sideband.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret_sideband = &fake_sideband;
	return 0;
}

void sideband_close(struct sideband *sideband)
{
	if (sideband && sideband->fd >= 0)
		close(sideband->fd);
}

int sideband_update_cpus(struct sideband *sideband)
{
	(void)sideband;
	return fake_cpus_changed;
}

int sideband_fd(const struct sideband *sideband)
{
	return sideband->fd;
}

size_t sideband_drain(struct sideband *sideband,
		      void (*handle)(void *context, const struct sideband_event *event),
		      void *context)
{
	size_t i, count = sideband->count;

	sideband->count = 0;
	for (i = 0; i < count; i++)
		handle(context, &sideband->events[i]);
	return count;
}

int event_ring_open(int map, void (*handle)(void *context, const void *record, size_t size),
		    void *context, struct event_ring **ret_ring)
{
	(void)map;
	if (fake_ring_error)
		return fake_ring_error;
	fake_ring.handle = handle;
	fake_ring.context = context;
	fake_ring.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret_ring = &fake_ring;
	return 0;
}

void event_ring_close(struct event_ring *ring)
{
	if (ring)
		close(ring->fd);
}

int event_ring_fd(const struct event_ring *ring)
{
	return ring->fd;
}

void event_ring_drain(struct event_ring *ring)
{
	size_t i, count = ring->count;

	ring->count = 0;
	for (i = 0; i < count; i++)
		ring->handle(ring->context, &ring->records[i].bytes, ring->records[i].size);
}

int bpf_programs_events(const struct bpf_programs *programs)
{
	(void)programs;
	return -1;
}

#endif
