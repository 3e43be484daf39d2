/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_cohort.h. */
#include "windows/budget_cohort.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* A block of which 2^this is one is left out for good: it takes more than there are blocks. */
#define BITS_MAX 31

/* Addresses are of 56 bits at most, and target_ids of 16. */
static uint64_t cohort_key(uint32_t target_id, uint64_t address)
{
	return address ^ (uint64_t)target_id << 48;
}

/* Sums */

static void cohort_add(struct budget_blocks *sum, const struct cohort_block *block)
{
	sum->seen++;
	sum->blocks += 1ull << block->bits;
	sum->bytes += block->size << block->bits;
}

static uint64_t cohort_less(uint64_t sum, uint64_t number)
{
	return sum > number ? sum - number : 0;
}

/* Classes that the block has left have it with the weight that it had then, which is less if it was thinned since. */
static void cohort_subtract(struct budget_blocks *sum, const struct cohort_block *block)
{
	sum->seen = cohort_less(sum->seen, 1);
	sum->blocks = cohort_less(sum->blocks, 1ull << block->bits);
	sum->bytes = cohort_less(sum->bytes, block->size << block->bits);
}

static struct budget_age *cohort_ages(const struct cohort_block *block)
{
	return budget_site_cohort(&block->site->row, budget_size_class(block->size))->ages;
}

/* The block was still there at this time: it has reached its age then. */
static void cohort_advance(struct cohort_block *block, uint64_t time_ns)
{
	enum budget_ages age =
		budget_age_class(time_ns > block->born_ns ? time_ns - block->born_ns : 0);
	struct budget_age *ages = cohort_ages(block);

	while (block->age < age)
		cohort_add(&ages[++block->age].reached, block);
}

/* Blocks */

static void cohort_remove(struct budget_cohort_set *set, struct cohort_block *block)
{
	block->site->count--;
	free(table_remove(&set->blocks, cohort_key(block->target_id, block->address)));
}

/* All blocks of which `is_wanted`, in a list of its own: the table must not change while it is walked. */
static struct cohort_block **cohort_list(const struct budget_cohort_set *set,
					 bool (*is_wanted)(const struct cohort_block *block,
							   uint64_t what),
					 uint64_t what, size_t *ret_count)
{
	struct cohort_block **list = memory_alloc(set->blocks.count + 1, sizeof(*list));
	const struct table_slot *slot;
	size_t cursor = 0;

	*ret_count = 0;
	while ((slot = table_next(&set->blocks, &cursor)))
		if (is_wanted(slot->value, what))
			list[(*ret_count)++] = slot->value;
	return list;
}

static bool block_is_of_site(const struct cohort_block *block, uint64_t key)
{
	return block->site->row.key == key;
}

static bool block_is_of_target(const struct cohort_block *block, uint64_t target_id)
{
	return block->target_id == target_id;
}

/* Does the block stay where one of 2^bits does? */
static bool cohort_keeps(uint32_t draw, unsigned int bits)
{
	return !(draw & ((1u << bits) - 1));
}

/* Leave every second block of a site out: the others represent it from now on. */
static void cohort_thin(struct budget_cohort_set *set, struct cohort_site *site)
{
	struct cohort_block **list;
	size_t count, i;

	if (site->bits >= BITS_MAX)
		return;
	site->bits++;
	list = cohort_list(set, block_is_of_site, site->row.key, &count);
	for (i = 0; i < count; i++) {
		struct cohort_block *block = list[i];
		struct budget_blocks *reached = &cohort_ages(block)[block->age].reached;

		if (block->bits >= site->bits)
			continue;
		cohort_subtract(reached, block);
		block->bits = (unsigned char)site->bits;
		if (cohort_keeps(block->draw, site->bits))
			cohort_add(reached, block);
		else
			cohort_remove(set, block);
	}
	free(list);
}

static struct cohort_site *cohort_largest_site(const struct budget_cohort_set *set)
{
	const struct table_slot *slot;
	struct cohort_site *largest = NULL, *site;
	size_t cursor = 0;

