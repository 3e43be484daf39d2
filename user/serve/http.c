/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See http.h. What takes time, or holds memory, is limited here; what a request may do is decided in request.c. libmicrohttpd has a limit
 * of silence only, so a connection that takes too long is shut down by a timer.
 */
#include "serve/http.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/memory.h"

#define CONNECTIONS_MAX 64
/* For new ones until those that they push out are closed. */
#define CONNECTIONS_SPARE 16
#define REQUEST_BYTES_MAX (16 << 10) /* with its headers */
#define SILENCE_SECONDS 10
#define REQUEST_MS 10000 /* until a request is there as a whole */
#define ANSWER_MS 60000 /* until its answer is read */
#define WAITING_MAX 4 /* connections that wait for their seconds to pass */
/* All answers that are in memory: clients that read slowly may hold old ones. */
#define BYTES_MAX ((size_t)256 << 20)
/* A page is made at most so often, and so that making it takes at most such a part of the time. */
#define CACHE_NS 1000000000ull
#define CACHE_PART 20
#define TICK_NS 1000000000ull
#define TICK_MIN_NS 1000000ull
#define ROUNDS_MAX 64

/* A client, from its connection to its end. */
struct http_peer {
	struct http_peer *next, *previous;
	struct MHD_Connection *connection;
	int fd; /* the library's */
	uint64_t deadline_ns; /* it is shut down then */
	const struct page *page; /* that it waits for; NULL = it does not wait */
	uint64_t until_ns;
	void *before;
	bool left; /* while it waited */
	bool admitted; /* its request is there, and is one that is answered with a page */
	bool pushed_out;
};

/* What was made of a page. */
struct http_copy {
	struct MHD_Response *response; /* NULL = none */
	uint64_t until_ns; /* it is good until then */
};

static const unsigned int http_codes[] = { 200, 400, 401, 403, 404, 405, 500, 503 };

#define HTTP_CODES (sizeof(http_codes) / sizeof(http_codes[0]))

struct http {
	struct http_options options;
	struct MHD_Daemon *daemon;
	struct http_peer *peers;
	size_t peer_count, waiting;
	struct http_copy copies[PAGE_MAX];
	size_t bytes; /* of all answers that are in memory */
	uint64_t answers[HTTP_CODES];
	struct watch on_client, on_time;
};

/* An answer's bytes. */
struct http_bytes {
	struct http *http;
	struct buffer text;
};

/* Answers */

static void http_free_bytes(void *context)
{
	struct http_bytes *bytes = context;

	bytes->http->bytes -= bytes->text.capacity;
	buffer_free(&bytes->text);
	free(bytes);
}

/* Takes `text`. */
static struct MHD_Response *http_respond(struct http *http, struct buffer *text, const char *type)
{
	/* What a page may do: nothing but show itself. */
	static const char *const headers[][2] = {
		{ "Connection", "close" },
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Content-Security-Policy",
		  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
		  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	};
	struct http_bytes *bytes = memory_alloc(1, sizeof(*bytes));
	struct MHD_Response *response;
	size_t i;

	*bytes = (struct http_bytes){ .http = http, .text = *text };
	*text = (struct buffer){ 0 };
	http->bytes += bytes->text.capacity;
	response = MHD_create_response_from_buffer_with_free_callback_cls(
		bytes->text.length, bytes->text.data, http_free_bytes, bytes);
	if (!response) {
		http_free_bytes(bytes);
		return NULL;
	}
	MHD_add_response_header(response, "Content-Type", type);
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	return response;
}

/* Queue an answer, which may be NULL where there is no memory for one. */
static enum MHD_Result http_queue(struct http *http, struct http_peer *peer, unsigned int status,
				  struct MHD_Response *response)
{
	size_t i;

	for (i = 0; i < HTTP_CODES; i++)
		http->answers[i] += http_codes[i] == status;
	peer->deadline_ns = deadline_in_ms(ANSWER_MS);
	if (!response)
		return MHD_NO;
	return MHD_queue_response(peer->connection, status, response);
}

