/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring on rings written here by the byte offsets that perf_event_open(2) gives for each record, and on
 * rings that no kernel would write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <cmocka.h>

#include "system/perf_ring.h"

#define RING 256
#define TRAILER 24
#define MMAP2 10
#define COMM 3
#define EXIT 4
#define FORK 7
#define LOST 2
#define COMM_EXEC (1 << 13)
#define MMAP_BUILD_ID (1 << 14)
#define MMAP_FLAGS 68 /* where they are in the record */

/* A record under construction, at an address that needs no copy. */
struct writer {
	unsigned char bytes[PERF_RECORD_SIZE_MAX];
	size_t size;
};

static void put16(struct writer *writer, uint16_t value)
{
	memcpy(writer->bytes + writer->size, &value, sizeof(value));
	writer->size += sizeof(value);
}

static void put32(struct writer *writer, uint32_t value)
{
	memcpy(writer->bytes + writer->size, &value, sizeof(value));
	writer->size += sizeof(value);
}

static void put64(struct writer *writer, uint64_t value)
{
	memcpy(writer->bytes + writer->size, &value, sizeof(value));
	writer->size += sizeof(value);
}

/* As the kernel does: terminated, and filled up to a multiple of eight bytes. */
static void put_text(struct writer *writer, const char *text)
{
	size_t length = strlen(text) + 1, padded = (length + 7) / 8 * 8;

	memset(writer->bytes + writer->size, 0, padded);
	memcpy(writer->bytes + writer->size, text, length);
	writer->size += padded;
}

static void begin(struct writer *writer, uint32_t type, uint16_t misc)
{
	writer->size = 0;
	put32(writer, type);
	put16(writer, misc);
	put16(writer, 0);
}

static void end(struct writer *writer, uint64_t time_ns)
{
	uint16_t size;

	put32(writer, 901);
	put32(writer, 902);
	put64(writer, time_ns);
	put32(writer, 3);
	put32(writer, 0);
	size = (uint16_t)writer->size;
	memcpy(writer->bytes + 6, &size, sizeof(size));
}

static void write_mmap(struct writer *writer, uint16_t misc, const char *path, uint64_t time_ns)
{
	begin(writer, MMAP2, misc);
	put32(writer, 41);
	put32(writer, 42);
	put64(writer, 0x7f0000001000);
	put64(writer, 0x2000);
	put64(writer, 0x3000);
	put32(writer, 0xfd);
	put32(writer, 0x12);
	put64(writer, 777);
	put64(writer, 1);
	put32(writer, 5);
	put32(writer, 2);
	put_text(writer, path);
	end(writer, time_ns);
}

static void write_comm(struct writer *writer, uint16_t misc, const char *comm, uint64_t time_ns)
{
	begin(writer, COMM, misc);
	put32(writer, 51);
	put32(writer, 52);
	put_text(writer, comm);
	end(writer, time_ns);
}

static void write_task(struct writer *writer, uint32_t type, uint32_t pid, uint32_t parent)
{
	begin(writer, type, 0);
	put32(writer, pid);
	put32(writer, parent);
	put32(writer, 63);
	put32(writer, 64);
	put64(writer, 65);
	end(writer, 66);
}

static struct sideband_event decode(const struct writer *writer)
{
	struct sideband_event event = { 0 };

	assert_true(perf_record_decode(writer->bytes, writer->size, &event));
	return event;
}

static void assert_ignored(const struct writer *writer)
{
	struct sideband_event event;

	memset(&event, 0x5a, sizeof(event));
	assert_false(perf_record_decode(writer->bytes, writer->size, &event));
	assert_int_equal(event.pid, 0x5a5a5a5a);
	assert_int_equal(event.time_ns, 0x5a5a5a5a5a5a5a5a);
}

