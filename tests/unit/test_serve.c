/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serving: addresses, tokens, what is done with a request, and a server in a loop that real clients ask. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/address.h"
#include "serve/http.h"
#include "serve/request.h"
#include "unit/scratch.h"

/* Addresses */

static void check_address(const char *text, const char *described, bool is_loopback)
{
	struct address address;
	struct error error = { 0 };
	struct buffer out = { 0 };

	assert_int_equal(address_parse(text, &address, &error), 0);
	assert_int_equal(address.is_loopback, is_loopback);
	address_describe(&address, -1, &out);
	assert_string_equal(out.data, described);
	buffer_free(&out);
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {
		"",	      ":",	     "localhost", "example.org:80", "127.0.0.1:65536",
		"127.0.0.1:", "127.0.0.1:x", "[::1:80",	  "::1:80",	    "[::1]80",
		"unix:",      "unix:name",   "-1",	  "127.0.0.1:80 ",  "[]:80",
	};
	char long_path[300] = "unix:/";
	struct address address;
	size_t i;

	(void)state;
	check_address("9797", "http://127.0.0.1:9797/", true);
	check_address(":9797", "http://127.0.0.1:9797/", true);
	check_address("localhost:0", "http://127.0.0.1:0/", true);
	check_address("127.1.2.3:65535", "http://127.1.2.3:65535/", true);
	check_address("0.0.0.0:80", "http://0.0.0.0:80/", false);
	check_address("[::1]:80", "http://[::1]:80/", true);
	check_address("[::]:80", "http://[::]:80/", false);
	check_address("unix:/run/x.sock", "unix:/run/x.sock", false);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = { 0 };

		assert_int_equal(address_parse(bad[i], &address, &error), -EINVAL);
		assert_int_equal(error.kind, ERROR_USAGE);
	}
	memset(long_path + strlen(long_path), 'x', 200);
	assert_int_equal(address_parse(long_path, &address, &(struct error){ 0 }), -EINVAL);
}

/* A socket in the file system is its owner's, replaces one that was left, and no other file. */
static void test_unix_socket(void **state)
{
	struct scratch scratch = scratch_make();
	char *text = memory_format("unix:%s/s", scratch.path);
	const char *path = text + 5;
	struct address address;
	struct error error = { 0 };
	struct stat status;
	int fd;

	(void)state;
	assert_int_equal(address_parse(text, &address, &error), 0);
	fd = address_listen(&address, &error);
	assert_true(fd >= 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	/* Somebody listens. */
	assert_int_equal(address_listen(&address, &error), -EADDRINUSE);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, path));
	close(fd);
	fd = address_listen(&address, &error);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	fclose(fopen(path, "w"));
	assert_int_equal(address_listen(&address, &(struct error){ 0 }), -EADDRINUSE);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	unlink(path);
	free(text);
	scratch_remove(&scratch);
}

/* Tokens */

static void test_token(void **state)
{
	static const char *const bad[] = { "", "short\n", "with a blank in it\n",
					   "0123456789\x01"
					   "abcdef\n",
					   "\n0123456789abcdef\n" };
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, "token"), *long_text;
	struct token token = { "" };
	struct error error = { 0 };
	size_t i;

	(void)state;
	assert_false(token_matches(&token, "Bearer "));
	assert_int_equal(token_read(path, &token, &error), -ENOENT);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		scratch_put(&scratch, "token", bad[i]);
		assert_int_equal(token_read(path, &token, &(struct error){ 0 }), -EINVAL);
	}
	long_text = memory_alloc(TOKEN_MAX + 2, 1);
	memset(long_text, 'x', TOKEN_MAX + 1);
	scratch_put(&scratch, "token", long_text);
	assert_int_equal(token_read(path, &token, &(struct error){ 0 }), -EINVAL);
	long_text[TOKEN_MAX] = '\0';
	scratch_put(&scratch, "token", long_text);
	assert_int_equal(token_read(path, &token, &(struct error){ 0 }), 0);
	scratch_put(&scratch, "token", "0123456789abcdef\nmore\n");
	assert_int_equal(token_read(path, &token, &(struct error){ 0 }), 0);
	assert_true(token_matches(&token, "Bearer 0123456789abcdef"));
	assert_true(token_matches(&token, "bearer 0123456789abcdef"));
	assert_false(token_matches(&token, NULL));
	assert_false(token_matches(&token, ""));
	assert_false(token_matches(&token, "0123456789abcdef"));
	assert_false(token_matches(&token, "Basic 0123456789abcdef"));
	assert_false(token_matches(&token, "Bearer "));
	assert_false(token_matches(&token, "Bearer 0123456789abcde"));
	assert_false(token_matches(&token, "Bearer 0123456789abcdef0"));
	assert_false(token_matches(&token, "Bearer 0123456789abcdeF"));
	free(long_text);
	free(path);
	scratch_remove(&scratch);
}