	while ((slot = table_next(&set->sites, &cursor))) {
		site = slot->value;
		if (site->bits < BITS_MAX && (!largest || site->count > largest->count))
			largest = site;
	}
	return largest;
}

static void cohort_limit(struct budget_cohort_set *set, struct cohort_site *site)
{
	while (set->most_of_site && site->count > set->most_of_site && site->bits < BITS_MAX)
		cohort_thin(set, site);
	while (set->most && set->blocks.count > set->most && (site = cohort_largest_site(set)))
		cohort_thin(set, site);
}

void budget_cohort_free(struct budget_cohort_set *set)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(&set->blocks, &cursor));)
		free(slot->value);
	for (cursor = 0; (slot = table_next(&set->sites, &cursor));) {
		free(((struct cohort_site *)slot->value)->row.cohorts);
		free(slot->value);
	}
	table_free(&set->blocks);
	table_free(&set->sites);
}

struct cohort_block *budget_cohort_find(const struct budget_cohort_set *set, uint32_t target_id,
					uint64_t address)
{
	struct cohort_block *block = table_get(&set->blocks, cohort_key(target_id, address));

	return block && block->address == address && block->target_id == target_id ? block : NULL;
}

struct cohort_site *budget_cohort_site(struct budget_cohort_set *set, uint64_t key,
				       uint32_t target_id)
{
	struct cohort_site *site = table_get(&set->sites, key);

	if (site)
		return site;
	site = memory_alloc(1, sizeof(*site));
	site->row.key = key;
	site->row.target_id = target_id;
	table_put(&set->sites, key, site);
	return site;
}

bool budget_cohort_enter(struct budget_cohort_set *set, const struct cohort_entry *entry,
			 uint64_t now_ns)
{
	struct cohort_block *block =
		table_get(&set->blocks, cohort_key(entry->target_id, entry->address));
	struct cohort_site *site = budget_cohort_site(set, entry->site, entry->target_id);
	unsigned int bits = entry->bits > site->bits ? entry->bits : site->bits;

	if (block)
		budget_cohort_see(set, block, now_ns, COHORT_FREED);
	if (!cohort_keeps(entry->draw, bits))
		return false;
	block = memory_alloc(1, sizeof(*block));
	*block = (struct cohort_block){ .address = entry->address,
					.size = entry->size,
					.site = site,
					.born_ns = entry->born_ns,
					.seen_ns = now_ns,
					.target_id = entry->target_id,
					.contents = entry->contents,
					.length = entry->length,
					.draw = entry->draw,
					.window = entry->window,
					.added = entry->added,
					.bits = (unsigned char)bits };
	table_put(&set->blocks, cohort_key(entry->target_id, entry->address), block);
	site->count++;
	cohort_add(&cohort_ages(block)[0].reached, block);
	cohort_limit(set, site);
	return true;
}

void budget_cohort_see(struct budget_cohort_set *set, struct cohort_block *block, uint64_t now_ns,
		       enum cohort_finding finding)
{
	struct budget_age *ages;

	/* It was freed at some time since it was seen: as good as any is the middle. */
	if (finding == COHORT_FREED)
		cohort_advance(block, block->seen_ns + (now_ns - block->seen_ns) / 2);
	else if (finding != COHORT_LOST)
		cohort_advance(block, now_ns);
	ages = cohort_ages(block);
	switch (finding) {
	case COHORT_FREED:
		cohort_add(&ages[block->age].freed, block);
		cohort_remove(set, block);
		return;
	case COHORT_LOST:
		cohort_add(&ages[block->age].lost, block);
		cohort_remove(set, block);
		return;
	case COHORT_WRITTEN:
		block->written = true;
		break;
	default:
		break;
	}
	block->seen_ns = now_ns;
}

