/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots that try to break a format: names of random bytes, terminal codes, wide and combining
 * characters, very long names, counters at their limits. The same seed gives the same snapshot.
 */
#ifndef TESTS_UNIT_NASTY_H
#define TESTS_UNIT_NASTY_H

#include <stdio.h>

#include "base/buffer.h"
#include "unit/sample.h"

#define NASTY_SITES 6
#define NASTY_FRAMES 40

struct nasty {
	struct sample *sample;
	struct function_name functions[NASTY_SITES];
	char *texts[1000];
	size_t text_count;
	unsigned int seed;
};

static size_t nasty_random(struct nasty *nasty, size_t below)
{
	return (size_t)rand_r(&nasty->seed) % below;
}

static void nasty_append(struct nasty *nasty, struct buffer *out)
{
	static const char *const pieces[] = {
		"a",
		"name",
		" ",
		";",
		"\n",
		"\r",
		"\t",
		"\033[31m",
		"\033]0;x\007",
		"\xff",
		"\xc2\x9b",
		"\xe2\x80\xae",
		"\xe6\x97\xa5",
		"e\xcc\x81",
		"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
		"\xed\xa0\x80",
		"\xe6\x97",
		"\"",
		"\\",
		"/",
		"</script>",
		"std::vector<int>",
		"\xe1\x84\x80\xe1\x85\xa1",
		"\xef\xbb\xbf",
	};

	buffer_append_string(out, pieces[nasty_random(nasty, sizeof(pieces) / sizeof(pieces[0]))]);
}

/* A text, or NULL now and then. */
static const char *nasty_text(struct nasty *nasty)
{
	static const size_t lengths[] = { 0, 1, 3, 10, 30, 300 };
	struct buffer out = { 0 };
	size_t pieces = lengths[nasty_random(nasty, 6)];

	if (!nasty_random(nasty, 8))
		return NULL;
	buffer_append_string(&out, "");
	while (pieces--)
		nasty_append(nasty, &out);
	nasty->texts[nasty->text_count++] = out.data;
	return out.data;
}

static uint64_t nasty_number(struct nasty *nasty)
{
	static const uint64_t numbers[] = {
		0,	     1,		 999999999,  1000000000, 1048575,
		59960000000, UINT32_MAX, UINT64_MAX, INT64_MAX,	 123456789012345ULL,
	};

	return numbers[nasty_random(nasty, sizeof(numbers) / sizeof(numbers[0]))];
}

static void nasty_names(struct nasty *nasty)
{
	struct sample *sample = nasty->sample;

	while (sample->name_count < SAMPLE_MAX) {
		const char *function = nasty_text(nasty);
		uint32_t line = (uint32_t)nasty_number(nasty);

		if (nasty_random(nasty, 2))
			sample_name(sample, function, nasty_text(nasty), line);
		else
			sample_inlined(sample, nasty_text(nasty), function, nasty_text(nasty),
				       line);
	}
}

static const struct stack *nasty_stack(struct nasty *nasty, uint32_t modules)
{
	struct frame frames[NASTY_FRAMES];
	size_t count = nasty_random(nasty, NASTY_FRAMES);
	size_t i;

	for (i = 0; i < count; i++) {
		frames[i] = (struct frame){
			.kind = (enum frame_kind)nasty_random(nasty, FRAME_ERROR),
			.module = nasty_random(nasty, 4) ? (uint32_t)nasty_random(nasty, modules)
							 : MODULE_NONE,
			.address = nasty_random(nasty, SAMPLE_MAX),
			.offset = nasty_number(nasty),
		};
	}
	if (count && nasty_random(nasty, 2)) {
		frames[count - 1].kind = FRAME_ERROR;
		frames[count - 1].reason = nasty_text(nasty);
	}
	return sample_stack(nasty->sample, frames, count);
}

static void nasty_site(struct nasty *nasty, size_t index)
{
	struct snapshot_site *site;
	struct site_stats stats = { nasty_number(nasty), nasty_number(nasty), nasty_number(nasty),
				    nasty_number(nasty) };

	nasty->functions[index].allocator = nasty_text(nasty);
	nasty->functions[index].function = nasty_text(nasty);
	site = sample_site(nasty->sample, nasty_random(nasty, 2), &nasty->functions[index],
			   nasty_stack(nasty, 3), stats);
	site->source = (enum memory_source)nasty_random(nasty, SOURCE_COUNT);
	site->stats.oldest_ns = nasty_number(nasty);
	site->stats.age_sum_ns = nasty_number(nasty);
	site->stats.young_bytes = nasty_number(nasty);
	site->stats.young_objects = nasty_number(nasty);
	site->sampled = nasty_random(nasty, 2);
	site->stats.samples = site->sampled ? nasty_number(nasty) : 0;
}

static struct nasty *nasty_new(unsigned int seed)
{
	struct nasty *nasty = memory_alloc(1, sizeof(*nasty));
	const char *text;
	size_t i;

	nasty->seed = seed;
	nasty->sample = sample_new_empty(nasty_random(nasty, 3));
	for (i = 0; i < 2; i++) {
		struct target *target = &nasty->sample->targets[i];

		text = nasty_text(nasty);
		snprintf(target->comm, COMM_MAX, "%s", text ? text : "");
		target->exe = (char *)nasty_text(nasty);
		target->pid = (int)nasty_number(nasty) & 0x3fffff;
		target->exited = nasty_random(nasty, 2);
	}
	for (i = 0; i < 3; i++) {
		text = nasty_text(nasty);
		sample_module(nasty->sample, text ? text : "/", (unsigned char)seed);
	}
	nasty_names(nasty);
	for (i = 0; i < NASTY_SITES; i++)
		nasty_site(nasty, i);
	nasty->sample->snapshot.time_ns = nasty_number(nasty);
	nasty->sample->snapshot.wall_time = (int64_t)(nasty_number(nasty) / 4);
	for (i = 0; i < LOSS_COUNT; i++)
		nasty->sample->snapshot.loss[i] = nasty_number(nasty);
	return nasty;
}

static struct report *nasty_report(struct nasty *nasty)
{
	struct report_options options = {
		.sort = (enum report_sort)nasty_random(nasty, 4),
		.top = nasty_random(nasty, 4),
		.min_age_ns = nasty_random(nasty, 2) ? nasty_number(nasty) : 0,
	};
	struct report_names names = sample_names(nasty->sample);

	return report_build(&nasty->sample->snapshot, &options, &names);
}

static void nasty_free(struct nasty *nasty)
{
	size_t i;

	for (i = 0; i < nasty->text_count; i++)
		free(nasty->texts[i]);
	sample_free(nasty->sample);
	free(nasty);
}

#endif
