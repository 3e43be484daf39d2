/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of heaptrack (heaptrack_print, heaptrack_gui), file version 3: a log of allocations and frees from which readers count what
 * leaked, what the peak was, and what was temporary. A report has sums and no log, so one is made up that has these sums: the blocks of a
 * site are equally large, those that were freed come first, and at the peak each site holds what it held then.
 *
 * The readers take a free for temporary if it follows the allocation of the same size and stack. So a free of nothing stands between
 * where a block was not, and always behind an allocation. All numbers are hexadecimal.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report_peak.h"
#include "base/memory.h"
#include "base/text.h"
#include "render/figures.h"
#include "render/formats.h"
#include "render/notes.h"
#include "render/places.h"

/* Readers go through all blocks, so no more are written. */
#define HEAPTRACK_BLOCKS 2000000
#define HEAPTRACK_PAGE 4096
#define MS_NS 1000000
/* Readers have signed sums. */
#define HEAPTRACK_BYTES INT64_MAX

/* What happens to blocks. */
enum heaptrack_fate {
	HEAPTRACK_PAST, /* freed before the peak, or between two moments */
	HEAPTRACK_KEPT, /* allocated before the peak, and in use */
	HEAPTRACK_GONE, /* in use at the peak, and freed since */
	HEAPTRACK_NEW, /* allocated since the peak, and in use */
	HEAPTRACK_FATES,
};

struct heaptrack_blocks {
	uint64_t count, bytes;
	size_t first; /* of its sizes: of those that have a byte more, if there are, and then of the others */
};

struct heaptrack_site {
	uint32_t trace;
	struct heaptrack_blocks blocks[HEAPTRACK_FATES];
	uint64_t temporary; /* of those that are past */
};

struct heaptrack_sums {
	uint64_t held, at_peak, allocated; /* bytes */
	uint64_t blocks_held, blocks_allocated, temporary;
};

/*
 * The block of size 0, which is allocated first and alone has that size: readers take a free of that number for one of a temporary
 * block, but directly behind another allocation.
 */
struct heaptrack_seed {
	enum heaptrack_fate fate;
	bool is_temporary;
	bool is_due; /* to be freed behind the next allocation */
	uint32_t trace;
	uint64_t size;
};

struct heaptrack {
	const struct report *report;
	const struct render_options *options;
	struct buffer *out;
	bool is_wanted; /* somebody takes what is written */
	struct heaptrack_sums limit, sums; /* of the report; of the sites so far */
	struct heaptrack_site *sites; /* owned */
	size_t count, capacity;
	struct places places;
	size_t places_written, sizes;
	struct heaptrack_seed seed;
	size_t nothing; /* the number of the size of no block */
	struct table strings; /* by the address of a text: number */
	struct table traces; /* by caller and place: number */
};

static void heaptrack_comment(void *context, const char *sentence)
{
	struct heaptrack *heaptrack = context;

	buffer_printf(heaptrack->out, "# %s\n", sentence);
}

static void heaptrack_begin(struct heaptrack *heaptrack)
{
	const struct report *report = heaptrack->report;
	const struct target *target = report->target_count ? report->targets[0] : NULL;

	buffer_append_string(heaptrack->out, "v 10500 3\nX ");
	if (report->target_count == 1)
		text_append_safe(heaptrack->out, target->exe ? target->exe : target->comm);
	else
		buffer_printf(heaptrack->out, "%zu processes", report->target_count);
	buffer_printf(heaptrack->out, "\nI %x 0\n", HEAPTRACK_PAGE);
	notes_of_report(report, heaptrack_comment, heaptrack);
}

/* Stacks */

/* 0 = no text. */
static size_t heaptrack_string(struct heaptrack *heaptrack, const char *text)
{
	size_t number;

	if (!text)
		return 0;
	number = (uintptr_t)table_get(&heaptrack->strings, (uintptr_t)text);
	if (number)
		return number;
	number = heaptrack->strings.count + 1;
	table_put(&heaptrack->strings, (uintptr_t)text, (void *)(uintptr_t)number);
	buffer_printf(heaptrack->out, "s %zx ", strlen(text));
	buffer_append_string(heaptrack->out, text);
	buffer_append_string(heaptrack->out, "\n");
	return number;
}

