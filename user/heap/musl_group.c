/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the metas of musl mean, each checked against the group that it describes. */
#include "heap/address_set.h"
#include "heap/musl.h"

#define META 40
#define CLASSES 48
#define ALONE 63 /* the class of a block with a mapping of its own */
/* More that makes no sense is not visited. */
#define ODD_MOST 4096
#define AREAS_MOST 1048576

static const uint16_t musl_units[CLASSES] = {
	1,   2,	  3,   4,    5,	   6,	 7,    8,    9,	   10,	 12,   15,   18,   20,	 25,   31,
	36,  42,  50,  63,   72,   84,	 102,  127,  146,  170,	 204,  255,  292,  340,	 409,  511,
	584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

bool musl_is_area(struct image *image, uint64_t address, uint64_t secret)
{
	uint64_t words[3];

	return address && !(address & (MUSL_AREA - 1)) && secret &&
	       image_read(image, address, words, sizeof(words)) && words[0] == secret &&
	       (uint32_t)words[2] == MUSL_METAS;
}

/* Decode a meta; false if it is unused, or not sound (`odd`). */
static bool musl_group_decode(struct image *image, uint64_t meta, const uint64_t *words,
			      struct musl_group *group, bool *odd)
{
	uint64_t flags = words[4], back;
	uint32_t all;

	/* One that is not used is zeroes, but for its place in a list of such. */
	*odd = !words[2] && (words[3] || words[4]);
	if (!words[2])
		return false;
	group->meta = meta;
	group->memory = words[2];
	group->unused = (uint32_t)words[3] | (uint32_t)(words[3] >> 32);
	group->slots = (flags & 31) + 1;
	group->size_class = flags >> 6 & 63;
	group->mapped = flags >> 12 << 12;
	*odd = true;
	if (group->memory & (MUSL_UNIT - 1) || group->memory >> 48 || group->mapped >> 48)
		return false;
	if (group->size_class >= CLASSES && (group->size_class != ALONE || !group->mapped))
		return false;
	if (group->slots == 1 && group->mapped)
		group->stride = group->mapped - MUSL_UNIT;
	else if (group->size_class < CLASSES)
		group->stride = MUSL_UNIT * musl_units[group->size_class];
	else
		return false;
	group->size = MUSL_UNIT + group->slots * group->stride;
	all = group->slots == 32 ? UINT32_MAX : (1u << group->slots) - 1;
	if (group->unused & ~all || (group->mapped && group->size > group->mapped))
		return false;
	/* Free slots are either available or freed. */
	if ((uint32_t)words[3] & (uint32_t)(words[3] >> 32))
		return false;
	if (!image_read(image, group->memory, &back, 8) || back != meta)
		return false;
	*odd = !image_find(image, group->memory + group->size - 1);
	return !*odd;
}

static bool musl_group_look(struct image *image, uint64_t meta, struct musl_group *ret_group,
			    bool *odd)
{
	uint64_t words[META / 8];

	*odd = true;
	return image_read(image, meta, words, sizeof(words)) &&
	       musl_group_decode(image, meta, words, ret_group, odd);
}

bool musl_group_read(struct image *image, uint64_t meta, struct musl_group *ret_group)
{
	bool odd;

	return musl_group_look(image, meta, ret_group, &odd);
}

/* False = enough. The metas are read once more, one by one: they change while the groups before them are looked at. */
static bool musl_visit_metas(struct image *image, uint64_t area, const uint64_t *words,
			     struct musl_visit *visit)
{
	struct musl_group group = { 0 };
	unsigned int i;
	bool odd;

	for (i = 0; i < MUSL_METAS; i++) {
		uint64_t meta = area + 24 + META * i;

		const uint64_t *listed = words + 3 + META / 8 * i;

		if (!listed[2] && !listed[3] && !listed[4])
			continue;
		if (!musl_group_look(image, meta, &group, &odd) &&
		    (!odd || !musl_group_look(image, meta, &group, &odd))) {
			visit->odd_groups += odd;
			continue;
		}
		visit->groups++;
		if (!visit->group(visit->context, &group))
			return false;
	}
	return visit->odd_groups < ODD_MOST + visit->groups;
}

/* Does the list of areas really end with this one? Another may have been added meanwhile, which is not odd. */
static bool musl_is_last(const struct heap_layout *layout, struct image *image, uint64_t area)
{
	return image_word(image, layout->head + 8) == area || image_word(image, area + 8);
}

void musl_visit(const struct heap_layout *layout, struct image *image, struct musl_visit *visit)
{
	uint64_t words[MUSL_AREA / 8], area = image_word(image, layout->head), last = 0;
	struct address_set seen = { 0 };
	bool is_new;

	for (; area && visit->areas < AREAS_MOST; area = words[1]) {
		is_new = address_set_add(&seen, area);
		if (!is_new || !musl_is_area(image, area, layout->secret) ||
		    !image_read(image, area, words, sizeof(words))) {
			visit->odd_areas++;
			visit->odd_area = is_new ? area : 0;
			break;
		}
		last = area;
		visit->areas++;
		if (visit->area)
			visit->area(visit->context, area);
		if (!musl_visit_metas(image, area, words, visit))
			break;
	}
	if (!area && last && !musl_is_last(layout, image, last))
		visit->odd_areas++;
	address_set_free(&seen);
}
