/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pushing: URLs, status lines, and the process that pushes to receivers that take it, answer nonsense, hang and refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/push.h"
#include "serve/push_request.h"

#define PATIENCE_MS 180000
#define LONG_MS 100000
#define SHORT_MS 300

/* URLs */

static void check_url(const char *text, const char *host, unsigned int port, const char *path)
{
	struct push_url url;

	assert_int_equal(push_url_parse(text, &url, NULL), 0);
	assert_string_equal(url.host, host);
	assert_int_equal(url.port, port);
	assert_string_equal(url.path, path);
}

static void test_urls(void **state)
{
	(void)state;
	check_url("http://127.0.0.1", "127.0.0.1", 4318, "/v1development/profiles");
	check_url("http://localhost:80/", "localhost", 80, "/v1development/profiles");
	check_url("http://[::1]:65535", "::1", 65535, "/v1development/profiles");
	check_url("http://[::1]", "::1", 4318, "/v1development/profiles");
	check_url("http://a/b//", "a", 4318, "/b/v1development/profiles");
	check_url("http://a/v1development/profiles/", "a", 4318, "/v1development/profiles");
}

static void test_bad_urls(void **state)
{
	static const char *const bad[] = { "",
					   "http://",
					   "http:///x",
					   "http://:80",
					   "http://a:0",
					   "http://a:65536",
					   "http://a:",
					   "http://a:b",
					   "http://[::1",
					   "http://[]",
					   "http://[::1]x",
					   "http://u@a",
					   "http://a/?b",
					   "http://a/#b",
					   "http://a b",
					   "http://a/\r\nX: y",
					   "http://a/\xc3\xa4",
					   "HTTP://a",
					   "ftp://a",
					   "127.0.0.1:4318" };
	struct push_url url;
	struct error error;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = (struct error){ 0 };
		assert_int_equal(push_url_parse(bad[i], &url, &error), -EINVAL);
		assert_non_null(strstr(error.text, "http://127.0.0.1:4318"));
	}
	error = (struct error){ 0 };
	assert_int_equal(push_url_parse("https://a", &url, &error), -EINVAL);
	assert_non_null(strstr(error.text, "collector or agent on this host"));
	text = memory_alloc(1, 5000);
	strcpy(text, "http://a/");
	for (i = strlen(text); i < 4999; i++) {
		assert_int_equal(push_url_parse(text, &url, NULL),
				 i - strlen("http://a") + strlen("/v1development/profiles") <
						 PUSH_PATH_MAX
					 ? 0
					 : -EINVAL);
		text[i] = 'x';
	}
	memset(text + strlen("http://"), 'a', 4000);
	assert_int_equal(push_url_parse(text, &url, NULL), -EINVAL);
	free(text);
}

static void test_status(void **state)
{
	(void)state;
	assert_int_equal(push_request_status("HTTP/1.1 200"), 200);
	assert_int_equal(push_request_status("HTTP/1.0 599"), 599);
	assert_int_equal(push_request_status("HTTP/1.1 099"), 0);
	assert_int_equal(push_request_status("HTTP/1.1 600"), 0);
	assert_int_equal(push_request_status("HTTP/1.1  20"), 0);
	assert_int_equal(push_request_status("HTTP/2 200  "), 0);
	assert_int_equal(push_request_status("\x15\x03\x01garbage."), 0);
	assert_int_equal(push_request_status(""), 0);
}

/* The process */

struct receiver {
	int fd;
	struct push_url url;
	struct push push;
};

static void receiver_open(struct receiver *receiver, int limit_ms)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(name);
	char text[64];

	receiver->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(receiver->fd, (struct sockaddr *)&name, length), 0);
	assert_int_equal(listen(receiver->fd, 8), 0);
	assert_int_equal(getsockname(receiver->fd, (struct sockaddr *)&name, &length), 0);
	snprintf(text, sizeof(text), "http://127.0.0.1:%d/base", ntohs(name.sin_port));
	assert_int_equal(push_url_parse(text, &receiver->url, NULL), 0);
	assert_int_equal(push_url_resolve(&receiver->url, NULL), 0);
	assert_int_equal(push_start(&receiver->push, &receiver->url, limit_ms, NULL), 0);
}

