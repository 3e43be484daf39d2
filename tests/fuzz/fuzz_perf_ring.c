/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a perf ring. It must be read to its end in a number of steps that its size bounds, and what is
 * decoded must lie within the record.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "system/perf_ring.h"

static void check_text(const char *text, const unsigned char *record, size_t size)
{
	const unsigned char *start = (const unsigned char *)text;

	if (!text)
		return;
	MUST(start >= record && start < record + size);
	MUST(start + strlen(text) < record + size);
}

static void check_record(const struct perf_ring *ring, const unsigned char *bytes, size_t size)
{
	unsigned char *record = fuzz_copy(bytes, size);
	struct sideband_event event;

	MUST(size <= ring->size);
	if (perf_record_decode(record, size, &event)) {
		check_text(event.path, record, size);
		check_text(event.comm, record, size);
		MUST(!event.path == (event.kind != SIDEBAND_MMAP));
		MUST(!event.comm == (event.kind != SIDEBAND_EXEC));
	}
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char bytes[PERF_RECORD_SIZE_MAX];
	struct perf_ring ring = { .size = 16 };
	uint64_t offsets[2], time_ns, steps = 0;
	unsigned char *copy;

	if (size < sizeof(offsets) + ring.size)
		return 0;
	memcpy(offsets, data, sizeof(offsets));
	data += sizeof(offsets);
	size -= sizeof(offsets);
	while (ring.size * 2 <= size)
		ring.size *= 2;
	copy = fuzz_copy(data, ring.size);
	ring.data = copy;
	ring.tail = offsets[0];
	/* Mostly a length that the ring may have, sometimes any. */
	ring.head =
		offsets[0] + (offsets[1] & 7 ? (offsets[1] >> 3) % (ring.size + 1) : offsets[1]);
	while (perf_ring_peek(&ring, &time_ns)) {
		size_t record_size = perf_ring_take(&ring, bytes);

		MUST(record_size && ++steps <= size);
		check_record(&ring, bytes, record_size);
	}
	MUST(ring.tail == ring.head);
	free(copy);
	return 0;
}