static void test_mmap(void **state)
{
	static struct writer writer;
	struct sideband_event event;

	(void)state;
	write_mmap(&writer, 0, "/usr/lib/libx.so.1", 1234);
	event = decode(&writer);
	assert_int_equal(event.kind, SIDEBAND_MMAP);
	assert_int_equal(event.pid, 41);
	assert_int_equal(event.tid, 42);
	assert_int_equal(event.time_ns, 1234);
	assert_int_equal(event.start, 0x7f0000001000);
	assert_int_equal(event.length, 0x2000);
	assert_int_equal(event.file_offset, 0x3000);
	assert_int_equal(event.device, makedev(0xfd, 0x12));
	assert_int_equal(event.inode, 777);
	assert_int_equal(event.protection, 5);
	assert_false(event.shared);
	assert_string_equal(event.path, "/usr/lib/libx.so.1");
	/* The flags are MAP_SHARED. */
	writer.bytes[MMAP_FLAGS] = 1;
	event = decode(&writer);
	assert_true(event.shared);
	write_mmap(&writer, MMAP_BUILD_ID, "/usr/lib/libx.so.1", 1234);
	assert_ignored(&writer);
}

static void test_exec(void **state)
{
	static struct writer writer;
	struct sideband_event event;

	(void)state;
	write_comm(&writer, COMM_EXEC, "a.out", 77);
	event = decode(&writer);
	assert_int_equal(event.kind, SIDEBAND_EXEC);
	assert_int_equal(event.pid, 51);
	assert_int_equal(event.tid, 52);
	assert_int_equal(event.time_ns, 77);
	assert_string_equal(event.comm, "a.out");
	/* A thread that takes another name has executed nothing. */
	write_comm(&writer, 0, "worker", 77);
	assert_ignored(&writer);
}

static void test_fork_exit_lost(void **state)
{
	static struct writer writer;
	struct sideband_event event;

	(void)state;
	write_task(&writer, FORK, 61, 62);
	event = decode(&writer);
	assert_int_equal(event.kind, SIDEBAND_FORK);
	assert_int_equal(event.pid, 61);
	assert_int_equal(event.parent, 62);
	assert_int_equal(event.tid, 63);
	assert_int_equal(event.time_ns, 66);
	write_task(&writer, FORK, 61, 61); /* a thread */
	assert_ignored(&writer);
	write_task(&writer, EXIT, 61, 62);
	event = decode(&writer);
	assert_int_equal(event.kind, SIDEBAND_EXIT);
	assert_int_equal(event.pid, 61);
	assert_int_equal(event.tid, 63);
	begin(&writer, LOST, 0);
	put64(&writer, 8);
	put64(&writer, 99);
	end(&writer, 5);
	event = decode(&writer);
	assert_int_equal(event.kind, SIDEBAND_LOST);
	assert_int_equal(event.lost, 99);
	assert_int_equal(event.time_ns, 5);
}

/* Each record cut at each length, in memory that ends there. */
static void test_cut_records(void **state)
{
	static struct writer writers[4];
	size_t i, size;

	(void)state;
	write_mmap(&writers[0], 0, "/x", 1);
	write_comm(&writers[1], COMM_EXEC, "x", 1);
	write_task(&writers[2], EXIT, 1, 2);
	begin(&writers[3], LOST, 0);
	put64(&writers[3], 1);
	put64(&writers[3], 2);
	end(&writers[3], 3);
	for (i = 0; i < 4; i++) {
		for (size = 0; size < writers[i].size; size++) {
			struct writer *cut = malloc(size + 1);
			struct sideband_event event;

			memcpy(cut, writers[i].bytes, size);
			cut = realloc(cut, size ? size : 1);
			/* 8 bytes less leave the text whole, but end a record of fixed size too early. */
			if (perf_record_decode((unsigned char *)cut, size, &event))
				assert_true(i < 2 && writers[i].size - size < 8);
			free(cut);
		}
	}
}

