/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See push_request.h. */
#include "serve/push_request.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"

#define PIECE (64 << 10)
/* "HTTP/1.1 200" */
#define STATUS_LENGTH 12

struct push_request {
	int socket, body;
	uint64_t deadline_ns;
};

/* Returns 0 or a negative errno. */
static int push_request_wait(const struct push_request *request, short events)
{
	struct pollfd wait = { .fd = request->socket, .events = events };

	if (deadline_has_passed(request->deadline_ns) ||
	    !poll(&wait, 1, deadline_poll_ms(request->deadline_ns)))
		return -ETIMEDOUT;
	return 0;
}

static int push_request_connect(const struct push_request *request, const struct push_url *url)
{
	socklen_t length = sizeof(int);
	int code;

	if (!connect(request->socket, (const struct sockaddr *)&url->socket, url->length))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	code = push_request_wait(request, POLLOUT);
	if (!code && getsockopt(request->socket, SOL_SOCKET, SO_ERROR, &code, &length))
		return -errno;
	return code > 0 ? -code : code;
}

static int push_request_write(const struct push_request *request, const char *bytes, size_t size)
{
	ssize_t sent;
	int code;

	while (size) {
		sent = send(request->socket, bytes, size, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (sent > 0) {
			bytes += sent;
			size -= (size_t)sent;
			continue;
		}
		code = push_request_wait(request, POLLOUT);
		if (code)
			return code;
	}
	return 0;
}

static int push_request_write_head(const struct push_request *request, const struct push_url *url)
{
	char head[PUSH_PATH_MAX + PUSH_HOST_MAX + 512];
	const off_t size = lseek(request->body, 0, SEEK_END);
	int length;

	if (size < 0 || lseek(request->body, 0, SEEK_SET))
		return -EINVAL;
	length = snprintf(head, sizeof(head),
			  "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: tracer/%s\r\n"
			  "Content-Type: application/x-protobuf\r\nContent-Length: %lld\r\n"
			  "Connection: close\r\n\r\n",
			  url->path, url->authority, TRACER_VERSION, (long long)size);
	return push_request_write(request, head, (size_t)length);
}

static int push_request_write_body(const struct push_request *request)
{
	char piece[PIECE];
	ssize_t size;
	int code = 0;

	while (!code && (size = read(request->body, piece, sizeof(piece))) > 0)
		code = push_request_write(request, piece, (size_t)size);
	return code;
}

unsigned int push_request_status(const char *line)
{
	unsigned int status, minor;
	int end = 0;

	if (sscanf(line, "HTTP/1.%1u %3u%n", &minor, &status, &end) != 2 || end != STATUS_LENGTH)
		return 0;
	return status >= 100 && status < 600 ? status : 0;
}

static int push_request_read(const struct push_request *request, unsigned int *ret_status)
{
	char line[STATUS_LENGTH + 1] = "";
	size_t length = 0;
	ssize_t size;
	int code;

	while (length < STATUS_LENGTH) {
		code = push_request_wait(request, POLLIN);
		if (code)
			return code;
		size = recv(request->socket, line + length, STATUS_LENGTH - length, 0);
		if (size < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (!size)
			return -EPROTO;
		length += size > 0 ? (size_t)size : 0;
	}
	*ret_status = push_request_status(line);
	return *ret_status ? 0 : -EPROTO;
}

struct push_answer push_request_run(const struct push_url *url, int body, int limit_ms)
{
	struct push_request request = { .body = body, .deadline_ns = deadline_in_ms(limit_ms) };
	struct push_answer answer = { 0 };

	request.socket =
		socket(url->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (request.socket < 0)
		return (struct push_answer){ .code = -errno };
	answer.code = push_request_connect(&request, url);
	if (!answer.code)
		answer.code = push_request_write_head(&request, url);
	if (!answer.code)
		answer.code = push_request_write_body(&request);
	/* A receiver that has closed its end may have answered before. */
	if (!answer.code || answer.code == -EPIPE || answer.code == -ECONNRESET)
		answer.code = push_request_read(&request, &answer.status);
	close(request.socket);
	return answer;
}
