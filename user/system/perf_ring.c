/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See perf_ring.h. Sizes come from the ring and are believed only as far as the ring reaches. */
#include "system/perf_ring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* What is at the end of every record. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

/* A record as the kernel writes it, without the text that may follow. */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, file_offset;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time_ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* Copy from the ring, around its end if need be. At most `size` bytes of the ring are ever asked for. */
static void perf_ring_copy(const struct perf_ring *ring, uint64_t offset, void *bytes, size_t size)
{
	uint64_t start = offset & (ring->size - 1);
	size_t first = ring->size - start < size ? ring->size - start : size;

	memcpy(bytes, ring->data + start, first);
	memcpy((char *)bytes + first, ring->data, size - first);
}

/* Size of the next record; 0 if there is none. What makes no sense is skipped. */
static size_t perf_ring_next(struct perf_ring *ring)
{
	uint64_t available = ring->head - ring->tail;
	struct perf_event_header header;

	if (!available)
		return 0;
	if (available <= ring->size && available >= sizeof(header)) {
		perf_ring_copy(ring, ring->tail, &header, sizeof(header));
		if (header.size >= sizeof(header) + sizeof(struct trailer) &&
		    header.size <= available)
			return header.size;
	}
	ring->malformed++;
	ring->tail = ring->head;
	return 0;
}

bool perf_ring_peek(struct perf_ring *ring, uint64_t *ret_time_ns)
{
	size_t size = perf_ring_next(ring);
	struct trailer trailer;

	if (!size)
		return false;
	perf_ring_copy(ring, ring->tail + size - sizeof(trailer), &trailer, sizeof(trailer));
	*ret_time_ns = trailer.time_ns;
	return true;
}

size_t perf_ring_take(struct perf_ring *ring, unsigned char *record)
{
	size_t size = perf_ring_next(ring);

	perf_ring_copy(ring, ring->tail, record, size);
	ring->tail += size;
	return size;
}

/* The text from `offset` to the trailer; NULL if there is none or it does not end. */
static const char *record_text(const unsigned char *record, size_t size, size_t offset)
{
	size_t end = size - sizeof(struct trailer);

	if (offset >= end || !memchr(record + offset, '\0', end - offset))
		return NULL;
	return (const char *)record + offset;
}

static bool record_decode_mmap(const unsigned char *record, size_t size,
			       struct sideband_event *event)
{
	struct mmap2_record mmap;

	event->path = record_text(record, size, offsetof(struct mmap2_record, path));
	if (!event->path)
		return false;
	memcpy(&mmap, record, sizeof(mmap));
	/* The bytes of the inode hold a build ID where one was asked for. */
	if (mmap.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return false;
	event->kind = SIDEBAND_MMAP;
	event->pid = mmap.pid;
	event->tid = mmap.tid;
	event->start = mmap.start;
	event->length = mmap.length;
	event->file_offset = mmap.file_offset;
	event->protection = mmap.protection;
	event->shared = mmap.flags & MAP_SHARED;
	event->device = makedev(mmap.major, mmap.minor);
	event->inode = mmap.inode;
	return true;
}

static bool record_decode_comm(const unsigned char *record, size_t size,
			       struct sideband_event *event)
{
	struct comm_record comm;

	event->comm = record_text(record, size, offsetof(struct comm_record, comm));
	if (!event->comm)
		return false;
	memcpy(&comm, record, sizeof(comm));
	event->kind = SIDEBAND_EXEC;
	event->pid = comm.pid;
	event->tid = comm.tid;
	return comm.header.misc & PERF_RECORD_MISC_COMM_EXEC;
}

static bool record_decode_task(const unsigned char *record, size_t size,
			       struct sideband_event *event)
{
	struct task_record task;

	if (size < sizeof(task) + sizeof(struct trailer))
		return false;
	memcpy(&task, record, sizeof(task));
	event->kind = task.header.type == PERF_RECORD_EXIT ? SIDEBAND_EXIT : SIDEBAND_FORK;
	event->pid = task.pid;
	event->tid = task.tid;
	if (event->kind == SIDEBAND_EXIT)
		return true;
	event->parent = task.parent;
	return task.pid != task.parent;
}

static bool record_decode_lost(const unsigned char *record, size_t size,
			       struct sideband_event *event)
{
	struct lost_record lost;

	if (size < sizeof(lost) + sizeof(struct trailer))
		return false;
	memcpy(&lost, record, sizeof(lost));
	event->kind = SIDEBAND_LOST;
	event->lost = lost.lost;
	return true;
}

static bool record_decode(const unsigned char *record, size_t size, struct sideband_event *event)
{
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return record_decode_mmap(record, size, event);
	case PERF_RECORD_COMM:
		return record_decode_comm(record, size, event);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return record_decode_task(record, size, event);
	case PERF_RECORD_LOST:
		return record_decode_lost(record, size, event);
	default:
		return false;
	}
}

bool perf_record_decode(const unsigned char *record, size_t size, struct sideband_event *ret_event)
{
	struct sideband_event event = { .kind = SIDEBAND_LOST };
	struct trailer trailer;

	if (size < sizeof(struct perf_event_header) + sizeof(trailer))
		return false;
	if (!record_decode(record, size, &event))
		return false;
	memcpy(&trailer, record + size - sizeof(trailer), sizeof(trailer));
	event.time_ns = trailer.time_ns;
	*ret_event = event;
	return true;
}