void budget_cohort_resize(struct cohort_block *block, uint64_t size)
{
	uint64_t before = block->size;
	unsigned int i;

	if (size == before)
		return;
	for (i = 0; i <= block->age; i++) {
		cohort_subtract(&cohort_ages(block)[i].reached, block);
		block->size = size;
		cohort_add(&cohort_ages(block)[i].reached, block);
		block->size = before;
	}
	block->size = size;
}

void budget_cohort_lose(struct budget_cohort_set *set, uint32_t target_id, uint64_t now_ns)
{
	size_t count, i;
	struct cohort_block **list = cohort_list(set, block_is_of_target, target_id, &count);

	for (i = 0; i < count; i++)
		budget_cohort_see(set, list[i], now_ns, COHORT_LOST);
	free(list);
}

void budget_cohort_forget_site(struct budget_cohort_set *set, uint64_t key)
{
	struct cohort_site *site = table_remove(&set->sites, key);
	struct cohort_block **list;
	size_t count, i;

	if (!site)
		return;
	list = cohort_list(set, block_is_of_site, key, &count);
	for (i = 0; i < count; i++)
		cohort_remove(set, list[i]);
	free(list);
	free(site->row.cohorts);
	free(site);
}

void budget_cohort_forget_target(struct budget_cohort_set *set, uint32_t target_id)
{
	uint64_t *keys = memory_alloc(set->sites.count + 1, sizeof(*keys));
	const struct table_slot *slot;
	size_t cursor = 0, count = 0, i;

	while ((slot = table_next(&set->sites, &cursor)))
		if (((const struct cohort_site *)slot->value)->row.target_id == target_id)
			keys[count++] = slot->key;
	for (i = 0; i < count; i++)
		budget_cohort_forget_site(set, keys[i]);
	free(keys);
}

/* Reports */

static void cohort_report_site(const struct cohort_site *site, struct budget_report *report)
{
	struct budget_site *row = budget_report_add_site(report);
	size_t size = site->row.cohort_count * sizeof(*row->cohorts);

	*row = site->row;
	row->cohorts = memory_alloc(site->row.cohort_count + 1, sizeof(*row->cohorts));
	row->cohort_capacity = site->row.cohort_count + 1;
	if (size)
		memcpy(row->cohorts, site->row.cohorts, size);
}

/* One more block of the same window, site, size and age: n squared becomes n + 1 squared. */
static uint64_t cohort_count_window(struct table *counts, const struct cohort_block *block)
{
	uint64_t key = hash_word(hash_word(HASH_BEGIN, block->site->row.key), block->window);
	uintptr_t count;

	key = hash_word(hash_word(key, budget_size_class(block->size)), block->age);
	count = (uintptr_t)table_get(counts, key);
	table_put(counts, key, (void *)(count + 1));
	return 2 * count + 1;
}

/* Blocks are of the age at which they were last seen. */
static void cohort_report_block(struct cohort_block *block, uint64_t now_ns,
				struct budget_site *row, struct table *counts)
{
	struct budget_age *age =
		&budget_site_cohort(row, budget_size_class(block->size))->ages[block->age];

	cohort_add(block->written ? &age->written : &age->unchanged, block);
	if (!block->written)
		age->window_squares += cohort_count_window(counts, block);
	if (!block->written && now_ns > block->born_ns)
		age->age_ns_sum += (now_ns - block->born_ns) >> 16 << block->bits;
}

void budget_cohort_report(const struct budget_cohort_set *set, uint64_t now_ns,
			  struct budget_report *report)
{
	const struct table_slot *slot;
	struct table rows = { 0 }, counts = { 0 };
	size_t cursor, i;

	for (cursor = 0; (slot = table_next(&set->sites, &cursor));)
		cohort_report_site(slot->value, report);
	for (i = 0; i < report->site_count; i++)
		table_put(&rows, report->sites[i].key, &report->sites[i]);
	for (cursor = 0; (slot = table_next(&set->blocks, &cursor));) {
		struct cohort_block *block = slot->value;

		cohort_report_block(block, now_ns, table_get(&rows, block->site->row.key), &counts);
	}
	table_free(&rows);
	table_free(&counts);
}