/* Addresses mean nothing beyond a process: a place's number is its address. */
static void heaptrack_write_places(struct heaptrack *heaptrack)
{
	for (; heaptrack->places_written < heaptrack->places.count; heaptrack->places_written++) {
		const struct place *place = &heaptrack->places.items[heaptrack->places_written];
		const size_t name = heaptrack_string(heaptrack, place->name);
		const size_t module = heaptrack_string(heaptrack, place->module);
		const size_t file = heaptrack_string(heaptrack, place->file);

		buffer_printf(heaptrack->out, "i %zx %zx %zx %zx %" PRIx32 "\n",
			      heaptrack->places_written + 1, module, name, file, place->line);
	}
}

static uint32_t heaptrack_trace(struct heaptrack *heaptrack, uint32_t caller, uint32_t place)
{
	const uint64_t key = (uint64_t)caller << 32 | place;
	size_t number = (uintptr_t)table_get(&heaptrack->traces, key);

	if (number)
		return (uint32_t)number;
	number = heaptrack->traces.count + 1;
	table_put(&heaptrack->traces, key, (void *)(uintptr_t)number);
	buffer_printf(heaptrack->out, "t %" PRIx32 " %" PRIx32 "\n", place + 1, caller);
	return (uint32_t)number;
}

/* Blocks */

/* `bytes` of `all` as blocks: one at least, and one is left for the others. */
static uint64_t heaptrack_part(uint64_t count, uint64_t bytes, uint64_t all)
{
	const uint64_t part = (uint64_t)((unsigned __int128)count * bytes / all);

	if (count < 2 || part >= count)
		return count < 2 ? count : count - 1;
	return part ? part : 1;
}

/* Bytes are in a block, even where the block is counted elsewhere: sums of bytes come before those of blocks. */
static void heaptrack_set(struct heaptrack_blocks *blocks, uint64_t count, uint64_t bytes)
{
	blocks->count = bytes && !count ? 1 : count;
	blocks->bytes = bytes;
}

static void heaptrack_split(struct heaptrack_site *site, const struct heaptrack_sums *sums)
{
	const uint64_t kept = sums->held < sums->at_peak ? sums->held : sums->at_peak;
	const uint64_t gone = sums->at_peak - kept, fresh = sums->held - kept;
	const uint64_t freed = sums->allocated - sums->held;
	const uint64_t blocks_freed = sums->blocks_allocated - sums->blocks_held;
	uint64_t blocks_fresh = kept ? 0 : sums->blocks_held, blocks_gone = 0;

	if (!fresh)
		blocks_fresh = 0;
	else if (kept)
		blocks_fresh = heaptrack_part(sums->blocks_held, fresh, sums->held);
	if (gone && freed > gone)
		blocks_gone = heaptrack_part(blocks_freed, gone, freed);
	else if (gone)
		blocks_gone = blocks_freed;
	if (blocks_gone > 1 && blocks_gone > blocks_freed - sums->temporary)
		blocks_gone = blocks_freed > sums->temporary ? blocks_freed - sums->temporary : 1;
	heaptrack_set(&site->blocks[HEAPTRACK_KEPT], sums->blocks_held - blocks_fresh, kept);
	heaptrack_set(&site->blocks[HEAPTRACK_NEW], blocks_fresh, fresh);
	heaptrack_set(&site->blocks[HEAPTRACK_GONE], blocks_gone, gone);
	heaptrack_set(&site->blocks[HEAPTRACK_PAST], blocks_freed - blocks_gone,
		      freed > gone && blocks_freed > blocks_gone ? freed - gone : 0);
	site->temporary = sums->temporary < blocks_freed - blocks_gone ? sums->temporary
								       : blocks_freed - blocks_gone;
}

