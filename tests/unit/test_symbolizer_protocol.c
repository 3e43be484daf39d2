/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of the symbolizing worker: what is sent arrives, and what is not a message is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "decode/protocol.h"

static struct message sample(void)
{
	struct message message = { .kind = MESSAGE_WANT,
				   .what = 3,
				   .module = 70000,
				   .detail = 0xfffffffe,
				   .number = 0x123456789abcdef0,
				   .id_size = 3,
				   .id = { 0, 0xff, 7 } };

	message_set_text(message.text, "a name");
	message_set_text(message.file, "/a/file");
	return message;
}

static void assert_same(const struct message *a, const struct message *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->what, b->what);
	assert_int_equal(a->module, b->module);
	assert_int_equal(a->detail, b->detail);
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->id_size, b->id_size);
	assert_memory_equal(a->id, b->id, BUILD_ID_MAX);
	assert_string_equal(a->text, b->text);
	assert_string_equal(a->file, b->file);
}

/* Every length but the right one is refused, and so is every message with something behind it. */
static void test_lengths(void **state)
{
	struct message message = sample(), read;
	unsigned char bytes[MESSAGE_SIZE_MAX + 1] = { 0 };
	size_t size = message_encode(&message, bytes), i;

	(void)state;
	assert_int_equal(size, 40 + 3 + 6 + 7);
	for (i = 0; i <= size + 1; i++) {
		unsigned char *copy = malloc(i ? i : 1);

		memcpy(copy, bytes, i);
		assert_int_equal(message_decode(copy, i, &read), i == size);
		free(copy);
	}
	assert_true(message_decode(bytes, size, &read));
	assert_same(&message, &read);
}

/* Offsets of the fields: kind 0, build ID's size 24, lengths of the texts 28 and 32, nothing 36. */
static void test_fields(void **state)
{
	struct message message = sample(), read;
	unsigned char bytes[MESSAGE_SIZE_MAX];
	size_t size = message_encode(&message, bytes), i;
	static const struct {
		size_t at;
		uint32_t value;
	} wrong[] = { { 0, 0 },	 { 0, MESSAGE_KIND_COUNT }, { 24, BUILD_ID_MAX + 1 },
		      { 24, 4 }, { 24, UINT32_MAX },	    { 28, MESSAGE_TEXT_MAX },
		      { 28, 7 }, { 28, UINT32_MAX },	    { 32, MESSAGE_TEXT_MAX },
		      { 32, 6 }, { 32, UINT32_MAX - 5 },    { 36, 1 } };

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		message_encode(&message, bytes);
		memcpy(bytes + wrong[i].at, &wrong[i].value, sizeof(uint32_t));
		assert_false(message_decode(bytes, size, &read));
	}
	message_encode(&message, bytes);
	bytes[40 + 3 + 2] = '\0';
	assert_false(message_decode(bytes, size, &read));
}

static void test_longest(void **state)
{
	static char text[3 * MESSAGE_TEXT_MAX];
	struct message message = sample(), read;
	unsigned char bytes[MESSAGE_SIZE_MAX];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	message_set_text(message.text, text);
	message_set_text(message.file, text);
	message.id_size = BUILD_ID_MAX;
	assert_int_equal(message_encode(&message, bytes), MESSAGE_SIZE_MAX - 2);
	assert_true(message_decode(bytes, MESSAGE_SIZE_MAX - 2, &read));
	assert_same(&message, &read);
	assert_int_equal(strlen(read.text), MESSAGE_TEXT_MAX - 1);
}

static void assert_same_file(int a, int b)
{
	struct stat x, y;

	assert_int_equal(fstat(a, &x), 0);
	assert_int_equal(fstat(b, &y), 0);
	assert_int_equal(x.st_ino, y.st_ino);
	assert_int_equal(x.st_dev, y.st_dev);
}

static void test_socket(void **state)
{
	struct message message = sample(), read;
	int ends[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = -2;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(message_receive(ends[1], &read, NULL, clock_now_ms()), -ETIMEDOUT);
	assert_int_equal(message_send(ends[0], &message, file), 0);
	assert_int_equal(message_receive(ends[1], &read, &fd, -1), 0);
	assert_same(&message, &read);
	assert_same_file(fd, file);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(message_send(ends[0], &message, -1), 0);
	assert_int_equal(message_receive(ends[1], &read, &fd, clock_now_ms() + 10000), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(send(ends[0], "nonsense", 8, 0), 8);
	assert_int_equal(message_receive(ends[1], &read, NULL, -1), -EPROTO);
	close(ends[0]);
	assert_int_equal(message_receive(ends[1], &read, NULL, -1), -EPIPE);
	assert_int_equal(message_send(ends[1], &message, -1), -EPIPE);
	close(ends[1]);
	close(file);
}

/* Who does not ask for descriptors gets none. */
static void test_unwanted_descriptor(void **state)
{
	struct message message = sample(), read;
	int ends[2], next, after;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	next = dup(ends[0]);
	close(next);
	assert_int_equal(message_send(ends[0], &message, ends[0]), 0);
	assert_int_equal(message_receive(ends[1], &read, NULL, -1), 0);
	after = dup(ends[0]);
	assert_int_equal(after, next);
	close(after);
	close(ends[0]);
	close(ends[1]);
}

static void send_two(int socket, const void *bytes, size_t size, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	const int both[] = { fd, fd };
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&packet);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(both));
	memcpy(CMSG_DATA(header), both, sizeof(both));
	assert_int_equal(sendmsg(socket, &packet, 0), (ssize_t)size);
}

/* Two descriptors where one is wanted, and one with what is no message, do not stay open. */
static void test_too_many_descriptors(void **state)
{
	struct message message = sample(), read;
	unsigned char bytes[MESSAGE_SIZE_MAX];
	size_t size = message_encode(&message, bytes);
	int ends[2], next, after, fd = -2;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	next = dup(ends[0]);
	close(next);
	send_two(ends[0], bytes, size, ends[0]);
	assert_int_equal(message_receive(ends[1], &read, &fd, -1), 0);
	assert_int_equal(fd, -1);
	assert_same(&message, &read);
	send_two(ends[0], "nonsense", 8, ends[0]);
	assert_int_equal(message_receive(ends[1], &read, &fd, -1), -EPROTO);
	assert_int_equal(fd, -1);
	after = dup(ends[0]);
	assert_int_equal(after, next);
	close(after);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_unwanted_descriptor),
		cmocka_unit_test(test_too_many_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
