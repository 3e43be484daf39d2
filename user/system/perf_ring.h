/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes the kernel's perf records about processes: file mappings, execs, forks and exits. Bytes
 * in, events out; user/kernel/sideband.h opens the rings, which must have sample_id_all with TID,
 * TIME and CPU, and mmap2.
 */
#ifndef SYSTEM_PERF_RING_H
#define SYSTEM_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No record is longer: its size has 16 bits. */
#define PERF_RECORD_SIZE_MAX 65536

enum sideband_kind {
	SIDEBAND_MMAP, /* an executable mapping was made, or one was made executable */
	SIDEBAND_EXEC,
	SIDEBAND_FORK, /* a new process; new threads are not reported */
	SIDEBAND_EXIT, /* of one thread */
	SIDEBAND_LOST,
};

/* Process ids are those of the pid namespace of whoever opened the ring. */
struct sideband_event {
	enum sideband_kind kind;
	uint32_t pid, tid; /* FORK: of the child. LOST: unspecified */
	uint32_t parent; /* FORK only */
	uint64_t time_ns; /* CLOCK_MONOTONIC, if the ring was opened so */
	uint64_t lost; /* LOST only: number of events */
	/* EXEC only: untrusted bytes, terminated */
	const char *comm;
	/*
	 * MMAP only. `path` is untrusted and as the process sees it; " (deleted)" may follow it. Memory without a
	 * file has inode 0 and a name such as "//anon" or "[vdso]".
	 */
	const char *path;
	uint64_t start, length, file_offset; /* bytes */
	uint64_t device; /* as makedev() */
	uint64_t inode;
	uint32_t protection; /* PROT_* */
	bool shared; /* MAP_SHARED */
};

/*
 * The unread part of a ring. Offsets only grow; modulo `size`, a power of two, they index `data`.
 */
struct perf_ring {
	const unsigned char *data;
	uint64_t size;
	uint64_t head; /* end of the written data */
	uint64_t tail; /* end of the data read so far */
	/* How often the rest of the ring was skipped because it was malformed. */
	uint64_t malformed;
};

/* Time of the next record. False if there is none. */
bool perf_ring_peek(struct perf_ring *ring, uint64_t *ret_time_ns);
/* Copy the next record to `record` (of PERF_RECORD_SIZE_MAX bytes). Returns its size, 0 if there is none. */
size_t perf_ring_take(struct perf_ring *ring, unsigned char *record);

/*
 * Decode a record of `size` bytes. False, with `*ret_event` untouched, if its type is of no interest or it is
 * malformed. The event's strings point into the record.
 */
bool perf_record_decode(const unsigned char *record, size_t size, struct sideband_event *ret_event);

#endif