static void receiver_close(struct receiver *receiver)
{
	push_close(&receiver->push);
	close(receiver->fd);
}

static void push_text(struct receiver *receiver, size_t size)
{
	struct buffer body = { 0 };

	buffer_append_string(&body, "begin");
	while (body.length < size)
		buffer_append_string(&body, "0123456789abcdef");
	buffer_append_string(&body, "end");
	assert_int_equal(push_send(&receiver->push, &body), 0);
	buffer_free(&body);
}

static struct push_answer take(struct receiver *receiver)
{
	struct pollfd wait = { .fd = receiver->push.socket, .events = POLLIN };
	struct push_answer answer;

	assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
	assert_int_equal(push_take(&receiver->push, &answer), 1);
	assert_int_equal(push_take(&receiver->push, &answer), 0);
	return answer;
}

/* Read up to the end of the body, answer, and return what came. */
static char *serve(struct receiver *receiver, const char *answer)
{
	const int fd = accept(receiver->fd, NULL, NULL);
	struct buffer got = { 0 };
	char piece[65536];
	ssize_t size;

	do {
		size = recv(fd, piece, sizeof(piece), 0);
		assert_true(size > 0);
		buffer_append(&got, piece, (size_t)size);
	} while (got.length < 3 || memcmp(got.data + got.length - 3, "end", 3) != 0);
	assert_int_equal(send(fd, answer, strlen(answer), MSG_NOSIGNAL), strlen(answer));
	close(fd);
	return got.data;
}

static void test_pushes(void **state)
{
	static const char head[] = "POST /base/v1development/profiles HTTP/1.1\r\nHost: 127.0.0.1:";
	struct receiver receiver;
	struct push_answer answer;
	char *got, *body;

	(void)state;
	receiver_open(&receiver, LONG_MS);
	push_text(&receiver, 3000000);
	got = serve(&receiver, "HTTP/1.1 200 OK\r\n\r\n");
	answer = take(&receiver);
	assert_int_equal(answer.code, 0);
	assert_int_equal(answer.status, 200);
	assert_memory_equal(got, head, strlen(head));
	assert_non_null(strstr(got, "\r\nContent-Type: application/x-protobuf\r\n"));
	body = strstr(got, "\r\n\r\n") + 4;
	assert_memory_equal(body, "begin0123", 9);
	assert_int_equal(strtoul(strstr(got, "Content-Length: ") + 16, NULL, 10), strlen(body));
	free(got);
	/* The process goes on. */
	push_text(&receiver, 10);
	free(serve(&receiver, "HTTP/1.1 503 Busy\r\n\r\n"));
	answer = take(&receiver);
	assert_int_equal(answer.code, 0);
	assert_int_equal(answer.status, 503);
	receiver_close(&receiver);
}

static void test_fails(void **state)
{
	struct receiver receiver;

	(void)state;
	receiver_open(&receiver, LONG_MS);
	push_text(&receiver, 10);
	free(serve(&receiver, "220 mail.example ESMTP\r\n"));
	assert_int_equal(take(&receiver).code, -EPROTO);
	push_text(&receiver, 10);
	free(serve(&receiver, "HTTP"));
	assert_int_equal(take(&receiver).code, -EPROTO);
	close(receiver.fd);
	receiver.fd = -1;
	push_text(&receiver, 10);
	assert_int_equal(take(&receiver).code, -ECONNREFUSED);
	receiver_close(&receiver);
}

/* One that accepts nothing, with a body that fits what the kernel takes, and one that does not. */
static void test_hangs(void **state)
{
	struct receiver receiver;

	(void)state;
	receiver_open(&receiver, SHORT_MS);
	push_text(&receiver, 10);
	assert_int_equal(take(&receiver).code, -ETIMEDOUT);
	push_text(&receiver, 32 << 20);
	assert_int_equal(take(&receiver).code, -ETIMEDOUT);
	receiver_close(&receiver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),   cmocka_unit_test(test_bad_urls),
		cmocka_unit_test(test_status), cmocka_unit_test(test_pushes),
		cmocka_unit_test(test_fails),  cmocka_unit_test(test_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