/* Requests */

static unsigned int decide(const struct request_policy *policy, const char *method,
			   const char *path, const char *host, const char *authorization)
{
	const struct request request = {
		.method = method, .path = path, .host = host, .authorization = authorization
	};
	struct request_answer answer = request_decide(&request, policy);

	assert_int_equal(answer.status == 200, answer.page != NULL);
	assert_int_equal(answer.status != 200, answer.sentence != NULL);
	return answer.status;
}

static void test_requests(void **state)
{
	static const char *const others[] = { "POST",  "PUT", "DELETE",	 "OPTIONS",
					      "TRACE", "get", "CONNECT", "" };
	const struct request_policy open = { .checks_host = false };
	struct request body = { .method = "GET", .path = "/metrics", .has_body = true };
	size_t i;

	(void)state;
	assert_int_equal(decide(&open, "GET", "/metrics", NULL, NULL), 200);
	assert_int_equal(decide(&open, "HEAD", "/report.json", "anything", NULL), 200);
	assert_int_equal(decide(&open, "GET", "/", NULL, NULL), 200);
	assert_int_equal(decide(&open, "GET", "/healthz", NULL, NULL), 200);
	assert_int_equal(decide(&open, "GET", "/../etc/passwd", NULL, NULL), 404);
	assert_int_equal(decide(&open, "GET", "/metrics/", NULL, NULL), 404);
	assert_int_equal(decide(&open, "GET", "", NULL, NULL), 404);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(decide(&open, others[i], "/metrics", NULL, NULL), 405);
	assert_int_equal(request_decide(&body, &open).status, 400);
}