static void test_text_must_end(void **state)
{
	static struct writer writer;

	(void)state;
	write_comm(&writer, COMM_EXEC, "1234567", 0x4141414141414141);
	writer.bytes[23] = 'x';
	assert_ignored(&writer);
	begin(&writer, COMM, COMM_EXEC);
	put32(&writer, 1);
	put32(&writer, 1);
	end(&writer, 1);
	assert_ignored(&writer);
	begin(&writer, 12345, 0);
	end(&writer, 1);
	assert_ignored(&writer);
}

static void ring_write(unsigned char *data, struct perf_ring *ring, const struct writer *writer)
{
	size_t i;

	for (i = 0; i < writer->size; i++)
		data[(ring->head + i) % RING] = writer->bytes[i];
	ring->head += writer->size;
}

/* A record of 64 to 160 bytes in a ring of 256: in time, it wraps at each of its words. */
static void test_wrap_around(void **state)
{
	static struct writer writer, taken;
	unsigned char *data = malloc(RING);
	struct perf_ring ring = {
		.data = data, .size = RING, .head = UINT64_MAX - 7, .tail = UINT64_MAX - 7
	};
	char path[120] = "/";
	uint64_t i, time_ns;

	(void)state;
	assert_false(perf_ring_peek(&ring, &time_ns));
	assert_int_equal(perf_ring_take(&ring, taken.bytes), 0);
	for (i = 0; i < 1000; i++) {
		size_t length = i * 7 % 80;

		memset(path + 1, 'a' + (int)(i % 26), length);
		path[1 + length] = '\0';
		write_mmap(&writer, 0, path, 5000 + i);
		ring_write(data, &ring, &writer);
		assert_true(perf_ring_peek(&ring, &time_ns));
		assert_int_equal(time_ns, 5000 + i);
		taken.size = perf_ring_take(&ring, taken.bytes);
		assert_int_equal(taken.size, writer.size);
		assert_memory_equal(taken.bytes, writer.bytes, writer.size);
		assert_string_equal(decode(&taken).path, path);
		assert_false(perf_ring_peek(&ring, &time_ns));
	}
	assert_int_equal(ring.malformed, 0);
	free(data);
}

static void assert_skipped(struct perf_ring *ring)
{
	static struct writer taken;
	uint64_t time_ns, malformed = ring->malformed;

	assert_false(perf_ring_peek(ring, &time_ns));
	assert_int_equal(ring->malformed, malformed + 1);
	assert_int_equal(ring->tail, ring->head);
	assert_int_equal(perf_ring_take(ring, taken.bytes), 0);
	assert_int_equal(ring->malformed, malformed + 1);
}

static void test_hostile_sizes(void **state)
{
	static struct writer writer;
	unsigned char *data = calloc(1, RING);
	struct perf_ring ring = { .data = data, .size = RING };
	uint16_t size;

	(void)state;
	for (size = 0; size < 100; size++) {
		write_task(&writer, EXIT, 1, 2);
		memcpy(writer.bytes + 6, &size, sizeof(size));
		writer.size = 48;
		ring_write(data, &ring, &writer);
		if (size >= 8 + TRAILER && size <= 48)
			ring.tail = ring.head;
		else
			assert_skipped(&ring);
	}
	size = UINT16_MAX;
	memcpy(writer.bytes + 6, &size, sizeof(size));
	ring_write(data, &ring, &writer);
	assert_skipped(&ring);
	/* Less than a header, more than the ring, and a tail before the head. */
	ring.head = ring.tail + 7;
	assert_skipped(&ring);
	ring.head = ring.tail + RING + 1;
	assert_skipped(&ring);
	ring.head = ring.tail - 8;
	assert_skipped(&ring);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap),	       cmocka_unit_test(test_exec),
		cmocka_unit_test(test_fork_exit_lost), cmocka_unit_test(test_cut_records),
		cmocka_unit_test(test_text_must_end),  cmocka_unit_test(test_wrap_around),
		cmocka_unit_test(test_hostile_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