/* A sentence in place of a page. */
static enum MHD_Result http_refuse(struct http *http, struct http_peer *peer, unsigned int status,
				   const char *sentence)
{
	struct buffer text = { 0 };
	struct MHD_Response *response;
	enum MHD_Result result;

	buffer_printf(&text, "%s\n", sentence);
	response = http_respond(http, &text, "text/plain; charset=utf-8");
	if (response && status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (response && status == 405)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (response && status == 503)
		MHD_add_response_header(response, "Retry-After", "5");
	result = http_queue(http, peer, status, response);
	if (response)
		MHD_destroy_response(response);
	return result;
}

/* Pages */

static void http_forget(struct http_copy *copy)
{
	if (copy->response)
		MHD_destroy_response(copy->response);
	*copy = (struct http_copy){ 0 };
}

static int http_make(struct http *http, const struct page *page, void *before, struct buffer *text)
{
	if (page->kind == PAGE_REPORT)
		return http->options.make(http->options.context, page, before, text);
	if (page->kind == PAGE_INDEX)
		page_append_index(text);
	else
		buffer_append_string(text, "ok\n");
	return 0;
}

/* The page as it is now, or was a moment ago. */
static enum MHD_Result http_send_page(struct http *http, struct http_peer *peer,
				      const struct page *page)
{
	struct http_copy *copy = &http->copies[page_number(page)];
	uint64_t begin_ns = clock_now_ns(), took_ns;
	struct buffer text = { 0 };
	enum MHD_Result result;
	int code;

	if (copy->response && !deadline_has_passed(copy->until_ns))
		return http_queue(http, peer, 200, copy->response);
	http_forget(copy);
	code = http_make(http, page, NULL, &text);
	if (code) {
		result = http_refuse(http, peer, 500, text.data);
		buffer_free(&text);
		return result;
	}
	took_ns = clock_now_ns() - begin_ns;
	copy->response = http_respond(http, &text, page->type);
	copy->until_ns = begin_ns + took_ns +
			 (took_ns * CACHE_PART > CACHE_NS ? took_ns * CACHE_PART : CACHE_NS);
	return http_queue(http, peer, 200, copy->response);
}

/* What has changed since the client has begun to wait. */
static enum MHD_Result http_send_change(struct http *http, struct http_peer *peer)
{
	struct buffer text = { 0 };
	struct MHD_Response *response = NULL;
	enum MHD_Result result;
	int code = http_make(http, peer->page, peer->before, &text);

	if (code) {
		result = http_refuse(http, peer, 500, text.data);
	} else {
		response = http_respond(http, &text, peer->page->type);
		result = http_queue(http, peer, 200, response);
	}
	buffer_free(&text);
	if (response)
		MHD_destroy_response(response);
	return result;
}

static void http_stop_waiting(struct http *http, struct http_peer *peer)
{
	if (!peer->page)
		return;
	http->options.drop(peer->before);
	peer->before = NULL;
	peer->page = NULL;
	http->waiting--;
}

/* The answer comes when the seconds have passed. */
static enum MHD_Result http_wait(struct http *http, struct http_peer *peer,
				 const struct request_answer *answer)
{
	if (http->waiting == WAITING_MAX)
		return http_refuse(http, peer, 503, "too many others wait for such a page");
	peer->before = http->options.begin(http->options.context);
	if (!peer->before)
		return http_refuse(http, peer, 500, "what was allocated cannot be read");
	peer->page = answer->page;
	peer->until_ns = clock_now_ns() + answer->seconds * 1000000000;
	peer->deadline_ns = 0;
	http->waiting++;
	MHD_suspend_connection(peer->connection);
	return MHD_YES;
}

/* Requests */

static const char *http_header(struct http_peer *peer, const char *name)
{
	return MHD_lookup_connection_value(peer->connection, MHD_HEADER_KIND, name);
}

static struct request_answer http_decide(struct http *http, struct http_peer *peer,
					 const char *method, const char *path)
{
	const char *length = http_header(peer, "Content-Length");
	const struct request request = {
		.method = method,
		.path = path,
		.host = http_header(peer, "Host"),
		.authorization = http_header(peer, "Authorization"),
		.seconds = MHD_lookup_connection_value(peer->connection, MHD_GET_ARGUMENT_KIND,
						       "seconds"),
		.has_body = (length && strcmp(length, "0") != 0) ||
			    http_header(peer, "Transfer-Encoding"),
	};

	return request_decide(&request, &http->options.policy);
}

/* Called when the headers are there, when the rest is, and when the wait is over. */
static enum MHD_Result http_handle(void *context, struct MHD_Connection *connection,
				   const char *path, const char *method, const char *version,
				   const char *body, size_t *body_size, void **state)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_peer *peer = info ? info->socket_context : NULL;
	struct http *http = context;
	struct request_answer answer;
	enum MHD_Result result;

	(void)version, (void)body, (void)body_size;
	if (!peer || peer->left)
		return MHD_NO;
	if (peer->page) {
		result = http_send_change(http, peer);
		http_stop_waiting(http, peer);
		return result;
	}
	answer = http_decide(http, peer, method, path);
	if (answer.status != 200)
		return http_refuse(http, peer, answer.status, answer.sentence);
	peer->admitted = true;
	if (!*state) {
		*state = peer;
		return MHD_YES;
	}
	if (http->bytes > BYTES_MAX)
		return http_refuse(http, peer, 503, "too many answers wait to be read");
	return answer.seconds ? http_wait(http, peer, &answer)
			      : http_send_page(http, peer, answer.page);
}

