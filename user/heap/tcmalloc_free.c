/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of tcmalloc that are free: in lists of spans and of threads, and in chains between both. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "heap/tcmalloc.h"

#define FREE_LIST 32
#define CACHE (FREE_LIST * TCMALLOC_CLASSES)
#define LINKS 256 /* bytes behind the lists, in which the next cache is */
#define CACHES_MOST 65536
#define LIST_MOST (1u << 22)
#define CHAINS 128 /* where they begin, and how many are in use */
#define CHAINS_USED 1152
#define CHAINS_MOST 64
#define CHAIN_MOST 32 /* objects that are moved at once */
#define CHAIN_BYTES 65536
#define CLASS_TRIES 16
/* Objects are visited so many times on average, and so many more in all. */
#define VISITS 8
#define VISITS_MORE (1u << 20)

/* A list of a thread. */
static bool tcmalloc_read_list(struct tcmalloc_lists *lists, struct tcmalloc_list *list)
{
	uint64_t words[2];

	if (!image_read(lists->image, list->at, words, sizeof(words)))
		return false;
	list->object = words[0];
	list->length = (uint32_t)words[1];
	return list->length <= LIST_MOST;
}

static void tcmalloc_read_cache(struct tcmalloc_lists *lists, uint64_t cache,
				const unsigned char *bytes)
{
	struct tcmalloc_free *free = lists->free;
	unsigned int i;

	free->caches++;
	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++) {
		struct tcmalloc_list list = { .at = cache + FREE_LIST * i,
					      .size_class = i,
					      .read = tcmalloc_read_list };
		uint32_t length;

		memcpy(&list.object, bytes + FREE_LIST * i, sizeof(list.object));
		memcpy(&length, bytes + FREE_LIST * i + 8, sizeof(length));
		if (length > LIST_MOST) {
			tcmalloc_break(lists, i);
			continue;
		}
		list.length = length;
		tcmalloc_follow(lists, &list);
		free->cached[i] += list.length;
		free->cached_bytes += list.length * lists->layout->sizes[i];
	}
}

/* Is there something that is a cache but for some of its classes' sizes? */
static bool tcmalloc_is_like_cache(struct tcmalloc_lists *lists, uint64_t address)
{
	unsigned char bytes[CACHE];
	size_t i, same = 0, other = 0;
	uint32_t size;

	if (address & 7 || !image_read(lists->image, address, bytes, sizeof(bytes)))
		return false;
	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++) {
		memcpy(&size, bytes + FREE_LIST * i + 24, sizeof(size));
		same += size == lists->layout->sizes[i];
		other += size != lists->layout->sizes[i];
	}
	return same > other;
}

/* Where a cache leads to: another one, or nowhere. */
static bool tcmalloc_leads_to_cache(struct tcmalloc_lists *lists, uint64_t word)
{
	uint64_t sizes[TCMALLOC_CLASSES];

	if (!word || !image_search_anonymous(lists->image, word, CACHE))
		return false;
	if (tcmalloc_is_cache(lists->image, word, sizes) &&
	    !memcmp(sizes, lists->layout->sizes, sizeof(sizes)))
		return true;
	if (tcmalloc_is_like_cache(lists, word))
		tcmalloc_break(lists, 0);
	return false;
}

/* Caches lead to each other by pointers behind their lists. */
static void tcmalloc_read_caches(struct tcmalloc_lists *lists)
{
	uint64_t *queue = NULL, word;
	unsigned char bytes[CACHE + LINKS];
	struct address_set seen = { 0 };
	size_t head = 0, tail = 0, capacity = 0, i, length;

	queue = memory_grow(queue, tail, &capacity, sizeof(*queue));
	queue[tail++] = lists->layout->cache;
	address_set_add(&seen, lists->layout->cache);
	while (head < tail) {
		length = image_read_part(lists->image, queue[head], bytes, sizeof(bytes));
		if (length < CACHE) {
			head++;
			continue;
		}
		tcmalloc_read_cache(lists, queue[head++], bytes);
		for (i = CACHE; i + 8 <= length; i += 8) {
			memcpy(&word, bytes + i, sizeof(word));
			if (tail < CACHES_MOST && !address_set_has(&seen, word) &&
			    tcmalloc_leads_to_cache(lists, word) && address_set_add(&seen, word)) {
				queue = memory_grow(queue, tail, &capacity, sizeof(*queue));
				queue[tail++] = word;
			}
		}
	}
	address_set_free(&seen);
	free(queue);
}

