/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What jemalloc's threads keep for themselves: a run of 24-byte records in their TLS, one for each size, whose stacks of blocks
 * lie one behind the other.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "heap/jemalloc.h"

#define RECORD 24 /* bytes */
#define PART 8 /* records that are a part of one */
#define RUN 30 /* records that make a cache: there are 36 sizes of small blocks */
#define STACK_MOST 16384 /* bytes of one stack */
#define TLS_MOST (1u << 20)
#define GAP 512 /* bytes, in 5.2, between the records of small and large blocks */

/* What caches have goes there. */
struct jemalloc_taken {
	struct address_set *blocks;
	const struct census_sink *sink; /* may be NULL */
};

/* A record, decoded. */
struct jemalloc_bin {
	uint64_t items; /* the address of the pointers to blocks */
	uint64_t count;
	uint64_t start, end; /* of its stack; of 5.3, the low 16 bits; of 5.2, no start */
};

static bool jemalloc_bin_low_bits(const uint64_t *words, struct jemalloc_bin *bin)
{
	uint64_t room;

	bin->start = words[2] >> 16 & 0xffff;
	bin->end = words[2] >> 32 & 0xffff;
	bin->items = words[0];
	room = (bin->end - bin->start) & 0xffff;
	bin->count = (bin->end - bin->items) & 0xffff;
	if (!bin->items || bin->items & 7 || bin->items >> 48 || !room || room & 7 ||
	    room > STACK_MOST || bin->count > room || bin->count & 7)
		return false;
	bin->count /= 8;
	return true;
}

static bool jemalloc_bin_count(const uint64_t *words, struct jemalloc_bin *bin)
{
	bin->count = words[0] >> 32;
	bin->end = words[2];
	if (!bin->end || bin->end & 7 || bin->end >> 48 || bin->end < STACK_MOST ||
	    bin->count > STACK_MOST / 8)
		return false;
	bin->items = bin->end - 8 * bin->count;
	return true;
}

static bool jemalloc_bin_decode(const struct jemalloc_form *form, const uint64_t *words,
				struct jemalloc_bin *bin)
{
	return form->low_bits ? jemalloc_bin_low_bits(words, bin) : jemalloc_bin_count(words, bin);
}

/* Does the stack of `bin` follow that of `before`? */
static bool jemalloc_bin_follows(const struct jemalloc_form *form,
				 const struct jemalloc_bin *before, const struct jemalloc_bin *bin)
{
	uint64_t room = bin->end - before->end;

	if (form->low_bits)
		return bin->start == before->end;
	return room && room <= STACK_MOST && !(room & 7) && 8 * bin->count <= room;
}

/* How many records follow each other from `words` on; `last` gets the last one. */
static size_t jemalloc_run(const struct jemalloc_form *form, const uint64_t *words, size_t count,
			   struct jemalloc_bin *last)
{
	struct jemalloc_bin bin;
	size_t run = 0;

	for (; (run + 1) * (RECORD / 8) <= count; run++) {
		if (!jemalloc_bin_decode(form, words + run * (RECORD / 8), &bin) ||
		    (run && !jemalloc_bin_follows(form, last, &bin)))
			break;
		*last = bin;
	}
	return run;
}

/* Where its stack lies; of 5.2 from the end of that of `before` on, which may be NULL. */
static struct heap_range jemalloc_bin_stack(const struct jemalloc_form *form,
					    const struct jemalloc_bin *before,
					    const struct jemalloc_bin *bin)
{
	if (!form->low_bits)
		return (struct heap_range){ before ? before->end : bin->items, bin->end };
	return (struct heap_range){ bin->items - ((bin->items - bin->start) & 0xffff),
				    bin->items + ((bin->end - bin->items) & 0xffff) };
}

static void jemalloc_stacks_give(const struct heap_range *stacks, size_t count,
				 const struct census_sink *sink)
{
	if (count >= PART)
		sink->free_list(sink->context, stacks->start, stacks->end);
}

/*
 * All stacks of a run: words that were left there are of blocks that the thread was given since. A record before or behind the others may be
 * none, and have a stack elsewhere.
 */
static void jemalloc_run_stacks(const struct jemalloc_form *form, const uint64_t *words, size_t run,
				const struct census_sink *sink)
{
	struct heap_range stacks = { 0 }, stack;
	struct jemalloc_bin bin, before;
	size_t i, count = 0;

	for (i = 0; sink && sink->free_list && i < run; i++) {
		if (!jemalloc_bin_decode(form, words + i * (RECORD / 8), &bin))
			break;
		stack = jemalloc_bin_stack(form, i ? &before : NULL, &bin);
		before = bin;
		if (!count || stack.start != stacks.end || stack.end < stack.start) {
			jemalloc_stacks_give(&stacks, count, sink);
			stacks = stack;
			count = 0;
		}
		stacks.end = stack.end;
		count++;
	}
	jemalloc_stacks_give(&stacks, count, sink);
}

