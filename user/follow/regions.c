/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See regions.h. */
#include "follow/regions.h"

#include "base/clock.h"
#include "interp/heap_region.h"
#include "follow/ended.h"
#include "system/end_signals.h"
#include "system/process_pages.h"

/* For one report: to find out what blocks are, and for all. Times are longer on slow machines. */
#define FIND_NS 20000000
#define LOOK_NS 60000000

/* A site of which so many blocks are no region is none. */
#define LOOKS_MAX 64

/* A look at all processes. */
struct look {
	const struct regions *regions;
	const struct process *process; /* whose pages are open; NULL = none */
	uint32_t target_id; /* that was opened last, or tried */
	struct process_pages pages;
	uint64_t find_until_ns, until_ns;
};

static bool look_read(void *context, uint64_t address, void *bytes, size_t size)
{
	return process_pages_read(context, address, bytes, size);
}

static void look_close(struct look *look)
{
	if (look->process)
		process_pages_close(&look->pages);
	look->process = NULL;
}

/* Have the pages of a process open. False if they are not to be had. */
static bool look_open(struct look *look, uint32_t target_id)
{
	struct process *process;

	if (look->target_id == target_id)
		return look->process;
	look_close(look);
	look->target_id = target_id;
	process = process_table_get(look->regions->processes, target_id);
	if (!process || process->to_reap || process->target.exited ||
	    process_pages_open(&look->pages, process->target.pid))
		return false;
	/* What was opened is of this process, if that still runs now. */
	look->process = process;
	if (!process_alive(process))
		look_close(look);
	return look->process;
}

/* Does a process have code that is no file's in [start, end)? */
static bool look_finds_code(const struct address_space *space, uint64_t start, uint64_t end)
{
	size_t low = 0, high = address_space_count(space), middle;
	struct address_mapping mapping;

	while (low < high) {
		middle = low + (high - low) / 2;
		mapping = address_space_get(space, middle);
		if (mapping.end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= address_space_count(space))
		return false;
	mapping = address_space_get(space, low);
	return mapping.anonymous && mapping.start < end;
}

/* Is it still to be found out what a site is? */
static bool look_wants(const struct look *look, const struct known_site *site)
{
	return site->region == REGION_NONE && site->looks < LOOKS_MAX &&
	       clock_now_ns() < look->find_until_ns;
}

/* What a block is. Memory of a file is not read: it may be that of a device, where a read has effects. */
static void look_find(struct look *look, struct known_site *site, uint64_t start, uint64_t end,
		      bool anonymous)
{
	const struct target_memory memory = { .read = look_read, .context = &look->pages };

	site->looks++;
	if (anonymous)
		site->region = heap_region_find(&memory, start, end);
	if (site->region == REGION_NONE && site->record.source == SOURCE_MMAP &&
	    look_finds_code(look->process->space, start, end))
		site->region = REGION_JIT;
}

static bool look_at_mapping(void *context, const struct mapping_piece *piece,
			    uint64_t *ret_resident)
{
	struct look *look = context;
	struct known_site *site = sites_get(look->regions->sites, piece->site);

	if (!site || !ended_is_current(site) || !look_open(look, piece->target_id))
		return false;
	if (look_wants(look, site))
		look_find(look, site, piece->start, piece->end, piece->anonymous);
	return process_pages_count(&look->pages, piece->start, piece->end, look->until_ns,
				   ret_resident);
}

static void look_at_blocks(struct look *look)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&look->regions->sites->by_key, &cursor))) {
		struct known_site *site = slot->value;

		/* Sites are in no order of their processes: files are opened for those only of which something is wanted. */
		if (site->block && look_wants(look, site) && ended_is_current(site) &&
		    look_open(look, site->record.target_id))
			look_find(look, site, site->block, site->block_end, true);
	}
}

void regions_look(struct regions *regions)
{
	uint64_t now = clock_now_ns(), times = end_signals_slowness();
	struct look look = { .regions = regions,
			     .find_until_ns = now + FIND_NS * times,
			     .until_ns = now + LOOK_NS * times };

	mapping_set_measure(regions->mappings, look_at_mapping, &look);
	look_at_blocks(&look);
	look_close(&look);
}
