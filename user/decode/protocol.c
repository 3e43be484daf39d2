/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to bytes and back, and their way over a socket: see protocol.h. */
#include "decode/protocol.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* The fixed part, followed by the bytes of the build ID, the text and the file, without any NUL. */
struct message_head {
	uint32_t kind, what, module, detail;
	uint64_t number;
	uint32_t id_size, text_length, file_length, zero;
};

_Static_assert(sizeof(struct message_head) == 40, "the head has no padding");

size_t message_encode(const struct message *message, unsigned char bytes[MESSAGE_SIZE_MAX])
{
	struct message_head head = {
		.kind = message->kind,
		.what = message->what,
		.module = message->module,
		.detail = message->detail,
		.number = message->number,
		.id_size = message->id_size,
		.text_length = (uint32_t)strnlen(message->text, MESSAGE_TEXT_MAX - 1),
		.file_length = (uint32_t)strnlen(message->file, MESSAGE_TEXT_MAX - 1),
	};
	unsigned char *at = bytes;

	at = (unsigned char *)memcpy(at, &head, sizeof(head)) + sizeof(head);
	at = (unsigned char *)memcpy(at, message->id, head.id_size) + head.id_size;
	at = (unsigned char *)memcpy(at, message->text, head.text_length) + head.text_length;
	at = (unsigned char *)memcpy(at, message->file, head.file_length) + head.file_length;
	return (size_t)(at - bytes);
}

bool message_decode(const unsigned char *bytes, size_t size, struct message *message)
{
	const unsigned char *at = bytes + sizeof(struct message_head);
	struct message_head head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (!head.kind || head.kind >= MESSAGE_KIND_COUNT || head.zero ||
	    head.id_size > BUILD_ID_MAX || head.text_length >= MESSAGE_TEXT_MAX ||
	    head.file_length >= MESSAGE_TEXT_MAX ||
	    size != sizeof(head) + head.id_size + head.text_length + head.file_length)
		return false;
	*message = (struct message){ .kind = head.kind,
				     .what = head.what,
				     .module = head.module,
				     .detail = head.detail,
				     .number = head.number,
				     .id_size = head.id_size };
	memcpy(message->id, at, head.id_size);
	at += head.id_size;
	memcpy(message->text, at, head.text_length);
	memcpy(message->file, at + head.text_length, head.file_length);
	return strlen(message->text) == head.text_length &&
	       strlen(message->file) == head.file_length;
}

/* Both sides take turns, so a queue that is full belongs to a worker that does not read. */
static int message_dispatch(int socket, const struct message *message, int fd, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	unsigned char bytes[MESSAGE_SIZE_MAX];
	struct iovec part = { bytes, message_encode(message, bytes) };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (fd >= 0) {
		struct cmsghdr *header;

		packet.msg_control = control;
		packet.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&packet);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	do
		sent = sendmsg(socket, &packet, MSG_NOSIGNAL | flags);
	while (sent < 0 && errno == EINTR);
	return sent >= 0 ? 0 : errno == EAGAIN ? -EPROTO : -errno;
}

int message_send(int socket, const struct message *message, int fd)
{
	return message_dispatch(socket, message, fd, 0);
}

int message_post(int socket, const struct message *message, int fd)
{
	return message_dispatch(socket, message, fd, MSG_DONTWAIT);
}

static int message_dispatch_bytes(int socket, const void *bytes, size_t size, int flags)
{
	const unsigned char *at = bytes;
	size_t part;
	ssize_t sent;

	for (; size; at += part, size -= part) {
		struct iovec vector = { (void *)(uintptr_t)at, 0 };
		struct msghdr packet = { .msg_iov = &vector, .msg_iovlen = 1 };

		part = size < MESSAGE_PACKET_MAX ? size : MESSAGE_PACKET_MAX;
		vector.iov_len = part;
		do
			sent = sendmsg(socket, &packet, MSG_NOSIGNAL | flags);
		while (sent < 0 && errno == EINTR);
		if (sent < 0)
			return errno == EAGAIN ? -EPROTO : -errno;
	}
	return 0;
}

int message_send_bytes(int socket, const void *bytes, size_t size)
{
	return message_dispatch_bytes(socket, bytes, size, 0);
}

int message_post_bytes(int socket, const void *bytes, size_t size)
{
	return message_dispatch_bytes(socket, bytes, size, MSG_DONTWAIT);
}

static int message_wait(int socket, int64_t deadline_ms)
{
	struct pollfd wait = { .fd = socket, .events = POLLIN };
	int64_t left;
	int ready;

	if (deadline_ms < 0)
		return 0;
	do {
		left = deadline_ms - clock_now_ms();
		if (left > 60000)
			left = 60000;
		ready = poll(&wait, 1, left > 0 ? (int)left : 0);
	} while ((ready < 0 && errno == EINTR) || (ready == 0 && left == 60000));
	return ready < 0 ? -errno : ready ? 0 : -ETIMEDOUT;
}

/* The descriptor that came, or -1. Padding leaves room for two: with more than one, all are closed, and it is none. */
static int message_take_fd(struct msghdr *packet)
{
	struct cmsghdr *header;
	size_t count = 0, i;
	int fd = -1, one;

	for (header = CMSG_FIRSTHDR(packet); header; header = CMSG_NXTHDR(packet, header)) {
		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= header->cmsg_len; i++) {
			memcpy(&one, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
			if (count++)
				close(one);
			else
				fd = one;
		}
	}
	if (count < 2)
		return fd;
	close(fd);
	return -1;
}

int message_receive(int socket, struct message *message, int *ret_fd, int64_t deadline_ms)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	unsigned char bytes[MESSAGE_SIZE_MAX];
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	int code = message_wait(socket, deadline_ms);
	ssize_t size;

	if (code)
		return code;
	/* Without space for them, the kernel closes unexpected descriptors. */
	if (ret_fd) {
		packet.msg_control = control;
		packet.msg_controllen = sizeof(control);
	}
	do
		size = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (ret_fd)
		*ret_fd = message_take_fd(&packet);
	if (!size)
		return -EPIPE;
	if (message_decode(bytes, (size_t)size, message))
		return 0;
	if (ret_fd && *ret_fd >= 0) {
		close(*ret_fd);
		*ret_fd = -1;
	}
	return -EPROTO;
}

int message_receive_bytes(int socket, void *bytes, size_t size, int64_t deadline_ms)
{
	unsigned char *at = bytes;
	ssize_t got;
	int code;

	while (size) {
		struct iovec vector = { at, size < MESSAGE_PACKET_MAX ? size : MESSAGE_PACKET_MAX };
		struct msghdr packet = { .msg_iov = &vector, .msg_iovlen = 1 };

		code = message_wait(socket, deadline_ms);
		if (code)
			return code;
		do
			got = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			return got && errno != ECONNRESET ? -errno : -EPIPE;
		if ((size_t)got != vector.iov_len || packet.msg_flags & MSG_TRUNC)
			return -EPROTO;
		at += got;
		size -= (size_t)got;
	}
	return 0;
}

void message_set_text(char field[MESSAGE_TEXT_MAX], const char *text)
{
	size_t length = text ? strnlen(text, MESSAGE_TEXT_MAX - 1) : 0;

	if (length)
		memcpy(field, text, length);
	field[length] = '\0';
}