/* One of the chains of a class, unless there are fewer by now. */
static bool tcmalloc_read_chain(struct tcmalloc_lists *lists, struct tcmalloc_list *list)
{
	int32_t used = (int32_t)image_word(lists->image, list->at + CHAINS_USED);
	uint64_t chain[2];

	if (used < 0 || used > CHAINS_MOST ||
	    !image_read(lists->image, list->at + CHAINS + sizeof(chain) * list->index, chain,
			sizeof(chain)))
		return false;
	list->object = chain[0];
	list->last = chain[1];
	if ((unsigned int)used <= list->index)
		list->object = list->last = list->length = 0;
	return true;
}

static void tcmalloc_read_chains(struct tcmalloc_lists *lists, unsigned int size_class)
{
	uint64_t at = lists->layout->central + TCMALLOC_CENTRAL * size_class, length;
	int32_t used = (int32_t)image_word(lists->image, at + CHAINS_USED), i;

	length = CHAIN_BYTES / lists->layout->sizes[size_class];
	length = length < 2 ? 2 : length > CHAIN_MOST ? CHAIN_MOST : length;
	if (used < 0 || used > CHAINS_MOST) {
		tcmalloc_break(lists, size_class);
		return;
	}
	for (i = 0; i < used; i++) {
		struct tcmalloc_list list = { .at = at,
					      .index = (unsigned int)i,
					      .length = length,
					      .size_class = size_class,
					      .read = tcmalloc_read_chain };

		if (!tcmalloc_read_chain(lists, &list)) {
			tcmalloc_break(lists, size_class);
			continue;
		}
		tcmalloc_follow(lists, &list);
		lists->free->cached[size_class] += list.length;
	}
}

static uint64_t tcmalloc_span_free(const struct tcmalloc_lists *lists,
				   const struct tcmalloc_span *span)
{
	uint64_t count = span->size / lists->layout->sizes[span->size_class];

	return count > span->references ? count - span->references : 0;
}

/* The list of a span, unless that is another one by now. */
static bool tcmalloc_read_span_again(struct tcmalloc_lists *lists, struct tcmalloc_list *list)
{
	struct tcmalloc_span now;

	list->object = list->length = 0;
	if (!tcmalloc_span_is_same(lists->image, list->span, &now))
		return true;
	list->object = now.objects;
	list->length = tcmalloc_span_free(lists, &now);
	return true;
}

static bool tcmalloc_span_has_list(const struct tcmalloc_lists *lists,
				   const struct tcmalloc_span *span)
{
	return span->location == TCMALLOC_IN_USE && span->size_class &&
	       lists->layout->sizes[span->size_class];
}

static void tcmalloc_read_span(struct tcmalloc_lists *lists, const struct tcmalloc_span *span)
{
	struct tcmalloc_list list = { .object = span->objects,
				      .size_class = span->size_class,
				      .read = tcmalloc_read_span_again,
				      .span = span };

	if (!tcmalloc_span_has_list(lists, span))
		return;
	list.length = tcmalloc_span_free(lists, span);
	tcmalloc_follow(lists, &list);
}

/* Counts of each class: its spans, and the objects in their lists. */
struct tcmalloc_counts {
	uint64_t items[TCMALLOC_CLASSES][2];
};

static void tcmalloc_count_span(const struct tcmalloc_lists *lists,
				const struct tcmalloc_span *span, struct tcmalloc_counts *counts)
{
	if (!tcmalloc_span_has_list(lists, span))
		return;
	counts->items[span->size_class][0]++;
	counts->items[span->size_class][1] += tcmalloc_span_free(lists, span);
}

/* Does the class count as many? */
static bool tcmalloc_class_agrees(const struct tcmalloc_lists *lists, unsigned int size_class,
				  const struct tcmalloc_counts *counts)
{
	uint64_t counters[2];

	return tcmalloc_class_counters(lists->layout, lists->image, size_class, counters) &&
	       !memcmp(counters, counts->items[size_class], sizeof(counters));
}