static void heaptrack_add(struct heaptrack *heaptrack, uint32_t trace,
			  const struct heaptrack_sums *sums)
{
	struct heaptrack_site *site;

	heaptrack->sites = memory_grow(heaptrack->sites, heaptrack->count, &heaptrack->capacity,
				       sizeof(*heaptrack->sites));
	site = &heaptrack->sites[heaptrack->count++];
	*site = (struct heaptrack_site){ .trace = trace };
	heaptrack_split(site, sums);
	figures_add(&heaptrack->sums.held, sums->held);
	figures_add(&heaptrack->sums.at_peak, sums->at_peak);
	figures_add(&heaptrack->sums.allocated, sums->allocated);
	figures_add(&heaptrack->sums.blocks_held, sums->blocks_held);
	figures_add(&heaptrack->sums.blocks_allocated, sums->blocks_allocated);
	figures_add(&heaptrack->sums.temporary, sums->temporary);
}

static uint64_t heaptrack_least(uint64_t value, uint64_t limit, uint64_t taken)
{
	const uint64_t left = limit > taken ? limit - taken : 0;

	return value < left ? value : left;
}

static void heaptrack_take(void *context, const struct report_site *site,
			   const uint64_t values[FIGURES])
{
	struct heaptrack *heaptrack = context;
	const struct heaptrack_sums *limit = &heaptrack->limit, *taken = &heaptrack->sums;
	struct heaptrack_sums sums = { .held = values[0], .blocks_held = values[1] };
	uint32_t trace = 0;
	size_t i;

	if (!heaptrack->is_wanted)
		return;
	places_add_site(&heaptrack->places, site);
	heaptrack_write_places(heaptrack);
	for (i = 0; i < heaptrack->places.path_length; i++)
		trace = heaptrack_trace(heaptrack, trace, heaptrack->places.path[i]);
	sums.held = heaptrack_least(values[0], limit->held, taken->held);
	sums.at_peak = values[0];
	if (heaptrack->report->peak.known &&
	    !report_peak_of(heaptrack->report, site, &sums.at_peak))
		sums.at_peak = 0;
	sums.at_peak = heaptrack_least(sums.at_peak, limit->at_peak, taken->at_peak);
	sums.allocated = values[2] > sums.held ? values[2] : sums.held;
	sums.blocks_allocated = values[3] > values[1] ? values[3] : values[1];
	sums.temporary = heaptrack_least(site->stats.lives.temporary,
					 sums.blocks_allocated - sums.blocks_held, 0);
	heaptrack_add(heaptrack, trace, &sums);
	heaptrack->is_wanted = render_drain(heaptrack->options, heaptrack->out);
}

static uint64_t heaptrack_rest(uint64_t all, uint64_t listed)
{
	return all > listed ? all - listed : 0;
}

/* What the report has beyond its rows: of sites that have gone, or beyond -n. */
static void heaptrack_add_rest(struct heaptrack *heaptrack)
{
	const struct place place = { .name = "[sites that are not listed]" };
	const struct heaptrack_sums *limit = &heaptrack->limit, *listed = &heaptrack->sums;
	struct heaptrack_sums rest = {
		.held = heaptrack_rest(limit->held, listed->held),
		.at_peak = heaptrack_rest(limit->at_peak, listed->at_peak),
		.allocated = heaptrack_rest(limit->allocated, listed->allocated),
		.blocks_held = heaptrack_rest(limit->blocks_held, listed->blocks_held),
		.blocks_allocated =
			heaptrack_rest(limit->blocks_allocated, listed->blocks_allocated),
	};
	uint32_t number;

	if (!rest.held && !rest.at_peak && !rest.blocks_allocated)
		return;
	if (rest.allocated < rest.held)
		rest.allocated = rest.held;
	if (rest.blocks_allocated < rest.blocks_held)
		rest.blocks_allocated = rest.blocks_held;
	rest.temporary = heaptrack_least(heaptrack_rest(limit->temporary, listed->temporary),
					 rest.blocks_allocated - rest.blocks_held, 0);
	number = places_add(&heaptrack->places, &place);
	heaptrack_write_places(heaptrack);
	heaptrack_add(heaptrack, heaptrack_trace(heaptrack, 0, number), &rest);
}

