/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversations with a worker that may die at any time: see client.h. */
#include "decode/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "decode/image.h"
#include "decode/worker.h"

/* More files than any honest look-up wants. */
#define FILES_MAX 256

struct client_lookup {
	const struct module *module;
	int64_t deadline_ms;
	unsigned int symbols, files; /* so far */
	void (*visit)(void *context, const struct message *symbol);
	void *context;
};

int client_start(struct client *client, const struct debug_search *search, int timeout_ms)
{
	*client = (struct client){ .search = *search, .timeout_ms = timeout_ms, .socket = -1 };
	return fork_server_start(&client->server, worker_run);
}

static void client_drop(struct client *client)
{
	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
	client->worker = 0;
}

static int client_renew(struct client *client)
{
	int socket;

	client_drop(client);
	socket = fork_server_renew(&client->server, &client->worker);
	if (socket < 0)
		return -ESRCH;
	client->socket = socket;
	return 0;
}

static int client_open(const struct client *client, const struct client_lookup *lookup,
		       const struct message *message, uint32_t *candidate)
{
	struct debug_want want = { .kind = message->what,
				   .name = message->text,
				   .build_id_size = message->id_size };

	memcpy(want.build_id, message->id, message->id_size);
	if (want.kind != WANT_MODULE)
		return debug_search_open(&client->search, lookup->module, &want, candidate);
	/* The open file itself: what has the path by now may be another one. */
	*candidate = 0;
	return dup(lookup->module->fd);
}

static int client_serve(struct client *client, struct client_lookup *lookup,
			const struct message *message)
{
	struct message answer = { .kind = MESSAGE_FILE, .detail = message->detail };
	int64_t begin = message_clock_ms();
	int fd, code;

	if (++lookup->files > FILES_MAX)
		return -EPROTO;
	fd = client_open(client, lookup, message, &answer.detail);
	code = message_send(client->socket, &answer, fd);
	if (fd >= 0)
		close(fd);
	lookup->deadline_ms += message_clock_ms() - begin;
	return code;
}

/* Handle one message. Returns 1 at the end of the answer, 0 to go on, or a negative errno. */
static int client_step(struct client *client, struct client_lookup *lookup)
{
	struct message message;
	int code = message_receive(client->socket, &message, NULL, lookup->deadline_ms);

	if (code)
		return code;
	if (message.module != lookup->module->number)
		return -EPROTO;
	switch (message.kind) {
	case MESSAGE_WANT:
		return client_serve(client, lookup, &message);
	case MESSAGE_SYMBOL:
		if (++lookup->symbols > IMAGE_DEPTH_MAX)
			return -EPROTO;
		lookup->visit(lookup->context, &message);
		return 0;
	case MESSAGE_END:
		return 1;
	default:
		return -EPROTO;
	}
}

/* Ask the present worker, or a new one if that one died since. */
static int client_ask(struct client *client, const struct message *question)
{
	int code = -EPIPE;

	if (client->socket >= 0)
		code = message_send(client->socket, question, -1);
	if (!code)
		return 0;
	code = client_renew(client);
	return code ? code : message_send(client->socket, question, -1);
}

int client_lookup(struct client *client, const struct module *module, uint64_t offset,
		  void (*visit)(void *context, const struct message *symbol), void *context)
{
	const struct message question = { .kind = MESSAGE_LOOKUP,
					  .module = module->number,
					  .number = offset };
	struct client_lookup lookup = { .module = module,
					.deadline_ms = message_clock_ms() + client->timeout_ms,
					.visit = visit,
					.context = context };
	int code = client_ask(client, &question);

	while (!code)
		code = client_step(client, &lookup);
	if (code > 0)
		return 0;
	if (code != -ESRCH && client_renew(client))
		return -ESRCH;
	return code;
}

void client_stop(struct client *client)
{
	client_drop(client);
	fork_server_stop(&client->server);
}
