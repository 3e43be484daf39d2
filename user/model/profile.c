/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See profile.h. */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"

struct profile_frame {
	struct report_frame frame;
	struct profile_frame *next; /* with the same hash */
};

/* Texts are in the profile's pool, so equal ones have one address. */
static bool profile_frames_are_equal(const struct report_frame *a, const struct report_frame *b)
{
	return a->kind == b->kind && a->function == b->function && a->module == b->module &&
	       a->build_id == b->build_id && a->offset == b->offset && a->file == b->file &&
	       a->line == b->line && a->inlined == b->inlined && a->whole == b->whole;
}

static uint64_t profile_hash_frame(uint64_t hash, const struct report_frame *frame)
{
	hash = hash_word(hash, (uintptr_t)frame->function);
	hash = hash_word(hash, (uintptr_t)frame->module);
	hash = hash_word(hash, (uintptr_t)frame->file);
	hash = hash_word(hash, (uintptr_t)frame->build_id);
	return hash_secret(hash, frame->offset ^ (uint64_t)frame->line << 32 ^ frame->kind);
}

static const struct report_frame *profile_keep_frame(struct profile *profile,
						     const struct report_frame *frame)
{
	struct strings *strings = &profile->strings;
	struct report_frame wanted = *frame;
	struct profile_frame *first, *kept;
	uint64_t hash;

	if (!profile->seed)
		profile->seed = seed_new();
	wanted.function = strings_keep(strings, frame->function);
	wanted.module = strings_keep(strings, frame->module);
	wanted.build_id = (char *)(uintptr_t)strings_keep(strings, frame->build_id);
	wanted.file = strings_keep(strings, frame->file);
	hash = profile_hash_frame(profile->seed, &wanted);
	first = table_get(&profile->frames, hash);
	for (kept = first; kept; kept = kept->next)
		if (profile_frames_are_equal(&kept->frame, &wanted))
			return &kept->frame;
	kept = memory_alloc(1, sizeof(*kept));
	*kept = (struct profile_frame){ wanted, first };
	table_put(&profile->frames, hash, kept);
	return &kept->frame;
}

void profile_add_pid(struct profile *profile, int pid)
{
	profile->pids = memory_grow(profile->pids, profile->pid_count, &profile->pid_capacity,
				    sizeof(*profile->pids));
	profile->pids[profile->pid_count++] = pid;
}

void profile_add(struct profile *profile, const struct profile_row *row,
		 const struct report_frame *frames)
{
	struct profile_row *to;
	size_t i;

	profile->rows = memory_grow(profile->rows, profile->row_count, &profile->row_capacity,
				    sizeof(*profile->rows));
	to = &profile->rows[profile->row_count++];
	*to = *row;
	to->program = strings_keep(&profile->strings, row->program);
	to->allocator = strings_keep(&profile->strings, row->allocator);
	to->function = strings_keep(&profile->strings, row->function);
	generations_copy(&to->births, &row->births);
	to->frames = memory_alloc(row->frame_count + 1, sizeof(struct report_frame *));
	for (i = 0; i < row->frame_count; i++)
		to->frames[i] = profile_keep_frame(profile, &frames[i]);
}

void profile_free(struct profile *profile)
{
	const struct table_slot *slot;
	struct profile_frame *kept, *next;
	size_t cursor, i;

	for (i = 0; i < profile->row_count; i++) {
		free(profile->rows[i].frames);
		generations_free(&profile->rows[i].births);
	}
	marks_free(&profile->marks);
	free(profile->pids);
	for (cursor = 0; (slot = table_next(&profile->frames, &cursor));)
		for (kept = slot->value; kept; kept = next) {
			next = kept->next;
			free(kept);
		}
	table_free(&profile->frames);
	strings_free(&profile->strings);
	free(profile->rows);
	*profile = (struct profile){ 0 };
}

const char *profile_program(const char *exe, const char *comm)
{
	const char *slash = exe ? strrchr(exe, '/') : NULL;

	if (slash)
		return slash + 1;
	return exe ? exe : comm;
}

static void profile_sum(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

void profile_figures_add(struct profile_figures *sum, const struct profile_figures *more)
{
	profile_sum(&sum->alloc_bytes, more->alloc_bytes);
	profile_sum(&sum->alloc_objects, more->alloc_objects);
	profile_sum(&sum->free_bytes, more->free_bytes);
	profile_sum(&sum->free_objects, more->free_objects);
}

uint64_t profile_inuse_bytes(const struct profile_figures *figures)
{
	return figures->alloc_bytes > figures->free_bytes
		       ? figures->alloc_bytes - figures->free_bytes
		       : 0;
}

uint64_t profile_inuse_objects(const struct profile_figures *figures)
{
	return figures->alloc_objects > figures->free_objects
		       ? figures->alloc_objects - figures->free_objects
		       : 0;
}
