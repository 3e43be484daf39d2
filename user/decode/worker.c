/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look-ups in the sandbox: see worker.h. */
#include "decode/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/dwarf_image.h"
#include "decode/jobs.h"
#include "decode/protocol.h"
#include "decode/sandbox.h"

/* Files are kept open, the most recently used ones, up to these limits. */
#define IMAGES_MAX 64
#define BYTES_MAX ((uint64_t)2 << 30)
#define COPY_WEIGHT 16

/* What comes with a question: options, named functions. */
#define QUESTION_MAX (1u << 20)

struct worker_image {
	uint32_t module;
	bool present; /* known, though perhaps not usable */
	struct dwarf_image *image; /* NULL = no program */
	uint64_t bytes; /* of its files */
	uint64_t used; /* when, by the worker's count of look-ups */
};

struct worker {
	int socket;
	struct message message; /* the one in hand */
	struct debug_source source;
	uint32_t module; /* being looked up */
	uint64_t clock; /* look-ups so far */
	uint64_t opened; /* bytes of the files that came during this look-up */
	struct worker_image images[IMAGES_MAX];
};

/* There is nothing to repair in a conversation that went wrong: the tracer starts another worker. */
static void worker_receive(struct worker *worker, enum message_kind kind, int *ret_fd)
{
	if (message_receive(worker->socket, &worker->message, ret_fd, -1) ||
	    worker->message.kind != kind)
		_exit(0);
}

static void worker_send(struct worker *worker)
{
	if (message_send(worker->socket, &worker->message, -1))
		_exit(0);
}

static int worker_open_file(void *context, const struct debug_want *want, uint32_t *candidate)
{
	struct worker *worker = context;
	struct stat status;
	int fd = -1;

	worker->message = (struct message){ .kind = MESSAGE_WANT,
					    .what = want->kind,
					    .module = worker->module,
					    .detail = *candidate,
					    .id_size = (uint32_t)want->build_id_size };
	memcpy(worker->message.id, want->build_id, want->build_id_size);
	message_set_text(worker->message.text, want->name);
	worker_send(worker);
	worker_receive(worker, MESSAGE_FILE, &fd);
	if (fd < 0)
		return -1;
	*candidate = worker->message.detail;
	/* A copy takes memory, and has no name (regular_file.h). */
	if (!fstat(fd, &status) && status.st_size > 0)
		worker->opened += (uint64_t)status.st_size * (status.st_nlink ? 1 : COPY_WEIGHT);
	return fd;
}

static void worker_forget(struct worker_image *entry)
{
	dwarf_image_free(entry->image);
	*entry = (struct worker_image){ 0 };
}

/* The entry of a module, or the one to use for it: a free one, or the one that was used longest ago. */
static struct worker_image *worker_find(struct worker *worker)
{
	struct worker_image *oldest = &worker->images[0];
	size_t i;

	for (i = 0; i < IMAGES_MAX; i++) {
		struct worker_image *entry = &worker->images[i];

		if (entry->present && entry->module == worker->module)
			return entry;
		if (entry->used < oldest->used)
			oldest = entry;
	}
	worker_forget(oldest);
	return oldest;
}

static struct dwarf_image *worker_open_image(struct worker *worker, struct worker_image *entry)
{
	struct debug_want want = { .kind = WANT_MODULE, .name = "" };
	uint32_t candidate = 0;
	int fd;

	entry->used = worker->clock;
	if (entry->present)
		return entry->image;
	entry->present = true;
	entry->module = worker->module;
	fd = worker_open_file(worker, &want, &candidate);
	if (fd >= 0)
		entry->image = dwarf_image_open(fd, &worker->source);
	return entry->image;
}

static void worker_limit_bytes(struct worker *worker)
{
	for (;;) {
		struct worker_image *oldest = NULL;
		uint64_t bytes = 0;
		size_t i;

		for (i = 0; i < IMAGES_MAX; i++) {
			struct worker_image *entry = &worker->images[i];

			bytes += entry->bytes;
			if (entry->bytes && entry->used != worker->clock &&
			    (!oldest || entry->used < oldest->used))
				oldest = entry;
		}
		if (bytes <= BYTES_MAX || !oldest)
			return;
		worker_forget(oldest);
	}
}

static void worker_answer(struct worker *worker)
{
	uint64_t offset = worker->message.number;
	struct dwarf_image_names names = { 0 };
	struct worker_image *entry;
	struct dwarf_image *image;
	size_t i;

	worker->module = worker->message.module;
	worker->clock++;
	worker->opened = 0;
	entry = worker_find(worker);
	image = worker_open_image(worker, entry);
	if (image)
		dwarf_image_lookup(image, offset, &names);
	entry->bytes += worker->opened;
	for (i = 0; i < names.count; i++) {
		worker->message = (struct message){ .kind = MESSAGE_SYMBOL,
						    .module = worker->module,
						    .detail = names.items[i].line };
		message_set_text(worker->message.text, names.items[i].function);
		message_set_text(worker->message.file, names.items[i].file);
		worker_send(worker);
	}
	dwarf_image_names_clear(&names);
	worker->message = (struct message){ .kind = MESSAGE_END, .module = worker->module };
	worker_send(worker);
	worker_limit_bytes(worker);
}

static void worker_receive_bytes(struct worker *worker, struct buffer *bytes)
{
	uint64_t size = worker->message.number;
	void *data;

	if (size > QUESTION_MAX)
		_exit(0);
	data = memory_alloc(1, size);
	if (message_receive_bytes(worker->socket, data, size, -1))
		_exit(0);
	buffer_clear(bytes);
	if (size)
		buffer_append(bytes, data, size);
	free(data);
}

/* Have a job done. Nothing of the file is kept. */
static void worker_read(struct worker *worker, int fd)
{
	const enum decode_job job = worker->message.what;
	char *path = memory_copy_string(worker->message.text);
	struct buffer question = { 0 }, answer = { 0 };
	int code = -EBADF;

	worker->module = worker->message.module;
	worker_receive_bytes(worker, &question);
	if (fd >= 0 || job == JOB_DEMANGLE)
		code = job_run(job, fd, path, &question, &worker->source, &answer);
	worker->message = (struct message){ .kind = MESSAGE_ANSWER,
					    .module = worker->module,
					    .detail = (uint32_t)-code,
					    .number = code ? 0 : answer.length };
	worker_send(worker);
	if (!code && message_send_bytes(worker->socket, answer.data, answer.length))
		_exit(0);
	buffer_free(&question);
	buffer_free(&answer);
	free(path);
}

void worker_run(int socket)
{
	struct worker *worker = memory_alloc(1, sizeof(*worker));

	worker->socket = socket;
	worker->source = (struct debug_source){ worker_open_file, worker };
	for (;;) {
		int fd = -1;

		if (message_receive(socket, &worker->message, &fd, -1))
			_exit(0);
		if (worker->message.kind == MESSAGE_LOOKUP) {
			sandbox_allow_seconds(WORKER_LOOKUP_SECONDS);
			worker_answer(worker);
		} else if (worker->message.kind == MESSAGE_READ) {
			sandbox_allow_seconds(WORKER_READ_SECONDS);
			worker_read(worker, fd);
		} else {
			_exit(0);
		}
		if (fd >= 0)
			close(fd);
	}
}
