/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All live blocks of musl: the slots in use of each group, with the size that the program asked for. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "heap/musl.h"
#include "image/window.h"

#define BEGINNING 256 /* bytes of a block that are read */
#define WINDOW 65536
#define FAR 16384 /* a stride of which only both ends are read */
#define SLOT_END 4 /* bytes of the next slot's header, behind each slot */

/* What reserved bytes can mean beside their number, in a slot's header. */
enum musl_reserved { RESERVED_WORD = 5, RESERVED_GROUP = 6, RESERVED_SHIFTED = 7 };

struct musl_walker {
	struct image *image;
	const struct census_sink *sink;
	struct heap_totals *totals;
	struct window window;
	const struct musl_group *group;
	bool whole; /* all of the group is in memory */
	struct census_use used; /* slots, as the metas had it, nested groups among them */
	uint64_t odd_slots;
	bool ended;
};

enum musl_slot { SLOT_BLOCK, SLOT_GROUP, SLOT_ODD };

/* Bytes of the group, until the next call. */
static const unsigned char *musl_bytes(struct musl_walker *walker, uint64_t address, size_t size)
{
	if (walker->group->stride >= FAR)
		window_drop(&walker->window);
	return window_get(&walker->window, address, size);
}

/* Decode the header in front of `address`: the slot's number, its reserved bytes and the distance to the group's storage. */
static bool musl_header(struct musl_walker *walker, uint64_t address, unsigned int *reserved,
			unsigned int *slot, uint32_t *offset)
{
	const unsigned char *bytes = musl_bytes(walker, address - 8, 8);
	uint16_t low;

	if (!bytes)
		return false;
	memcpy(&low, bytes + 6, 2);
	*offset = low;
	if (bytes[4])
		memcpy(offset, bytes, 4);
	*reserved = bytes[5] >> 5;
	*slot = bytes[5] & 31;
	return true;
}

/* What the slot does not use of its end. */
static bool musl_slack(struct musl_walker *walker, uint64_t address, uint64_t end,
		       unsigned int reserved, uint64_t *ret_slack)
{
	const unsigned char *bytes;
	uint32_t word;

	*ret_slack = reserved;
	if (reserved < RESERVED_WORD)
		return reserved <= end - address;
	bytes = end - address >= 5 ? musl_bytes(walker, end - 5, 5) : NULL;
	if (!bytes || bytes[0])
		return false;
	memcpy(&word, bytes + 1, 4);
	*ret_slack = word;
	return word >= RESERVED_WORD && word <= end - address;
}

/* The block in slot `i`. */
static enum musl_slot musl_slot(struct musl_walker *walker, unsigned int i,
				struct census_block *block)
{
	uint64_t storage = walker->group->memory + MUSL_UNIT;
	uint64_t start = storage + i * walker->group->stride, slack;
	uint64_t end = start + walker->group->stride - SLOT_END;
	unsigned int reserved, slot;
	uint32_t offset;

	block->address = start;
	if (!musl_header(walker, start, &reserved, &slot, &offset))
		return SLOT_ODD;
	if (reserved == RESERVED_SHIFTED) {
		block->address += (uint64_t)offset * MUSL_UNIT;
		if (!offset || block->address >= end ||
		    !musl_header(walker, block->address, &reserved, &slot, &offset))
			return SLOT_ODD;
	}
	if (reserved > RESERVED_GROUP || slot != i ||
	    storage + (uint64_t)offset * MUSL_UNIT != block->address)
		return SLOT_ODD;
	if (reserved == RESERVED_GROUP)
		return SLOT_GROUP;
	if (!musl_slack(walker, block->address, end, reserved, &slack))
		return SLOT_ODD;
	block->size = end - slack - block->address;
	return SLOT_BLOCK;
}

/* A slot that makes no sense may have been freed, or taken, since its meta was read. */
static enum musl_slot musl_slot_settled(struct musl_walker *walker, unsigned int i,
					struct census_block *block, bool *gone)
{
	enum musl_slot what = musl_slot(walker, i, block);
	struct musl_group now;

	*gone = false;
	if (what != SLOT_ODD)
		return what;
	window_drop(&walker->window);
	*gone = !musl_group_read(walker->image, walker->group->meta, &now) || now.unused >> i & 1;
	return musl_slot(walker, i, block);
}

static void musl_walk_emit(struct musl_walker *walker, struct census_block *block)
{
	struct heap_totals *totals = walker->totals;

	block->mapped = walker->group->slots == 1 && walker->group->mapped;
	totals->live_blocks++;
	totals->live_bytes += block->size;
	totals->mapped_blocks += block->mapped;
	totals->mapped_bytes += block->mapped ? block->size : 0;
	totals->overhead_bytes += walker->group->stride - block->size;
	if (!walker->sink || walker->ended)
		return;
	block->bytes = block->size
			       ? window_get_part(&walker->window, block->address,
						 block->size < BEGINNING ? block->size : BEGINNING,
						 &block->length)
			       : NULL;
	walker->ended = !walker->sink->block(walker->sink->context, block);
}