/*
 * The same with the spans as they are now. While their objects are being taken and given back, only the number of spans can be
 * compared, as the other counter changes before all of them are read; and where there are new spans, what there was before.
 */
static bool tcmalloc_class_agrees_now(const struct tcmalloc_lists *lists,
				      const struct tcmalloc_spans *spans, unsigned int size_class)
{
	uint64_t begin[2], end[2], all = 0;
	struct tcmalloc_counts counts = { 0 };
	const uint64_t *found = counts.items[size_class];
	struct tcmalloc_span now;
	size_t i;

	if (!tcmalloc_class_counters(lists->layout, lists->image, size_class, begin))
		return false;
	for (i = 0; i < spans->count; i++) {
		if (spans->items[i].size_class != size_class)
			continue;
		all++;
		if (tcmalloc_span_is_same(lists->image, &spans->items[i], &now))
			tcmalloc_count_span(lists, &now, &counts);
	}
	if (!tcmalloc_class_counters(lists->layout, lists->image, size_class, end))
		return false;
	if (begin[0] != found[0] || end[0] != found[0])
		return all == spans->expected[size_class] && end[0] != all;
	return begin[1] != end[1] || end[1] == found[1];
}

static bool tcmalloc_class_agrees_again(const struct tcmalloc_lists *lists,
					const struct tcmalloc_spans *spans, unsigned int size_class)
{
	unsigned int tries;

	for (tries = 0; tries < CLASS_TRIES; tries++)
		if (tcmalloc_class_agrees_now(lists, spans, size_class))
			return true;
	return false;
}

/*
 * Each class counts its spans, and the objects in their lists. Where most classes have other numbers, these are not what they are
 * taken for.
 */
static void tcmalloc_check_classes(struct tcmalloc_lists *lists, const struct tcmalloc_spans *spans,
				   bool again)
{
	struct tcmalloc_counts counts = { 0 };
	bool differs[TCMALLOC_CLASSES] = { 0 };
	uint64_t agree = 0, differ = 0;
	unsigned int i;
	size_t k;

	for (k = 0; k < spans->count; k++)
		tcmalloc_count_span(lists, &spans->items[k], &counts);
	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++) {
		differs[i] = !tcmalloc_class_agrees(lists, i, &counts);
		differ += differs[i];
		agree += !differs[i] && counts.items[i][0];
	}
	for (i = 1; i < TCMALLOC_CLASSES && differ < agree; i++) {
		if (differs[i] && again && tcmalloc_class_agrees_again(lists, spans, i))
			lists->free->changed++;
		else if (differs[i])
			tcmalloc_break(lists, i);
	}
}

static void tcmalloc_read_all_chains(struct tcmalloc_lists *lists)
{
	unsigned int i;

	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++)
		tcmalloc_read_chains(lists, i);
}

void tcmalloc_free_count(const struct heap_layout *layout, struct image *image,
			 struct tcmalloc_free *ret_free)
{
	struct tcmalloc_lists lists = { .image = image, .layout = layout, .free = ret_free };

	memset(ret_free, 0, sizeof(*ret_free));
	tcmalloc_read_caches(&lists);
	tcmalloc_read_all_chains(&lists);
}

void tcmalloc_free_read(const struct heap_layout *layout, struct image *image,
			const struct tcmalloc_spans *spans, unsigned int tries,
			struct tcmalloc_free *ret_free)
{
	struct tcmalloc_lists lists = { .image = image, .layout = layout, .free = ret_free };
	uint64_t objects = 0;
	size_t i;

	memset(ret_free, 0, sizeof(*ret_free));
	for (i = 0; i < spans->count; i++)
		if (tcmalloc_span_has_list(&lists, &spans->items[i]))
			objects += spans->items[i].size / layout->sizes[spans->items[i].size_class];
	lists.follow = tcmalloc_follow_open(tries, VISITS * objects + VISITS_MORE);
	tcmalloc_read_caches(&lists);
	tcmalloc_read_all_chains(&lists);
	for (i = 0; i < spans->count; i++)
		tcmalloc_read_span(&lists, &spans->items[i]);
	tcmalloc_check_classes(&lists, spans, tries > 1);
	tcmalloc_follow_close(lists.follow);
}
