/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See name_reader.h. */
#include "decode/name_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "decode/client.h"
#include "decode/jobs.h"
#include "decode/name_jobs.h"
#include "decode/wire.h"

/* For one question; the names of a report are not worth more. */
#define TIMEOUT_MS 2000

/* Of a question, whose size the worker limits. */
#define QUESTION_BYTES (512u << 10)

struct name_reader {
	struct client client;
	int broken; /* errno; 0 = it works */
};

struct name_reader *name_reader_new(bool (*is_over)(void))
{
	const struct debug_search search = { .host_directory = "/usr/lib/debug" };
	struct name_reader *reader = memory_alloc(1, sizeof(*reader));

	if (client_start(&reader->client, &search, TIMEOUT_MS, is_over))
		reader->broken = ESRCH;
	return reader;
}

void name_reader_free(struct name_reader *reader)
{
	if (!reader)
		return;
	client_stop(&reader->client);
	free(reader);
}

static int name_reader_ask(struct name_reader *reader, const struct module *module,
			   enum decode_job job, const struct buffer *question,
			   struct buffer *answer)
{
	int result = 0, code;

	if (reader->broken)
		return -reader->broken;
	code = client_read(&reader->client, module, job, question, answer, &result);
	if (code == -EPERM || code == -ESRCH)
		reader->broken = -code;
	return code ? code : result;
}

/* The worker was taken over: the next question goes to another one. */
static int name_reader_refuse(struct name_reader *reader)
{
	client_distrust(&reader->client);
	return -EPROTO;
}

static char *name_reader_text(struct wire *wire)
{
	char text[WIRE_TEXT_MAX];

	wire_get_text(wire, text);
	return wire->bad || !text[0] ? NULL : memory_copy_string(text);
}

/* How many of the texts go into one question. */
static size_t name_reader_part(const char *const *texts, size_t count)
{
	size_t bytes = 0, i;

	for (i = 0; i < count && i < NAME_JOB_ITEMS_MAX; i++) {
		bytes += strlen(texts[i]) + sizeof(uint32_t);
		if (i && bytes > QUESTION_BYTES)
			break;
	}
	return i;
}

static int name_reader_demangle_part(struct name_reader *reader, const char *const *mangled,
				     size_t count, char **ret_names)
{
	char path[] = "";
	const struct module none = { .path = path, .fd = -1, .number = MODULE_NUMBER_NONE };
	struct buffer question = { 0 }, answer = { 0 };
	struct wire wire;
	size_t i;
	int code;

	wire_put_number(&question, (uint32_t)count);
	for (i = 0; i < count; i++)
		wire_put_text(&question, mangled[i]);
	code = name_reader_ask(reader, &none, JOB_DEMANGLE, &question, &answer);
	wire = wire_begin(&answer);
	for (i = 0; i < count && !code; i++)
		ret_names[i] = name_reader_text(&wire);
	if (!code && !wire_is_whole(&wire))
		code = name_reader_refuse(reader);
	buffer_free(&question);
	buffer_free(&answer);
	return code;
}

int name_reader_demangle(struct name_reader *reader, const char *const *mangled, size_t count,
			 char **ret_names)
{
	size_t part, at;
	int code = 0;

	memset(ret_names, 0, count * sizeof(*ret_names));
	for (at = 0; at < count && !code; at += part) {
		part = name_reader_part(mangled + at, count - at);
		code = name_reader_demangle_part(reader, mangled + at, part, ret_names + at);
	}
	return code;
}

static int name_reader_places_part(struct name_reader *reader, const struct module *module,
				   const uint64_t *addresses, size_t count,
				   struct name_place *ret_places)
{
	struct buffer question = { 0 }, answer = { 0 };
	struct wire wire;
	size_t i;
	int code;

	wire_put_number(&question, (uint32_t)count);
	wire_put(&question, addresses, count * sizeof(*addresses));
	code = name_reader_ask(reader, module, JOB_PLACES, &question, &answer);
	wire = wire_begin(&answer);
	for (i = 0; i < count && !code; i++) {
		wire_get(&wire, &ret_places[i].into, sizeof(ret_places[i].into));
		ret_places[i].text = name_reader_text(&wire);
	}
	if (!code && !wire_is_whole(&wire))
		code = name_reader_refuse(reader);
	buffer_free(&question);
	buffer_free(&answer);
	return code;
}

int name_reader_places(struct name_reader *reader, const struct module *module,
		       const uint64_t *addresses, size_t count, struct name_place *ret_places)
{
	size_t part, at;
	int code = 0;

	memset(ret_places, 0, count * sizeof(*ret_places));
	for (at = 0; at < count && !code; at += part) {
		part = count - at < NAME_JOB_ITEMS_MAX ? count - at : NAME_JOB_ITEMS_MAX;
		code = name_reader_places_part(reader, module, addresses + at, part,
					       ret_places + at);
	}
	return code;
}