/* Connections */

/*
 * The connection that has been without a request with the token for the longest time: its client sends nothing, or has no
 * token. Returns NULL if each has such a request.
 */
static struct http_peer *http_oldest_stranger(const struct http *http)
{
	struct http_peer *peer, *oldest = NULL;

	for (peer = http->peers; peer; peer = peer->next)
		if (!peer->admitted && !peer->pushed_out)
			oldest = peer;
	return oldest;
}

/* If there are too many, the oldest stranger makes room: strangers cannot keep clients with the token out. */
static void http_make_room(struct http *http)
{
	struct http_peer *peer;

	if (http->peer_count < CONNECTIONS_MAX)
		return;
	peer = http_oldest_stranger(http);
	if (!peer)
		return;
	peer->pushed_out = true;
	shutdown(peer->fd, SHUT_RDWR);
}

static void http_add_peer(struct http *http, struct MHD_Connection *connection, void **ret_peer)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_peer *peer = memory_alloc(1, sizeof(*peer));

	http_make_room(http);
	*peer = (struct http_peer){ .connection = connection,
				    .fd = info ? info->connect_fd : -1,
				    .deadline_ns = deadline_in_ms(REQUEST_MS),
				    .next = http->peers };
	if (http->peers)
		http->peers->previous = peer;
	http->peers = peer;
	http->peer_count++;
	*ret_peer = peer;
}

static void http_remove_peer(struct http *http, struct http_peer *peer)
{
	http_stop_waiting(http, peer);
	if (peer->next)
		peer->next->previous = peer->previous;
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		http->peers = peer->next;
	http->peer_count--;
	free(peer);
}

static void http_on_connection(void *context, struct MHD_Connection *connection, void **peer,
			       enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		http_add_peer(context, connection, peer);
	} else if (*peer) {
		http_remove_peer(context, *peer);
		*peer = NULL;
	}
}

/* Time */

/* When there is something to do at the latest, from now. 0 = never. */
static uint64_t http_next_ns(struct http *http)
{
	uint64_t next_ns = http->peer_count ? TICK_NS : 0;
	MHD_UNSIGNED_LONG_LONG wait_ms;
	size_t i;

	for (i = 0; i < PAGE_MAX && !next_ns; i++)
		next_ns = http->copies[i].response ? TICK_NS : 0;
	if (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES &&
	    (!next_ns || wait_ms < next_ns / 1000000))
		next_ns = wait_ms ? wait_ms * 1000000 : TICK_MIN_NS;
	return next_ns;
}

/* Has the client of a connection at which the library does not look closed it? */
static bool http_has_left(const struct http_peer *peer)
{
	struct pollfd end = { .fd = peer->fd, .events = POLLRDHUP };

	return poll(&end, 1, 0) > 0;
}

/* Others may wait in its place. */
static void http_give_up(struct http *http, struct http_peer *peer)
{
	peer->left = true;
	peer->deadline_ns = deadline_in_ms(ANSWER_MS);
	http_stop_waiting(http, peer);
	MHD_resume_connection(peer->connection);
}