static uint64_t heaptrack_scaled(uint64_t count, uint64_t all)
{
	const uint64_t scaled =
		(uint64_t)((unsigned __int128)count * HEAPTRACK_BLOCKS / (all ? all : 1));

	return scaled || !count ? scaled : 1;
}

/* More blocks than readers should go through: fewer and larger ones, of the same bytes. */
static void heaptrack_limit(struct heaptrack *heaptrack)
{
	const uint64_t all = heaptrack->sums.blocks_allocated;
	size_t i, fate;

	if (all <= HEAPTRACK_BLOCKS)
		return;
	buffer_printf(heaptrack->out,
		      "# Blocks are too many for this format: of %" PRIu64
		      " allocated ones there are %d. Bytes in use and at the peak are whole.\n",
		      all, HEAPTRACK_BLOCKS);
	for (i = 0; i < heaptrack->count; i++) {
		struct heaptrack_site *site = &heaptrack->sites[i];
		const uint64_t past = site->blocks[HEAPTRACK_PAST].count;

		for (fate = 0; fate < HEAPTRACK_FATES; fate++)
			site->blocks[fate].count = heaptrack_scaled(site->blocks[fate].count, all);
		site->temporary = site->temporary == past ? site->blocks[HEAPTRACK_PAST].count
							  : heaptrack_scaled(site->temporary, all);
	}
}

/* So many of them have a byte more than the others. */
static uint64_t heaptrack_larger(const struct heaptrack_blocks *blocks)
{
	return blocks->count ? blocks->bytes % blocks->count : 0;
}

/* What is past never holds what all hold at the peak. */
static uint64_t heaptrack_size(const struct heaptrack *heaptrack,
			       const struct heaptrack_blocks *blocks, enum heaptrack_fate fate)
{
	const uint64_t size = blocks->bytes / blocks->count, limit = heaptrack->limit.at_peak;

	if (fate != HEAPTRACK_PAST || size + 2 < limit)
		return size;
	return limit > 2 ? limit - 2 : 0;
}

static void heaptrack_write_size(struct heaptrack *heaptrack, uint64_t size, uint32_t trace)
{
	buffer_printf(heaptrack->out, "a %" PRIx64 " %" PRIx32 "\n", size, trace);
	heaptrack->sizes++;
}

/* The first site with a block of the fate, or NULL. */
static struct heaptrack_site *heaptrack_find(struct heaptrack *heaptrack, enum heaptrack_fate fate,
					     bool is_temporary)
{
	size_t i;

	for (i = 0; i < heaptrack->count; i++)
		if (heaptrack->sites[i].blocks[fate].count &&
		    (!is_temporary || heaptrack->sites[i].temporary))
			return &heaptrack->sites[i];
	return NULL;
}

/* Choose the first block, one that can be counted right by all readers, and take it out of its site's. */
static void heaptrack_take_seed(struct heaptrack *heaptrack)
{
	static const enum heaptrack_fate fates[] = { HEAPTRACK_PAST, HEAPTRACK_PAST, HEAPTRACK_KEPT,
						     HEAPTRACK_GONE, HEAPTRACK_NEW };
	struct heaptrack_seed *seed = &heaptrack->seed;
	struct heaptrack_blocks *blocks;
	struct heaptrack_site *site = NULL;
	size_t i;

	for (i = 0; !site && i < sizeof(fates) / sizeof(fates[0]); i++) {
		seed->fate = fates[i];
		seed->is_temporary = !i;
		site = heaptrack_find(heaptrack, seed->fate, seed->is_temporary);
	}
	if (!site)
		return;
	blocks = &site->blocks[seed->fate];
	seed->trace = site->trace;
	/* What is past beside others has no size, so that it adds nothing to the peak. */
	if (seed->fate != HEAPTRACK_PAST)
		seed->size = blocks->bytes / blocks->count;
	blocks->bytes -= seed->size;
	blocks->count--;
	site->temporary -= seed->is_temporary;
}

