/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frame_names.h. */
#include "frames/frame_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"

/* A frame of a process whose name is known. */
struct known_frame {
	uint64_t code, at,
		content; /* as in struct interp_frame; `code` is 0 where there is content */
	uint64_t code_key; /* of its code when it was named: other code may have the same address */
	struct frame_named named;
	struct known_frame *next; /* with the same hash */
};

struct frame_names {
	uint64_t seed; /* of the hashes */
	struct name_pool *pool;
};

struct frame_names *frame_names_new(void)
{
	struct frame_names *names = memory_alloc(1, sizeof(*names));

	names->seed = seed_new();
	names->pool = name_pool_new();
	return names;
}

static struct frame_named names_keep(struct frame_names *names, const struct interp_name *name)
{
	const struct frame_name found = { name->function, name->file, name->line };

	return (struct frame_named){ name_pool_keep(names->pool, &found), name->covers_next };
}

struct name_pool *frame_names_pool(const struct frame_names *names)
{
	return names->pool;
}

const struct frame_named *frame_names_get(struct frame_names *names, struct known_frames *known,
					  const struct interpreter *interpreter,
					  const struct target_memory *memory,
					  const struct interp_frame *frame,
					  const struct interp_code *copy)
{
	/* Code of a process with the same content has the same names, wherever it is. */
	uint64_t words[] = { frame->content ? 0 : frame->code, frame->at, frame->content };
	uint64_t hash = hash_bytes(names->seed, words, sizeof(words));
	uint64_t code_key = interpreter_key(interpreter, memory, frame);
	struct known_frame *first = table_get(&known->frames, hash), *found;
	struct interp_name name;

	for (found = first; found; found = found->next)
		if (found->code == words[0] && found->at == frame->at &&
		    found->content == frame->content && found->code_key == code_key)
			return &found->named;
	if (!interpreter_name(interpreter, memory, frame, copy, &name))
		return NULL;
	found = memory_alloc(1, sizeof(*found));
	*found = (struct known_frame){
		words[0], frame->at, frame->content, code_key, names_keep(names, &name), first
	};
	table_put(&known->frames, hash, found);
	return &found->named;
}

void frame_names_forget(struct known_frames *known)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&known->frames, &cursor))) {
		struct known_frame *frame = slot->value, *next;

		for (; frame; frame = next) {
			next = frame->next;
			free(frame);
		}
	}
	table_free(&known->frames);
}

void frame_names_free(struct frame_names *names)
{
	if (!names)
		return;
	name_pool_free(names->pool);
	free(names);
}
