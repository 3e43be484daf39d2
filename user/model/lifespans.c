/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lifespans.h. */
#include "model/lifespans.h"

#define UNIT_NS ((uint64_t)1 << LIFE_UNIT_BITS)
#define UNITS_MAX (UINT64_MAX >> LIFE_UNIT_BITS)

static void lifespans_sum(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static unsigned int lifespans_class_of_units(uint64_t units)
{
	unsigned int class = units ? 64 - (unsigned int)__builtin_clzll(units) : 0;

	return class < LIFE_CLASSES ? class : LIFE_CLASSES - 1;
}

unsigned int lifespans_class(uint64_t ns)
{
	return lifespans_class_of_units(ns >> LIFE_UNIT_BITS);
}

uint64_t lifespans_class_start(unsigned int class)
{
	return class ? UNIT_NS << (class - 1) : 0;
}

uint64_t lifespans_class_end(unsigned int class)
{
	return class < LIFE_CLASSES - 1 ? UNIT_NS << class : UINT64_MAX;
}

struct lifespans lifespans_of(const struct site *record)
{
	struct lifespans lives = { .untimed = record->untimed_objects,
				   .temporary = record->temporary_objects,
				   .units = record->life_units,
				   .longest = record->life_longest };
	uint64_t counted = lives.untimed;
	unsigned int i;

	for (i = 1; i < LIFE_CLASSES; i++) {
		lives.classes[i] = record->lives[i - 1];
		lifespans_sum(&counted, lives.classes[i]);
	}
	/* A free that happens while the record is read may be in a class and not yet among the freed. */
	if (record->free_objects > counted)
		lives.classes[0] = record->free_objects - counted;
	/* The longest of two blocks that end at the same time may be lost. Its class is not. */
	for (i = LIFE_CLASSES - 1; i && !lives.classes[i]; i--)
		;
	if (lives.longest < lifespans_class_start(i) >> LIFE_UNIT_BITS)
		lives.longest = lifespans_class_start(i) >> LIFE_UNIT_BITS;
	return lives;
}

void lifespans_count(struct lifespans *lives, uint64_t ns)
{
	uint64_t units = ns >> LIFE_UNIT_BITS;

	lifespans_sum(&lives->classes[lifespans_class_of_units(units)], 1);
	lifespans_sum(&lives->units, units);
	if (units > lives->longest)
		lives->longest = units;
}

void lifespans_add(struct lifespans *sum, const struct lifespans *more)
{
	unsigned int i;

	lifespans_sum(&sum->untimed, more->untimed);
	lifespans_sum(&sum->temporary, more->temporary);
	lifespans_sum(&sum->units, more->units);
	if (more->longest > sum->longest)
		sum->longest = more->longest;
	for (i = 0; i < LIFE_CLASSES; i++)
		lifespans_sum(&sum->classes[i], more->classes[i]);
}

uint64_t lifespans_objects(const struct lifespans *lives)
{
	uint64_t objects = 0;
	unsigned int i;

	for (i = 0; i < LIFE_CLASSES; i++)
		lifespans_sum(&objects, lives->classes[i]);
	return objects;
}

static uint64_t lifespans_ns(uint64_t units)
{
	return units <= UNITS_MAX ? units << LIFE_UNIT_BITS : UINT64_MAX;
}

uint64_t lifespans_mean_ns(const struct lifespans *lives)
{
	unsigned __int128 ns = (unsigned __int128)lives->units << LIFE_UNIT_BITS;
	uint64_t objects = lifespans_objects(lives);

	if (!objects)
		return 0;
	return ns / objects < UINT64_MAX ? (uint64_t)(ns / objects) : UINT64_MAX;
}

uint64_t lifespans_longest_ns(const struct lifespans *lives)
{
	return lifespans_ns(lives->longest);
}