/* Those of blocks of one fate: the larger size, if there are two, is allocated first. */
static void heaptrack_write_sizes_of(struct heaptrack *heaptrack, enum heaptrack_fate fate)
{
	size_t i;

	for (i = 0; i < heaptrack->count; i++) {
		struct heaptrack_site *site = &heaptrack->sites[i];
		struct heaptrack_blocks *blocks = &site->blocks[fate];
		uint64_t size;

		if (!blocks->count)
			continue;
		size = heaptrack_size(heaptrack, blocks, fate);
		blocks->first = heaptrack->sizes;
		if (heaptrack_larger(blocks))
			heaptrack_write_size(heaptrack, size + 1, site->trace);
		heaptrack_write_size(heaptrack, size, site->trace);
	}
}

/*
 * The sizes of all blocks, in the order in which the log has them first: heaptrack_gui counts on that. The last one is of nothing,
 * and is never allocated.
 */
static void heaptrack_write_sizes(struct heaptrack *heaptrack)
{
	if (heaptrack->seed.trace)
		heaptrack_write_size(heaptrack, heaptrack->seed.size, heaptrack->seed.trace);
	heaptrack_write_sizes_of(heaptrack, HEAPTRACK_PAST);
	heaptrack_write_sizes_of(heaptrack, HEAPTRACK_KEPT);
	heaptrack_write_sizes_of(heaptrack, HEAPTRACK_GONE);
	heaptrack_write_sizes_of(heaptrack, HEAPTRACK_NEW);
	heaptrack->nothing = heaptrack->sizes;
	heaptrack_write_size(heaptrack, 0, heaptrack->sites[0].trace);
}

/* The number of the size of block `i`. */
static size_t heaptrack_size_number(const struct heaptrack_blocks *blocks, uint64_t i)
{
	const uint64_t larger = heaptrack_larger(blocks);

	return blocks->first + (larger && i >= larger);
}

static void heaptrack_write_free(struct heaptrack *heaptrack, size_t number)
{
	buffer_printf(heaptrack->out, "- %zx\n", number);
}

static void heaptrack_write_allocation(struct heaptrack *heaptrack, size_t number)
{
	buffer_printf(heaptrack->out, "+ %zx\n", number);
	if (heaptrack->seed.is_due)
		heaptrack_write_free(heaptrack, 0);
	heaptrack->seed.is_due = false;
}

/* Allocations or frees of all of them. */
static void heaptrack_write_blocks(struct heaptrack *heaptrack,
				   const struct heaptrack_blocks *blocks, char event)
{
	uint64_t i;

	for (i = 0; i < blocks->count && render_drain(heaptrack->options, heaptrack->out); i++)
		(event == '+' ? heaptrack_write_allocation
			      : heaptrack_write_free)(heaptrack, heaptrack_size_number(blocks, i));
}

/* A free that is none: what was allocated last is not temporary if it is freed next. */
static void heaptrack_write_nothing(struct heaptrack *heaptrack)
{
	heaptrack_write_free(heaptrack, heaptrack->nothing);
}

static void heaptrack_write_past(struct heaptrack *heaptrack, const struct heaptrack_site *site)
{
	const struct heaptrack_blocks *blocks = &site->blocks[HEAPTRACK_PAST];
	uint64_t i;

	for (i = 0; i < blocks->count && render_drain(heaptrack->options, heaptrack->out); i++) {
		const size_t size = heaptrack_size_number(blocks, i);

		heaptrack_write_allocation(heaptrack, size);
		if (i >= site->temporary)
			heaptrack_write_nothing(heaptrack);
		heaptrack_write_free(heaptrack, size);
	}
}

static void heaptrack_write_fate(struct heaptrack *heaptrack, enum heaptrack_fate fate, char event)
{
	size_t i;

	for (i = 0; i < heaptrack->count; i++)
		heaptrack_write_blocks(heaptrack, &heaptrack->sites[i].blocks[fate], event);
}