static void jemalloc_run_add(const struct jemalloc_form *form, struct image *image,
			     const uint64_t *words, size_t run, struct address_set *blocks)
{
	uint64_t items[STACK_MOST / 8];
	struct jemalloc_bin bin;
	size_t i, k;

	for (i = 0; i < run; i++) {
		if (!jemalloc_bin_decode(form, words + i * (RECORD / 8), &bin) || !bin.count ||
		    !image_read(image, bin.items, items, 8 * bin.count))
			continue;
		for (k = 0; k < bin.count; k++)
			address_set_add(blocks, items[k]);
	}
}

/* In 5.2 the records of large blocks are behind those of small ones; their stacks go on where the others end. */
static void jemalloc_run_large(const struct jemalloc_form *form, struct image *image,
			       const uint64_t *words, size_t count, struct jemalloc_bin *last,
			       struct jemalloc_taken *taken)
{
	struct jemalloc_bin bin, end;
	size_t i, run;

	for (i = 0; i < GAP / 8 && i + RECORD / 8 <= count; i++) {
		if (!jemalloc_bin_decode(form, words + i, &bin) ||
		    !jemalloc_bin_follows(form, last, &bin))
			continue;
		run = jemalloc_run(form, words + i, count - i, &end);
		jemalloc_run_add(form, image, words + i, run, taken->blocks);
		jemalloc_run_stacks(form, words + i, run, taken->sink);
		return;
	}
}

/* Where a thread has its cache: words before the end of its TLS, and records; the same of all threads. */
struct jemalloc_place {
	size_t words, run;
	bool torn; /* there is a part of a cache */
};

/* Do other records follow the run, behind one or two that are none? */
static bool jemalloc_run_goes_on(const struct jemalloc_form *form, const uint64_t *words,
				 size_t count)
{
	struct jemalloc_bin last;

	return form->low_bits && count > RECORD / 8 &&
	       (jemalloc_run(form, words, count, &last) > 1 ||
		jemalloc_run(form, words + RECORD / 8, count - RECORD / 8, &last) > 1);
}

/* The cache of one thread; `run` is 0 where there is none. */
static struct jemalloc_place jemalloc_cache_words(const struct jemalloc_form *form,
						  struct image *image, const uint64_t *words,
						  size_t count, struct jemalloc_taken *taken)
{
	struct jemalloc_place place = { 0 };
	struct jemalloc_bin last = { 0 };
	size_t i, run;

	for (i = 0; i + PART * (RECORD / 8) <= count; i++) {
		run = jemalloc_run(form, words + i, count - i, &last);
		place.torn |= run >= PART && run < RUN;
		if (run < RUN)
			continue;
		place = (struct jemalloc_place){ count - i, run, place.torn };
		jemalloc_run_add(form, image, words + i, run, taken->blocks);
		jemalloc_run_stacks(form, words + i, run, taken->sink);
		i += run * (RECORD / 8);
		place.torn |= jemalloc_run_goes_on(form, words + i, count - i);
		if (!form->low_bits)
			jemalloc_run_large(form, image, words + i, count - i, &last, taken);
		break;
	}
	return place;
}

static struct jemalloc_place jemalloc_cache(const struct jemalloc_form *form, struct image *image,
					    const struct heap_range *tls,
					    struct jemalloc_taken *taken)
{
	uint64_t size = tls->end - tls->start, at = tls->start, start, end;
	struct jemalloc_place found = { 0 };
	unsigned char *bytes;

	if (size > TLS_MOST)
		return found;
	bytes = memory_alloc(size + 8, 1);
	while (image_next_present(image, at, tls->end, &start, &end) && end > at) {
		image_read_part(image, start, bytes + (start - tls->start), end - start);
		at = end;
	}
	found = jemalloc_cache_words(form, image, (uint64_t *)bytes, size / 8, taken);
	free(bytes);
	return found;
}

/* Has the thread something else at the place where others have their caches? One that has not allocated has zeroes. */
static bool jemalloc_cache_differs(struct image *image, const struct heap_range *tls,
				   const struct jemalloc_place *place)
{
	uint64_t words[RECORD / 8 * RUN] = { 0 }, at = tls->end - 8 * place->words;
	size_t i;

	if (tls->end - tls->start < 8 * place->words)
		return false;
	image_read_part(image, at, words, sizeof(words));
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i])
			return true;
	return false;
}

size_t jemalloc_caches(const struct heap_layout *layout, struct image *image,
		       struct address_set *blocks, const struct census_sink *sink, size_t *ret_torn)
{
	struct jemalloc_taken taken = { blocks, sink };
	struct jemalloc_place *places = memory_alloc(layout->tls_count + 1, sizeof(*places));
	const struct jemalloc_place *most = places;
	size_t i, count = 0;

	for (i = 0; i < layout->tls_count; i++) {
		places[i] = jemalloc_cache(layout->form, image, &layout->tls[i], &taken);
		count += places[i].run > 0;
		most = places[i].run > most->run ? &places[i] : most;
	}
	for (i = *ret_torn = 0; i < layout->tls_count; i++) {
		const struct jemalloc_place *place = &places[i];
		/* What lies behind the records may look like one more. */
		bool same = place->run && place->words == most->words;

		*ret_torn += place->torn || (most->run && !same &&
					     jemalloc_cache_differs(image, &layout->tls[i], most));
	}
	free(places);
	return count;
}
