/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversations with a worker that may die at any time: see client.h. */
#include "decode/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/dwarf_image.h"
#include "decode/jobs.h"

/* More files than any honest look-up wants. */
#define FILES_MAX 256

/* For the build IDs of a folder of debug files. */
#define INDEX_MS 10000

/* As the kernel has it. */
#define ERRNO_MAX 4095

/* The largest table of rows with its pages, and as much again. */
#define ANSWER_MAX (48u << 20)

/* A question that is being answered. */
struct client_question {
	const struct module *module;
	int64_t deadline_ms;
	unsigned int symbols, files; /* so far */
	void (*visit)(void *context, const struct message *symbol);
	void *context;
	struct buffer *answer; /* NULL: there are symbols instead */
	int result;
};

int client_start(struct client *client, const struct debug_search *search, int timeout_ms,
		 bool (*is_over)(void))
{
	*client = (struct client){ .search = *search,
				   .timeout_ms = timeout_ms,
				   .socket = -1,
				   .lacking = MODULE_NUMBER_NONE };
	patience_open(&client->patience, is_over);
	return fork_server_start(&client->server);
}

static void client_drop(struct client *client)
{
	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
}

/* Returns 0, -EPERM, -ESRCH or -ECANCELED. */
static int client_renew(struct client *client)
{
	int socket;

	client_drop(client);
	socket = fork_server_renew(&client->server, &client->patience);
	if (socket < 0)
		return socket == -EPERM || socket == -ECANCELED ? socket : -ESRCH;
	client->socket = socket;
	return 0;
}

static int client_search(struct client *client, const struct client_question *question,
			 const struct debug_want *want, uint32_t *candidate)
{
	/* The worker asks on if what it was given last did not fit. */
	const bool asks_on = *candidate;
	int fd = debug_search_open(&client->search, question->module, want, candidate);

	if (asks_on && client->given_chosen)
		client->fitted--;
	client->given_chosen = fd >= 0 && debug_search_is_chosen(&client->search, *candidate);
	client->fitted += client->given_chosen;
	/* The last thing that is asked for. */
	client->lacking = fd < 0 ? question->module->number : MODULE_NUMBER_NONE;
	return fd;
}

static int client_open(struct client *client, const struct client_question *question,
		       const struct message *message, uint32_t *candidate)
{
	struct debug_want want = { .kind = message->what,
				   .name = message->text,
				   .build_id_size = message->id_size };

	memcpy(want.build_id, message->id, message->id_size);
	if (want.kind != WANT_MODULE)
		return client_search(client, question, &want, candidate);
	/* The open file itself: what has the path by now may be another one. */
	*candidate = 0;
	return dup(question->module->fd);
}

static int client_serve(struct client *client, struct client_question *question,
			const struct message *message)
{
	struct message answer = { .kind = MESSAGE_FILE, .detail = message->detail };
	int64_t begin = patience_now_ms(&client->patience);
	int fd, code;

	if (++question->files > FILES_MAX)
		return -EPROTO;
	fd = client_open(client, question, message, &answer.detail);
	code = message_post(client->socket, &answer, fd);
	if (fd >= 0)
		close(fd);
	question->deadline_ms += patience_now_ms(&client->patience) - begin;
	return code;
}

static int client_receive_bytes(struct client *client, const struct client_question *question,
				unsigned char *at, size_t size)
{
	size_t part;
	int code = 0;

	for (; !code && size; at += part, size -= part) {
		part = size < MESSAGE_PACKET_MAX ? size : MESSAGE_PACKET_MAX;
		code = patience_wait(&client->patience, client->socket, question->deadline_ms);
		if (!code)
			code = message_receive_bytes(client->socket, at, part, -1);
		if (!code && patience_now_ms(&client->patience) >= question->deadline_ms)
			code = -ETIMEDOUT;
	}
	return code;
}

/* Returns 1 or a negative errno. */
static int client_take_answer(struct client *client, struct client_question *question,
			      const struct message *message)
{
	struct buffer *answer = question->answer;
	void *bytes;
	int code;

	if (!answer || message->number > ANSWER_MAX || message->detail > ERRNO_MAX)
		return -EPROTO;
	question->result = -(int)message->detail;
	bytes = memory_alloc(1, message->number);
	code = client_receive_bytes(client, question, bytes, message->number);
	if (!code && message->number)
		buffer_append(answer, bytes, message->number);
	free(bytes);
	return code ? code : 1;
}

