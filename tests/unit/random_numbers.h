/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers for simulations: the same in each run, on each machine (splitmix64). */
#ifndef TESTS_UNIT_RANDOM_NUMBERS_H
#define TESTS_UNIT_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

struct random_numbers {
	uint64_t state; /* begins with the seed */
};

static inline uint64_t random_word(struct random_numbers *random)
{
	uint64_t word = random->state += 0x9e3779b97f4a7c15ull;

	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
	word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
	return word ^ (word >> 31);
}

/* Within (0, 1). */
static inline double random_share(struct random_numbers *random)
{
	return ((double)(random_word(random) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double random_exponential(struct random_numbers *random, double mean)
{
	return -mean * log(random_share(random));
}

static inline double random_normal(struct random_numbers *random)
{
	return sqrt(-2 * log(random_share(random))) * cos(6.283185307179586 * random_share(random));
}

/* How many events of a Poisson process. Large means are normal. */
static inline double random_count(struct random_numbers *random, double mean)
{
	double sum = 0, count = -1;

	if (mean > 500)
		return fmax(0, floor(mean + sqrt(mean) * random_normal(random) + 0.5));
	do
		sum += random_exponential(random, 1);
	while (count++, sum < mean);
	return count;
}

#endif