/* Who has waited long enough is answered, who has taken too long is shut down, and what is old is forgotten. */
static void http_expire(struct http *http)
{
	struct http_peer *peer;
	size_t i;

	for (peer = http->peers; peer; peer = peer->next) {
		if (peer->page && deadline_has_passed(peer->until_ns))
			MHD_resume_connection(peer->connection);
		else if (peer->page && http_has_left(peer))
			http_give_up(http, peer);
		else if (deadline_has_passed(peer->deadline_ns))
			shutdown(peer->fd, SHUT_RDWR);
	}
	for (i = 0; i < PAGE_MAX; i++)
		if (deadline_has_passed(http->copies[i].until_ns))
			http_forget(&http->copies[i]);
}

/*
 * The library looks at its own descriptors. Where a connection has ended, it accepts another one only at its next run. Clients may keep the
 * timer from its end, so times are looked at here.
 */
static void http_run(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;
	unsigned int rounds = 0;
	size_t before;

	http_expire(http);
	do {
		before = http->peer_count;
		MHD_run(http->daemon);
	} while (++rounds < ROUNDS_MAX &&
		 (http->peer_count < before ||
		  (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES && !wait_ms)));
	loop_set_timer(http->on_time.fd, http_next_ns(http));
}

static void http_on_client(void *context, struct watch *watch)
{
	(void)watch;
	http_run(context);
}

static void http_on_time(void *context, struct watch *watch)
{
	loop_take_ticks(watch->fd);
	http_run(context);
}

/* Life */

/* From one of the library's functions, none of which explains itself. */
static int http_fail(struct error *error)
{
	return error_set(error, ERROR_PERMISSION, -ENOMEM, "cannot serve by HTTP: %s",
			 strerror(errno ? errno : ENOMEM));
}

static int http_watch(struct http *http, struct loop *loop, struct error *error)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int timer = loop_open_timer(TICK_NS, 0), code;

	http->on_time = (struct watch){ .fd = timer, .handle = http_on_time, .context = http };
	if (!info || timer < 0)
		return http_fail(error);
	http->on_client =
		(struct watch){ .fd = info->epoll_fd, .handle = http_on_client, .context = http };
	code = loop_add(loop, &http->on_client);
	if (!code)
		code = loop_add(loop, &http->on_time);
	return code ? http_fail(error) : 0;
}

int http_open(const struct http_options *options, struct loop *loop, struct http **ret_http,
	      struct error *error)
{
	struct http *http = memory_alloc(1, sizeof(*http));
	int code;

	http->options = *options;
	http->on_time.fd = -1;
	errno = 0;
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_handle, http,
		MHD_OPTION_LISTEN_SOCKET, options->fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)(CONNECTIONS_MAX + CONNECTIONS_SPARE), MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)SILENCE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_BYTES_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, http_on_connection, http, MHD_OPTION_END);
	if (!http->daemon) {
		free(http);
		return http_fail(error);
	}
	code = http_watch(http, loop, error);
	if (code)
		http_close(http);
	else
		*ret_http = http;
	return code;
}

void http_close(struct http *http)
{
	struct http_peer *peer;
	size_t i;

	if (!http)
		return;
	/* The library does not end while somebody waits. */
	for (peer = http->peers; peer; peer = peer->next)
		if (peer->page)
			MHD_resume_connection(peer->connection);
	for (i = 0; i < PAGE_MAX; i++)
		http_forget(&http->copies[i]);
	MHD_stop_daemon(http->daemon);
	if (http->on_time.fd >= 0)
		close(http->on_time.fd);
	free(http);
}

void http_append_metrics(const struct http *http, struct buffer *out)
{
	size_t i;

	buffer_append_string(out, "# HELP tracer_http_requests_total Requests that were answered, "
				  "by the status of the answer.\n"
				  "# TYPE tracer_http_requests_total counter\n");
	for (i = 0; i < HTTP_CODES; i++)
		buffer_printf(out, "tracer_http_requests_total{code=\"%u\"} %" PRIu64 "\n",
			      http_codes[i], http->answers[i]);
	buffer_printf(out,
		      "# HELP tracer_http_connections Connections that are open.\n"
		      "# TYPE tracer_http_connections gauge\ntracer_http_connections %zu\n",
		      http->peer_count);
}