/* Handle one message. Returns 1 at the end of the answer, 0 to go on, or a negative errno. */
static int client_step(struct client *client, struct client_question *question)
{
	struct message message;
	int code = patience_wait(&client->patience, client->socket, question->deadline_ms);

	if (!code)
		code = message_receive(client->socket, &message, NULL, -1);
	if (code)
		return code;
	if (message.module != question->module->number)
		return -EPROTO;
	switch (message.kind) {
	case MESSAGE_WANT:
		return client_serve(client, question, &message);
	case MESSAGE_SYMBOL:
		if (question->answer || ++question->symbols > DWARF_IMAGE_DEPTH_MAX)
			return -EPROTO;
		question->visit(question->context, &message);
		return 0;
	case MESSAGE_ANSWER:
		return client_take_answer(client, question, &message);
	case MESSAGE_END:
		return question->answer ? -EPROTO : 1;
	default:
		return -EPROTO;
	}
}

/* `bytes` go with the open file of the module. */
static int client_post(struct client *client, const struct message *message,
		       const struct buffer *bytes, int fd)
{
	int code = message_post(client->socket, message, bytes ? fd : -1);

	if (!code && bytes)
		code = message_post_bytes(client->socket, bytes->data, bytes->length);
	return code;
}

/* Ask the present worker, or a new one if that one died since. */
static int client_ask(struct client *client, const struct message *message,
		      const struct buffer *bytes, int fd)
{
	int code = -EPIPE;

	if (client->socket >= 0)
		code = client_post(client, message, bytes, fd);
	if (!code)
		return 0;
	code = client_renew(client);
	return code ? code : client_post(client, message, bytes, fd);
}

static int client_converse(struct client *client, const struct message *message,
			   const struct buffer *bytes, struct client_question *question)
{
	int code = client_ask(client, message, bytes, question->module->fd);

	question->deadline_ms = patience_now_ms(&client->patience) + client->timeout_ms;
	while (!code)
		code = client_step(client, question);
	if (code > 0)
		return 0;
	if (code == -ECANCELED)
		client_drop(client);
	if (code != -ESRCH && code != -EPERM && code != -ECANCELED) {
		int renewed = client_renew(client);

		code = renewed ? renewed : code;
	}
	return code;
}

/* The worker decodes what is there: whoever has put it there may be as hostile as a target. Returns as client_read. */
static int client_read_build_id(struct client *client, size_t number)
{
	struct debug_index_file *file = &client->search.index.items[number];
	struct module module = { .path = file->path,
				 .fd = debug_index_open(&client->search.index, number),
				 .number = MODULE_NUMBER_NONE };
	struct buffer answer = { 0 };
	int result, code;

	if (module.fd < 0)
		return 0;
	code = client_read(client, &module, JOB_BUILD_ID, &(struct buffer){ 0 }, &answer, &result);
	if (!code && !result && answer.length && answer.length <= BUILD_ID_MAX) {
		file->build_id_size = answer.length;
		memcpy(file->build_id, answer.data, answer.length);
	}
	buffer_free(&answer);
	close(module.fd);
	return code;
}

void client_index(struct client *client)
{
	struct debug_index *index = &client->search.index;
	int64_t end_ms;
	size_t i;
	int code = 0;

	if (client->indexed || !client->search.directory)
		return;
	client->indexed = true;
	end_ms = patience_now_ms(&client->patience) + INDEX_MS;
	debug_index_list(index, client->search.directory);
	for (i = 0; i < index->count && patience_now_ms(&client->patience) < end_ms; i++) {
		code = client_read_build_id(client, i);
		if (code == -ECANCELED || code == -ESRCH || code == -EPERM)
			break;
	}
	index->cut |= i < index->count;
}

int client_lookup(struct client *client, const struct module *module, uint64_t offset,
		  void (*visit)(void *context, const struct message *symbol), void *context)
{
	const struct message message = { .kind = MESSAGE_LOOKUP,
					 .module = module->number,
					 .number = offset };
	struct client_question question = { .module = module, .visit = visit, .context = context };

	return client_converse(client, &message, NULL, &question);
}

int client_read(struct client *client, const struct module *module, uint32_t job,
		const struct buffer *bytes, struct buffer *answer, int *ret_result)
{
	struct message message = {
		.kind = MESSAGE_READ, .what = job, .module = module->number, .number = bytes->length
	};
	struct client_question question = { .module = module, .answer = answer };
	int code;

	message_set_text(message.text, module->path);
	code = client_converse(client, &message, bytes, &question);
	if (!code)
		*ret_result = question.result;
	return code;
}

void client_distrust(struct client *client)
{
	client_renew(client);
}

void client_stop(struct client *client)
{
	client_drop(client);
	debug_index_free(&client->search.index);
	fork_server_stop(&client->server);
	patience_close(&client->patience);
}
