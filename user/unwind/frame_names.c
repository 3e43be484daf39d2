/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frame_names.h. */
#include "unwind/frame_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

/* A text that is kept once. */
struct text {
	struct text *next; /* with the same hash */
	char bytes[];
};

/* A frame whose name is known. */
struct known_name {
	struct frame_named named;
	uint64_t code_key; /* of its code when it was named */
	struct known_name
		*older; /* of other code that had the same address; their names are still in use */
};

struct frame_names {
	struct table texts; /* struct text by hash */
	struct table known; /* struct known_name by hash of process and frame */
};

struct frame_names *frame_names_new(void)
{
	return memory_alloc(1, sizeof(struct frame_names));
}

static uint64_t names_hash(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	return hash;
}

static uint64_t names_hash_words(const uint64_t *words, size_t count)
{
	return names_hash(0xcbf29ce484222325ull, words, count * sizeof(*words));
}

static const char *names_keep_text(struct frame_names *names, const char *text)
{
	size_t size = strlen(text) + 1;
	uint64_t hash = names_hash(0xcbf29ce484222325ull, text, size);
	struct text *first = table_get(&names->texts, hash), *kept;

	if (size == 1)
		return NULL;
	for (kept = first; kept; kept = kept->next)
		if (!strcmp(kept->bytes, text))
			return kept->bytes;
	kept = memory_alloc(1, sizeof(*kept) + size);
	kept->next = first;
	memcpy(kept->bytes, text, size);
	table_put(&names->texts, hash, kept);
	return kept->bytes;
}

static void names_fill(struct frame_names *names, struct known_name *known,
		       const struct interp_name *name, uint64_t code_key)
{
	known->named.name = (struct frame_name){ .function = names_keep_text(names, name->function),
						 .file = names_keep_text(names, name->file),
						 .line = name->line };
	known->named.covers_next = name->covers_next;
	known->code_key = code_key;
}

const struct frame_named *frame_names_get(struct frame_names *names, pid_t pid,
					  const struct interpreter *interpreter,
					  const struct target_memory *memory,
					  const struct interp_frame *frame,
					  const struct interp_code *copy)
{
	/* Code with the same content has the same names, wherever it stands. */
	uint64_t words[] = { frame->content ? 0 : (uint64_t)pid, frame->content ? 0 : frame->code,
			     frame->at, frame->content };
	uint64_t key = names_hash_words(words, sizeof(words) / sizeof(words[0]));
	uint64_t code_key = interpreter_key(interpreter, memory, frame);
	struct known_name *first = table_get(&names->known, key), *known;
	struct interp_name name;

	for (known = first; known; known = known->older)
		if (known->code_key == code_key)
			return &known->named;
	if (!interpreter_name(interpreter, memory, frame, copy, &name))
		return NULL;
	known = memory_alloc(1, sizeof(*known));
	names_fill(names, known, &name, code_key);
	known->older = first;
	table_put(&names->known, key, known);
	return &known->named;
}

static void names_free_texts(struct table *texts)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(texts, &cursor))) {
		struct text *text = slot->value, *next;

		for (; text; text = next) {
			next = text->next;
			free(text);
		}
	}
	table_free(texts);
}

void frame_names_free(struct frame_names *names)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!names)
		return;
	while ((slot = table_next(&names->known, &cursor))) {
		struct known_name *known = slot->value, *older;

		for (; known; known = older) {
			older = known->older;
			free(known);
		}
	}
	table_free(&names->known);
	names_free_texts(&names->texts);
	free(names);
}