static void heaptrack_write_seed(struct heaptrack *heaptrack)
{
	struct heaptrack_seed *seed = &heaptrack->seed;

	if (!seed->trace)
		return;
	heaptrack_write_allocation(heaptrack, 0);
	if (seed->is_temporary)
		heaptrack_write_free(heaptrack, 0);
	else
		seed->is_due = seed->fate == HEAPTRACK_PAST;
}

static void heaptrack_write_log(struct heaptrack *heaptrack)
{
	const struct report *report = heaptrack->report;
	const struct peak *peak = &report->peak;
	uint64_t rss = 0;
	size_t i;

	buffer_append_string(heaptrack->out, "c 0\n");
	heaptrack_write_seed(heaptrack);
	for (i = 0; i < heaptrack->count; i++)
		heaptrack_write_past(heaptrack, &heaptrack->sites[i]);
	buffer_printf(heaptrack->out, "c %" PRIx64 "\n",
		      (peak->known ? peak->time_ns : report->duration_ns) / MS_NS);
	heaptrack_write_fate(heaptrack, HEAPTRACK_KEPT, '+');
	heaptrack_write_fate(heaptrack, HEAPTRACK_GONE, '+');
	if (heaptrack->seed.fate == HEAPTRACK_GONE)
		heaptrack_write_free(heaptrack, 0);
	else if (heaptrack_find(heaptrack, HEAPTRACK_GONE, false))
		heaptrack_write_nothing(heaptrack);
	buffer_printf(heaptrack->out, "c %" PRIx64 "\n", report->duration_ns / MS_NS);
	heaptrack_write_fate(heaptrack, HEAPTRACK_GONE, '-');
	heaptrack_write_fate(heaptrack, HEAPTRACK_NEW, '+');
	if (heaptrack->seed.is_due)
		heaptrack_write_free(heaptrack, 0);
	for (i = 0; i < report->target_count; i++)
		figures_add(&rss, report->targets[i]->usage.rss_bytes);
	buffer_printf(heaptrack->out, "R %" PRIx64 "\n", rss / HEAPTRACK_PAGE);
}

/* The sums of the report, as far as readers can count. */
static struct heaptrack_sums heaptrack_sums(const struct report *report)
{
	const uint64_t held = site_stats_inuse_bytes(&report->totals);
	struct heaptrack_sums sums = {
		.held = held < HEAPTRACK_BYTES ? held : HEAPTRACK_BYTES,
		.allocated = report->totals.alloc_bytes,
		.blocks_held = site_stats_inuse_objects(&report->totals),
		.blocks_allocated = report->totals.alloc_objects,
		.temporary = report->totals.lives.temporary,
	};

	sums.at_peak = sums.held;
	if (report->peak.known && report->peak.bytes > held)
		sums.at_peak = report->peak.bytes < HEAPTRACK_BYTES ? report->peak.bytes
								    : HEAPTRACK_BYTES;
	return sums;
}

/* Behind the stacks of the sites. */
static void heaptrack_end(struct heaptrack *heaptrack)
{
	heaptrack_add_rest(heaptrack);
	heaptrack_limit(heaptrack);
	if (!heaptrack->count)
		return;
	heaptrack_take_seed(heaptrack);
	heaptrack_write_sizes(heaptrack);
	heaptrack_write_log(heaptrack);
}

void render_heaptrack(const struct report *report, const struct render_options *options,
		      struct buffer *out)
{
	struct heaptrack heaptrack = {
		.report = report,
		.options = options,
		.out = out,
		.limit = heaptrack_sums(report),
		.is_wanted = true,
	};

	heaptrack_begin(&heaptrack);
	figures_walk_report(report, heaptrack_take, &heaptrack);
	if (heaptrack.is_wanted)
		heaptrack_end(&heaptrack);
	places_free(&heaptrack.places);
	table_free(&heaptrack.strings);
	table_free(&heaptrack.traces);
	free(heaptrack.sites);
}
