/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See difference_match.h. */
#include "analyze/difference_match.h"

#include <string.h>

#include "base/hash.h"

/* The end is mixed in, too, so that texts that follow each other cannot pass for others. */
static uint64_t match_mix_text(uint64_t hash, const char *text)
{
	return hash_word(text ? hash_string(hash, text) : hash, text ? strlen(text) + 1 : 0);
}

static const char *match_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* A place in a file of which the content is known. */
static bool match_has_place(const struct report_frame *frame)
{
	return frame->build_id && frame->module && !frame->whole;
}

/* The functions that were inlined at a place are as that place itself, which follows them. */
static bool match_skips(const struct report_frame *frame)
{
	return frame->inlined && match_has_place(frame);
}

static uint64_t match_mix_place(uint64_t hash, const struct report_frame *frame, bool by_name)
{
	if (!by_name || !frame->function) {
		hash = match_mix_text(hash, frame->build_id);
		return hash_word(hash, frame->offset);
	}
	hash = match_mix_text(hash, match_base(frame->module));
	return match_mix_text(hash, frame->function);
}

static uint64_t match_mix_frame(uint64_t hash, const struct report_frame *frame, bool by_name)
{
	hash = hash_word(hash, frame->kind);
	if (match_has_place(frame))
		return match_mix_place(hash, frame, by_name);
	if (frame->module && !frame->whole) {
		hash = match_mix_text(hash, frame->module);
		return hash_word(hash, frame->offset);
	}
	hash = match_mix_text(hash, match_base(frame->module));
	hash = match_mix_text(hash, frame->function);
	hash = match_mix_text(hash, frame->file);
	return hash_word(hash, frame->line);
}

uint64_t difference_match_hash(const struct profile_row *row, uint64_t seed, bool by_name)
{
	uint64_t hash = match_mix_text(seed, row->program);
	size_t i;

	hash = match_mix_text(hash, row->allocator);
	hash = match_mix_text(hash, row->function);
	hash = hash_word(hash, row->source);
	hash = hash_word(hash, row->region);
	hash = hash_word(hash, row->sampled);
	for (i = 0; i < row->frame_count; i++)
		if (!match_skips(row->frames[i]))
			hash = match_mix_frame(hash, row->frames[i], by_name);
	return hash_secret(seed, hash);
}

/* The next frame that is not skipped, or NULL. */
static const struct report_frame *match_next(const struct profile_row *row, size_t *index)
{
	while (*index < row->frame_count) {
		const struct report_frame *frame = row->frames[(*index)++];

		if (!match_skips(frame))
			return frame;
	}
	return NULL;
}

bool difference_match_rebuilt(const struct profile_row *a, const struct profile_row *b)
{
	const struct report_frame *left, *right;
	size_t i = 0, j = 0;
	bool rebuilt = false;

	while ((left = match_next(a, &i)) && (right = match_next(b, &j))) {
		if (!match_has_place(left) || !match_has_place(right))
			continue;
		if (strcmp(left->build_id, right->build_id) != 0)
			rebuilt = true;
		else if (left->offset != right->offset)
			return false;
	}
	return rebuilt;
}
