/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Present mappings are an array in address order without overlaps, so that look-ups are binary searches;
 * ended ones are a ring, searched only for addresses whose present mapping is too young. See
 * address_space.h.
 */
#include "model/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Mappings that may come after a scan before the next is due, over the number the scan found. */
#define SCAN_SLACK 256

/* [start, end) during [since_ns, until_ns). */
struct record {
	uint64_t start, end;
	uint64_t file_offset;
	uint64_t since_ns, until_ns;
	uint32_t module;
	bool anonymous;
	bool seen; /* by the scan that is going on */
};

struct address_space {
	struct record *records; /* present, in address order, without overlaps */
	size_t count, capacity;
	struct record *history; /* a ring; NULL until it is needed */
	size_t history_count, history_next;
	uint64_t reset_ns; /* when the present program began */
	uint64_t scan_ns;
	bool scanning;
	size_t scanned; /* mappings that the last scan left */
	bool changed; /* something was mapped since */
};

struct address_space *address_space_new(void)
{
	return memory_alloc(1, sizeof(struct address_space));
}

void address_space_free(struct address_space *space)
{
	if (!space)
		return;
	free(space->records);
	free(space->history);
	free(space);
}

/* Index of the first present mapping that ends after `address`. */
static size_t space_find(const struct address_space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->records[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void space_insert(struct address_space *space, size_t at, const struct record *record)
{
	struct record *records;

	records = memory_grow(space->records, space->count, &space->capacity, sizeof(*records));
	memmove(records + at + 1, records + at, (space->count - at) * sizeof(*records));
	records[at] = *record;
	space->records = records;
	space->count++;
}

/* The part of a mapping that lies in [start, end). */
static struct record record_part(const struct record *record, uint64_t start, uint64_t end)
{
	struct record part = *record;

	part.start = start;
	part.end = end;
	part.file_offset += start - record->start;
	return part;
}

static void space_remember(struct address_space *space, const struct record *record,
			   uint64_t until_ns)
{
	struct record *slot;

	if (record->since_ns >= until_ns)
		return;
	if (!space->history)
		space->history = memory_alloc(ADDRESS_SPACE_HISTORY_MAX, sizeof(*space->history));
	slot = &space->history[space->history_next];
	*slot = *record;
	slot->until_ns = until_ns;
	space->history_next = (space->history_next + 1) % ADDRESS_SPACE_HISTORY_MAX;
	if (space->history_count < ADDRESS_SPACE_HISTORY_MAX)
		space->history_count++;
}

/* Let no present mapping cross `address`. */
static void space_split(struct address_space *space, uint64_t address)
{
	size_t at = space_find(space, address);
	struct record right;

	if (at == space->count || space->records[at].start >= address)
		return;
	right = record_part(&space->records[at], address, space->records[at].end);
	space->records[at].end = address;
	space_insert(space, at + 1, &right);
}

/* Does `b` map at each address what `a` maps there, or would if it reached so far? */
static bool record_is_same(const struct record *a, const struct record *b)
{
	if (a->anonymous || b->anonymous)
		return a->anonymous && b->anonymous;
	return a->module == b->module && a->file_offset - a->start == b->file_offset - b->start;
}

/* Join equal neighbours among the mappings from index `first` on that begin up to `end`. */
static void space_join(struct address_space *space, size_t first, uint64_t end)
{
	struct record *records = space->records;
	size_t kept = first, at = first + 1;

	for (; at < space->count && records[at].start <= end; at++) {
		struct record *left = &records[kept];

		if (left->end == records[at].start && left->since_ns == records[at].since_ns &&
		    left->seen == records[at].seen && record_is_same(left, &records[at]))
			left->end = records[at].end;
		else
			records[++kept] = records[at];
	}
	if (at == kept + 1)
		return;
	memmove(records + kept + 1, records + at, (space->count - at) * sizeof(*records));
	space->count -= at - kept - 1;
}

/* `piece`, a part of a mapping that is reported now, has the same range as the present mapping `old`. */
static void space_replace(struct address_space *space, struct record *old,
			  const struct record *piece)
{
	if (record_is_same(old, piece)) {
		if (piece->since_ns < old->since_ns)
			old->since_ns = piece->since_ns;
		old->seen = true;
	} else if (old->since_ns > piece->since_ns) {
		space_remember(space, piece, old->since_ns);
	} else {
		space_remember(space, old, piece->since_ns);
		*old = *piece;
	}
}

static void space_add(struct address_space *space, const struct record *record)
{
	uint64_t at = record->start;
	struct record piece;
	size_t first, i;

	space_split(space, record->start);
	space_split(space, record->end);
	first = space_find(space, record->start);
	for (i = first; at < record->end; i++) {
		uint64_t next = record->end;

		if (i < space->count && space->records[i].start < next)
			next = space->records[i].start;
		if (next > at) {
			piece = record_part(record, at, next);
			space_insert(space, i, &piece);
		} else {
			next = space->records[i].end;
			piece = record_part(record, at, next);
			space_replace(space, &space->records[i], &piece);
		}
		at = next;
	}
	space_join(space, first ? first - 1 : 0, record->end);
}

static void space_map(struct address_space *space, struct record *record)
{
	if (record->start >= record->end)
		return;
	/* A scan is limited by what the kernel allows a process, and must find again what is known. */
	if (space->count >= ADDRESS_SPACE_MAPPINGS_MAX && !space->scanning)
		return;
	record->seen = true;
	space->changed = true;
	if (!record->since_ns)
		record->since_ns = space->reset_ns;
	if (record->since_ns < space->reset_ns)
		space_remember(space, record, space->reset_ns);
	else
		space_add(space, record);
}

void address_space_map(struct address_space *space, uint64_t start, uint64_t end,
		       uint64_t file_offset, uint32_t module, uint64_t time_ns)
{
	struct record record = {
		.start = start,
		.end = end,
		.file_offset = file_offset,
		.since_ns = time_ns,
		.module = module,
	};

	space_map(space, &record);
}

void address_space_map_anonymous(struct address_space *space, uint64_t start, uint64_t end,
				 uint64_t time_ns)
{
	struct record record = {
		.start = start,
		.end = end,
		.since_ns = time_ns,
		.module = MODULE_NONE,
		.anonymous = true,
	};

	space_map(space, &record);
}

void address_space_reset(struct address_space *space, uint64_t time_ns)
{
	size_t i, kept = 0;

	if (time_ns < space->reset_ns)
		return;
	for (i = 0; i < space->count; i++) {
		if (space->records[i].since_ns >= time_ns)
			space->records[kept++] = space->records[i];
		else
			space_remember(space, &space->records[i], time_ns);
	}
	space->count = kept;
	space->reset_ns = time_ns;
	space->scanned = 0;
}

void address_space_scan_begin(struct address_space *space, uint64_t time_ns)
{
	size_t i;

	space->scan_ns = time_ns;
	space->scanning = true;
	for (i = 0; i < space->count; i++)
		space->records[i].seen = false;
}

void address_space_scan_end(struct address_space *space)
{
	size_t i, kept = 0;

	for (i = 0; i < space->count; i++) {
		if (space->records[i].seen || space->records[i].since_ns > space->scan_ns)
			space->records[kept++] = space->records[i];
		else
			space_remember(space, &space->records[i], space->scan_ns);
	}
	space->count = kept;
	space->scanned = kept;
	space->scanning = false;
	space->changed = false;
}

bool address_space_is_scanned(const struct address_space *space)
{
	return !space->changed;
}

void address_space_forget_ended(struct address_space *space, uint64_t time_ns)
{
	struct record *history = space->history;
	size_t count = space->history_count, i;
	size_t oldest = space->history_next + ADDRESS_SPACE_HISTORY_MAX - count;

	space->history = NULL;
	space->history_count = space->history_next = 0;
	for (i = 0; i < count; i++) {
		const struct record *record = &history[(oldest + i) % ADDRESS_SPACE_HISTORY_MAX];

		if (record->until_ns >= time_ns)
			space_remember(space, record, record->until_ns);
	}
	free(history);
}

void address_space_forget_all(struct address_space *space)
{
	free(space->records);
	free(space->history);
	*space = (struct address_space){ .reset_ns = space->reset_ns };
}

bool address_space_needs_scan(const struct address_space *space)
{
	return space->count > 2 * space->scanned + SCAN_SLACK;
}

static bool record_covers(const struct record *record, uint64_t address)
{
	return address >= record->start && address < record->end;
}

/*
 * How well a mapping answers for `time_ns`: a smaller number is better. 0 = it existed then; then those that
 * began later, the first to begin first; then those that had ended, the last to end first.
 */
static uint64_t record_distance(const struct record *record, uint64_t time_ns)
{
	if (record->since_ns > time_ns)
		return record->since_ns - time_ns;
	if (record->until_ns > time_ns)
		return 0;
	return UINT64_MAX - record->until_ns;
}

/* The best ended mapping of the program that ran at `time_ns`, or NULL. */
static const struct record *space_search_history(const struct address_space *space,
						 uint64_t address, uint64_t time_ns)
{
	const struct record *best = NULL;
	size_t i;

	for (i = 1; i <= space->history_count; i++) {
		size_t at = (space->history_next + ADDRESS_SPACE_HISTORY_MAX - i) %
			    ADDRESS_SPACE_HISTORY_MAX;
		const struct record *record = &space->history[at];

		if (!record_covers(record, address) ||
		    (record->since_ns >= space->reset_ns) != (time_ns >= space->reset_ns))
			continue;
		if (!best || record_distance(record, time_ns) < record_distance(best, time_ns))
			best = record;
	}
	return best;
}

static const struct record *space_search(const struct address_space *space, uint64_t address,
					 uint64_t time_ns)
{
	size_t at = space_find(space, address);
	const struct record *present = NULL, *ended;

	if (time_ns >= space->reset_ns && at < space->count &&
	    record_covers(&space->records[at], address))
		present = &space->records[at];
	if (present && present->since_ns <= time_ns)
		return present;
	ended = space_search_history(space, address, time_ns);
	if (present && (!ended || ended->until_ns <= time_ns))
		return present;
	return ended;
}

enum address_kind address_space_resolve(const struct address_space *space, uint64_t address,
					uint64_t time_ns, uint32_t *ret_module,
					uint64_t *ret_offset)
{
	const struct record *record = space_search(space, address, time_ns);

	if (!record)
		return ADDRESS_UNKNOWN;
	*ret_module = record->module;
	*ret_offset = record->anonymous ? 0 : record->file_offset + (address - record->start);
	return record->anonymous ? ADDRESS_ANONYMOUS : ADDRESS_FILE;
}

static int module_compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

size_t address_space_modules(const struct address_space *space, uint32_t **ret_modules)
{
	uint32_t *modules = memory_alloc(space->count, sizeof(*modules));
	size_t i, count = 0, distinct = 0;

	for (i = 0; i < space->count; i++)
		if (space->records[i].module != MODULE_NONE)
			modules[count++] = space->records[i].module;
	qsort(modules, count, sizeof(*modules), module_compare);
	for (i = 0; i < count; i++)
		if (!distinct || modules[distinct - 1] != modules[i])
			modules[distinct++] = modules[i];
	*ret_modules = modules;
	return distinct;
}

uint64_t address_space_since(const struct address_space *space, uint32_t module)
{
	uint64_t since = UINT64_MAX;
	size_t i;

	for (i = 0; i < space->count; i++)
		if (space->records[i].module == module && space->records[i].since_ns < since)
			since = space->records[i].since_ns;
	return since;
}

void address_space_mark(const struct address_space *space, bool *marks)
{
	size_t i;

	for (i = 0; i < space->count; i++)
		if (space->records[i].module != MODULE_NONE)
			marks[space->records[i].module] = true;
	for (i = 0; i < space->history_count; i++)
		if (space->history[i].module != MODULE_NONE)
			marks[space->history[i].module] = true;
}

struct address_mapping address_space_get(const struct address_space *space, size_t position)
{
	const struct record *record = &space->records[position];

	return (struct address_mapping){ .start = record->start,
					 .end = record->end,
					 .file_offset = record->file_offset,
					 .module = record->module,
					 .anonymous = record->anonymous };
}

size_t address_space_count(const struct address_space *space)
{
	return space->count;
}

size_t address_space_history_count(const struct address_space *space)
{
	return space->history_count;
}