static uint64_t musl_resident(const struct musl_walker *walker, unsigned int i)
{
	uint64_t start = walker->group->memory + MUSL_UNIT + i * walker->group->stride;

	if (walker->whole)
		return walker->group->stride;
	return image_search_resident(walker->image, start, start + walker->group->stride);
}

static void musl_give_unknown(const struct musl_walker *walker, unsigned int i)
{
	uint64_t start = walker->group->memory + MUSL_UNIT + i * walker->group->stride;

	census_sink_unknown(walker->sink, start, start + walker->group->stride);
}

static void musl_walk_slot(struct musl_walker *walker, unsigned int i)
{
	struct heap_totals *totals = walker->totals;
	struct census_block block = { 0 };
	bool gone;

	if (walker->group->unused >> i & 1) {
		totals->free_bytes += walker->group->stride;
		totals->bins_resident += musl_resident(walker, i);
		return;
	}
	switch (musl_slot_settled(walker, i, &block, &gone)) {
	case SLOT_BLOCK:
		totals->live_resident += musl_resident(walker, i);
		musl_walk_emit(walker, &block);
		break;
	case SLOT_GROUP:
		break;
	case SLOT_ODD:
		totals->resyncs++;
		walker->odd_slots += !gone;
		totals->unknown_bytes += gone ? 0 : walker->group->stride;
		if (!gone)
			musl_give_unknown(walker, i);
	}
}

static void musl_use(const struct musl_group *group, struct census_use *use)
{
	uint64_t used = group->slots - (unsigned int)__builtin_popcount(group->unused);

	use->blocks += used;
	use->bytes += used * group->stride;
}

static bool musl_walk_group(void *context, const struct musl_group *group)
{
	struct musl_walker *walker = context;
	unsigned int i;

	walker->group = group;
	musl_use(group, &walker->used);
	walker->whole = image_search_resident(walker->image, group->memory,
					      group->memory + group->size) == group->size;
	walker->totals->overhead_bytes += MUSL_UNIT;
	if (group->mapped)
		walker->totals->overhead_bytes += group->mapped - group->size;
	window_drop(&walker->window);
	for (i = 0; i < group->slots && !walker->ended; i++)
		musl_walk_slot(walker, i);
	return !walker->ended;
}

static void musl_walk_area(void *context, uint64_t address)
{
	struct musl_walker *walker = context;

	(void)address;
	walker->totals->overhead_bytes += MUSL_AREA;
}

static bool musl_count_group(void *context, const struct musl_group *group)
{
	musl_use(group, context);
	return true;
}

/* The metas alone. */
static void musl_walk_check(const struct musl_walker *walker, const struct heap_layout *layout,
			    struct musl_visit *visit)
{
	struct census_use now = { 0 };
	struct musl_visit again = { .group = musl_count_group, .context = &now };

	musl_visit(layout, walker->image, &again);
	census_check_use(walker->image, &walker->used, &now, walker->totals);
	if (image_is_over(walker->image))
		return;
	visit->odd_groups = census_both(visit->odd_groups, again.odd_groups);
	/* A page of metas that is newer than the list of mappings was none. */
	if (musl_is_area(walker->image, visit->odd_area, layout->secret))
		visit->odd_areas = 0;
}

static void musl_walk_remarks(const struct musl_walker *walker, const struct musl_visit *visit)
{
	struct buffer *remarks = &walker->totals->remarks;

	if (visit->odd_areas)
		buffer_printf(remarks,
			      "musl: the list of its pages of metas breaks off after %" PRIu64 "\n",
			      visit->areas);
	if (visit->odd_groups)
		buffer_printf(remarks,
			      "musl: metas that do not agree with what they lead to: %" PRIu64
			      " of %" PRIu64 "\n",
			      visit->odd_groups, visit->odd_groups + visit->groups);
	if (100 * walker->totals->resyncs > walker->totals->live_blocks)
		buffer_printf(remarks,
			      "musl: %" PRIu64
			      " slot%s changed while looked at: figures are rough\n",
			      walker->totals->resyncs, units_s(walker->totals->resyncs));
	if (walker->odd_slots)
		buffer_printf(remarks, "musl: %" PRIu64 " slot%s in use without sense\n",
			      walker->odd_slots, units_s(walker->odd_slots));
}

int musl_walk(const struct heap_layout *layout, struct image *image, const struct census_sink *sink,
	      struct heap_totals *ret_totals)
{
	struct musl_walker walker = { .image = image, .totals = ret_totals };
	struct musl_visit visit = { .group = musl_walk_group,
				    .area = musl_walk_area,
				    .context = &walker };

	memset(ret_totals, 0, sizeof(*ret_totals));
	ret_totals->allocator = "musl";
	ret_totals->arenas = 1;
	walker.sink = sink && sink->block ? sink : NULL;
	window_open(&walker.window, image, WINDOW);
	musl_visit(layout, image, &visit);
	/* It gives back what is free when it is freed, or not at all. */
	ret_totals->stuck_bytes = ret_totals->bins_resident;
	if (!walker.ended && census_refresh(image))
		musl_walk_check(&walker, layout, &visit);
	musl_walk_remarks(&walker, &visit);
	window_close(&walker.window);
	return visit.areas ? 0 : -ENODATA;
}