/* A name that leads to this machine is not one of its own. */
static void test_hosts(void **state)
{
	static const char *const good[] = { "localhost",      "LOCALHOST:80", "127.0.0.1",
					    "127.0.0.1:9797", "127.9.9.9",    "[::1]",
					    "[::1]:1" };
	static const char *const bad[] = {
		"",
		"evil.example",
		"evil.example:9797",
		"localhost.evil.example",
		"127.0.0.1.",
		"10.0.0.1",
		"[::2]",
		"[::1",
		"::1",
		"localhost:",
		"localhost:x",
		"localhost:80:80",
		"127.0.0.1@evil.example",
		"128.0.0.1",
		"[::1]evil",
	};
	const struct request_policy local = { .checks_host = true };
	char long_name[2000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(decide(&local, "GET", "/metrics", good[i], NULL), 200);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (decide(&local, "GET", "/metrics", bad[i], NULL) != 403)
			fail_msg("'%s' is accepted", bad[i]);
	}
	memset(long_name, '1', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_false(request_is_local(long_name));
	/* No browser leaves it out. */
	assert_int_equal(decide(&local, "GET", "/metrics", NULL, NULL), 200);
}

static void test_authorization(void **state)
{
	const struct request_policy secret = { .token = { "0123456789abcdef" } };

	(void)state;
	assert_int_equal(decide(&secret, "GET", "/metrics", NULL, NULL), 401);
	assert_int_equal(decide(&secret, "GET", "/nothing", NULL, NULL), 401);
	assert_int_equal(decide(&secret, "POST", "/metrics", NULL, "Bearer 0"), 401);
	assert_int_equal(decide(&secret, "GET", "/metrics", NULL, "Bearer 0123456789abcdef"), 200);
	assert_int_equal(decide(&secret, "GET", "/healthz", NULL, NULL), 200);
}

/* Each page of the index is there, and is listed once. */
static void test_index(void **state)
{
	struct buffer text = { 0 };
	const struct page *page;
	size_t i;

	(void)state;
	page_append_index(&text);
	for (i = 0; (page = page_at(i)); i++) {
		char *link = memory_format("href=\"%s\"", page->path);

		assert_ptr_equal(page_find(page->path), page);
		assert_true(page_number(page) < PAGE_MAX);
		assert_non_null(strstr(text.data, link));
		assert_null(strstr(strstr(text.data, link) + 1, link));
		free(link);
	}
	assert_true(i >= 6);
	buffer_free(&text);
}

/* A server */

struct served {
	struct loop loop;
	struct http *http;
	struct address address;
	int made, begun, dropped, fails;
};

static int served_make(void *context, const struct page *page, void *before, struct buffer *out)
{
	struct served *served = context;

	buffer_printf(out, "%s %d%s", page->path, ++served->made, before ? " since" : "");
	return served->fails ? -EIO : 0;
}

static void *served_begin(void *context)
{
	struct served *served = context;

	served->begun++;
	return &served->dropped;
}

static void served_drop(void *before)
{
	if (before)
		++*(int *)before;
}

static void served_open(struct served *served, const struct request_policy *policy)
{
	struct http_options options = { .policy = *policy,
					.make = served_make,
					.begin = served_begin,
					.drop = served_drop,
					.context = served };
	struct sockaddr_in *name = (struct sockaddr_in *)&served->address.socket;
	struct error error = { 0 };
	socklen_t length = sizeof(*name);

	*served = (struct served){ .made = 0 };
	assert_int_equal(address_parse("127.0.0.1:0", &served->address, &error), 0);
	options.fd = address_listen(&served->address, &error);
	assert_true(options.fd >= 0);
	assert_int_equal(getsockname(options.fd, (struct sockaddr *)name, &length), 0);
	assert_int_equal(loop_open(&served->loop, &error), 0);
	assert_int_equal(http_open(&options, &served->loop, &served->http, &error), 0);
}

static void served_close(struct served *served)
{
	http_close(served->http);
	loop_close(&served->loop);
}

static void served_step(void *context, struct watch *watch)
{
	(void)watch;
	loop_stop(context);
}

/* Run the loop until a client's socket can be read. */
static void served_run_until(struct served *served, int client)
{
	struct watch watch = { .fd = client, .handle = served_step, .context = &served->loop };
	int copy = dup(client);

	watch.fd = copy;
	served->loop.stopped = false;
	assert_int_equal(loop_add(&served->loop, &watch), 0);
	assert_int_equal(loop_run(&served->loop), 0);
	epoll_ctl(served->loop.epoll, EPOLL_CTL_DEL, copy, NULL);
	close(copy);
}

static int served_connect(const struct served *served)
{
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(client >= 0);
	assert_int_equal(connect(client, (const struct sockaddr *)&served->address.socket,
				 sizeof(struct sockaddr_in)),
			 0);
	return client;
}

static char *served_read(struct served *served, int client)
{
	struct buffer text = { 0 };
	char piece[4096];
	ssize_t length;

	buffer_append_string(&text, "");
	do {
		served_run_until(served, client);
		length = read(client, piece, sizeof(piece));
		if (length > 0)
			buffer_append(&text, piece, (size_t)length);
	} while (length > 0);
	close(client);
	return text.data;
}

/* The answer to a request. */
static char *served_ask(struct served *served, const char *request)
{
	int client = served_connect(served);

	assert_int_equal(send(client, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return served_read(served, client);
}

static void check_answer(struct served *served, const char *request, const char *status,
			 const char *part)
{
	char *text = served_ask(served, request);

	assert_memory_equal(text, "HTTP/1.1 ", 9);
	assert_memory_equal(text + 9, status, 3);
	assert_non_null(strstr(text, part));
	free(text);
}

static void test_http(void **state)
{
	struct served served;

	(void)state;
	served_open(&served, &(struct request_policy){ .checks_host = true });
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "\r\n\r\n/metrics 1");
	/* One report for many clients, and one for each page: of these, and of what a browser shows. */
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "\r\n\r\n/metrics 1");
	check_answer(&served, "GET /folded HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "\r\n\r\n/folded 2");
	check_answer(&served, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", "ok\n");
	check_answer(&served, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "Content-Security-Policy: default-src 'none'");
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403", "Host");
	check_answer(&served,
		     "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
		     "405", "Allow: GET, HEAD\r\n");
	check_answer(&served,
		     "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
		     "400", "no body");
	check_answer(&served, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", "404",
		     "no such page");
	assert_int_equal(served.made, 3);
	served_close(&served);
}

static void test_http_head(void **state)
{
	struct served served;
	char *text;

	(void)state;
	served_open(&served, &(struct request_policy){ .checks_host = true });
	text = served_ask(&served, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_memory_equal(text, "HTTP/1.1 200", 12);
	assert_non_null(strstr(text, "Content-Length: 10\r\n"));
	assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
	free(text);
	served_close(&served);
}

static void test_http_failure(void **state)
{
	struct served served;

	(void)state;
	served_open(&served, &(struct request_policy){ .checks_host = true });
	served.fails = 1;
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "500",
		     "/metrics 1");
	served.fails = 0;
	/* It is not remembered. */
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "/metrics 2");
	served_close(&served);
}

static void test_http_token(void **state)
{
	struct served served;

	(void)state;
	served_open(&served, &(struct request_policy){ .token = { "0123456789abcdef" } });
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: node\r\n\r\n", "401",
		     "WWW-Authenticate: Bearer\r\n");
	check_answer(&served,
		     "GET /metrics HTTP/1.1\r\nHost: node\r\nAuthorization: Bearer "
		     "0123456789abcdef\r\n\r\n",
		     "200", "/metrics 1");
	check_answer(&served, "GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n", "200", "ok\n");
	served_close(&served);
}

/* What is no request, and what is too long for one, gets no page, and the next client is answered. */
static void test_http_garbage(void **state)
{
	struct buffer long_one = { 0 };
	struct served served;
	char *text;
	int i;

	(void)state;
	served_open(&served, &(struct request_policy){ .checks_host = true });
	buffer_append_string(&long_one, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ");
	for (i = 0; i < 2000; i++)
		buffer_append_string(&long_one, "0123456789");
	text = served_ask(&served, long_one.data);
	assert_true(!*text || !memcmp(text, "HTTP/1.1 4", 10));
	free(text);
	text = served_ask(&served, "\x16\x03\x01\x02\x03 nothing\r\n\r\n");
	assert_true(!*text || !memcmp(text, "HTTP/1.", 7));
	assert_null(strstr(text, " 200 "));
	free(text);
	assert_int_equal(served.made, 0);
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "/metrics 1");
	buffer_free(&long_one);
	served_close(&served);
}

/* More connections than are held wait, and are answered when others end; a server that ends closes all. */
static void test_http_many(void **state)
{
	enum { MANY = 100 };
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int clients[MANY], last;
	struct served served;
	char *text;
	int i;

	(void)state;
	served_open(&served, &(struct request_policy){ .checks_host = true });
	/* These ask nothing. The kernel keeps 64 that were not accepted yet. */
	for (i = 0; i < MANY; i++) {
		clients[i] = served_connect(&served);
		if (i == MANY / 2)
			check_answer(&served, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
				     "200", "ok\n");
	}
	last = served_connect(&served);
	assert_int_equal(write(last, request, sizeof(request) - 1), sizeof(request) - 1);
	for (i = 0; i < MANY; i++)
		close(clients[i]);
	text = served_read(&served, last);
	assert_memory_equal(text, "HTTP/1.1 200", 12);
	free(text);
	last = served_connect(&served);
	served_close(&served);
	close(last);
}

/* What has changed in a time is made when that has passed, and others are answered meanwhile. */
static void test_http_wait(void **state)
{
	static const char request[] =
		"GET /debug/pprof/allocs?seconds=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct served served;
	int waiting, left;
	char *text;

	(void)state;
	if (!page_find("/debug/pprof/allocs"))
		skip();
	served_open(&served, &(struct request_policy){ .checks_host = true });
	check_answer(&served,
		     "GET /debug/pprof/allocs?seconds=0 HTTP/1.1\r\nHost: localhost\r\n\r\n", "400",
		     "seconds is");
	check_answer(&served,
		     "GET /debug/pprof/allocs?seconds=301 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		     "400", "seconds is");
	waiting = served_connect(&served);
	assert_int_equal(write(waiting, request, sizeof(request) - 1), sizeof(request) - 1);
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200",
		     "/metrics 1");
	text = served_read(&served, waiting);
	assert_non_null(strstr(text, "\r\n\r\n/debug/pprof/allocs 2 since"));
	free(text);
	assert_int_equal(served.begun, 1);
	assert_int_equal(served.dropped, 1);
	/* One that still waits when the server ends. */
	left = served_connect(&served);
	assert_int_equal(write(left, request, sizeof(request) - 1), sizeof(request) - 1);
	check_answer(&served, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", "ok\n");
	assert_int_equal(served.begun, 2);
	served_close(&served);
	assert_int_equal(served.dropped, 2);
	close(left);
}

/* Figures of the server itself. */
static void test_http_metrics(void **state)
{
	struct served served;
	struct buffer text = { 0 };

	(void)state;
	served_open(&served, &(struct request_policy){ .checks_host = true });
	check_answer(&served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", "");
	check_answer(&served, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "");
	check_answer(&served, "GET /y HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "");
	http_append_metrics(served.http, &text);
	assert_non_null(strstr(text.data, "tracer_http_requests_total{code=\"200\"} 1\n"));
	assert_non_null(strstr(text.data, "tracer_http_requests_total{code=\"404\"} 2\n"));
	buffer_free(&text);
	served_close(&served);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),  cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_token),	   cmocka_unit_test(test_requests),
		cmocka_unit_test(test_hosts),	   cmocka_unit_test(test_authorization),
		cmocka_unit_test(test_index),	   cmocka_unit_test(test_http),
		cmocka_unit_test(test_http_head),  cmocka_unit_test(test_http_failure),
		cmocka_unit_test(test_http_token), cmocka_unit_test(test_http_garbage),
		cmocka_unit_test(test_http_many),  cmocka_unit_test(test_http_metrics),
		cmocka_unit_test(test_http_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
