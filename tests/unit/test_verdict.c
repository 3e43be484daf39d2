/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts of programs of known truth: each leak is named in time, and nothing else is ever called one. Prints what was found of each,
 * precision and recall.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "unit/verdict_sim.h"
#include "verdict/verdict_clause.h"

#define TIME_S 60
#define STEP_S 0.25
/* No verdict is given before there are 16 moments. */
#define SOONEST_S 5

/* How the blocks of a program live that are freed. */
enum lives {
	LIVES_FIXED,
	LIVES_EVEN, /* from nothing to twice the mean */
	LIVES_EXPONENTIAL,
	LIVES_LOGNORMAL, /* with sigma 0.5 */
};

struct truth {
	const char *name;
	void (*make)(struct sim *sim, const struct truth *program);
	enum verdict_word word; /* at the end; VERDICT_NONE = any but a leak */
	double from_s; /* a leak begins; anything else must not be called a leak from then on */
	double mean_s; /* of the lifespans of what is freed */
	double rate; /* blocks per second */
	double share; /* that is never freed */
	enum lives lives;
	double number; /* entries of a cache, seconds between two cleanings ... */
	double time_s; /* 0 = TIME_S */
	double means; /* after so many means a leak must be named; 0 = 10 */
};

static double program_time(const struct truth *program)
{
	return program->time_s > 0 ? program->time_s : TIME_S;
}

static double life_of(struct sim *sim, const struct truth *program)
{
	switch (program->lives) {
	case LIVES_FIXED:
		return program->mean_s;
	case LIVES_EVEN:
		return 2 * program->mean_s * random_share(&sim->random);
	case LIVES_EXPONENTIAL:
		return random_exponential(&sim->random, program->mean_s);
	case LIVES_LOGNORMAL:
		return program->mean_s * exp(0.5 * random_normal(&sim->random) - 0.125);
	}
	return 0;
}

static uint64_t size_of(struct sim *sim)
{
	return 16 + random_word(&sim->random) % 240;
}

/* Blocks at random times; from `from_s` on a share is never freed. */
static void make_leak(struct sim *sim, const struct truth *program)
{
	double time = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) <
	       program_time(program)) {
		bool stays = time >= program->from_s && program->word == VERDICT_LEAK &&
			     random_share(&sim->random) < program->share;

		sim_add(sim, time, stays || program->share >= 1 ? SIM_NEVER : life_of(sim, program),
			size_of(sim));
	}
}

/* Leaks come in bursts, `number` seconds from each other. */
static void make_bursts(struct sim *sim, const struct truth *program)
{
	double time, burst = 0;
	int i;

	while ((burst += random_exponential(&sim->random, program->number)) < TIME_S)
		for (i = 0; i < (int)(program->rate * program->share * program->number); i++)
			sim_add(sim, burst + i * 1e-4, SIM_NEVER, 64);
	for (time = 0; time < TIME_S; time += random_exponential(&sim->random, 1 / program->rate))
		sim_add(sim, time, life_of(sim, program), 64);
}

/* Load goes down and up, from twice the rate to nothing, in `number` seconds. */
static void make_load(struct sim *sim, const struct truth *program)
{
	double time = 0;

	while ((time += random_exponential(&sim->random, 0.5 / program->rate)) < TIME_S)
		if (random_share(&sim->random) <
		    0.5 + 0.5 * cos(6.283185307179586 * time / program->number))
			sim_add(sim, time,
				random_share(&sim->random) < program->share ? SIM_NEVER
									    : life_of(sim, program),
				size_of(sim));
}

/* A cache of `number` entries, each new key evicts the one that was used least recently: here the oldest. */
static void make_fifo(struct sim *sim, const struct truth *program)
{
	size_t evicted = 0, i;
	double time = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		i = sim_add(sim, time, SIM_NEVER, size_of(sim));
		if (i >= (size_t)program->number)
			sim->blocks[evicted++].death = time;
	}
}

/* As before, but now and then nothing happens, or hardly anything, for up to `mean_s`. */
static void make_pauses(struct sim *sim, const struct truth *program)
{
	size_t evicted = 0, i;
	double time = 0, until = 0, rest = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		if (time > until) {
			rest = random_share(&sim->random) * program->mean_s;
			time += random_share(&sim->random) < 0.5 ? rest : 0;
			until = time + random_exponential(&sim->random, 2 * program->mean_s);
		}
		/* In half of the rests, one of a hundred calls comes. */
		if (time + rest > until && random_share(&sim->random) < 0.99)
			continue;
		i = sim_add(sim, time, SIM_NEVER, size_of(sim));
		if (i >= (size_t)program->number)
			sim->blocks[evicted++].death = time;
	}
}

/* As before, without rests; a share of the blocks is made at the same place, and freed at once. */
static void make_mixed(struct sim *sim, const struct truth *program)
{
	size_t *entries = memory_alloc((size_t)program->number, sizeof(*entries)), used = 0;
	double time = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		if (random_share(&sim->random) >= program->share) {
			sim_add(sim, time, program->mean_s, size_of(sim));
			continue;
		}
		if (used == (size_t)program->number)
			sim->full_s = time;
		if (used >= (size_t)program->number)
			sim->blocks[entries[used % (size_t)program->number]].death = time;
		entries[used++ % (size_t)program->number] =
			sim_add(sim, time, SIM_NEVER, size_of(sim));
	}
	free(entries);
}

#define KEYS 20000

/* A key: small ones are wanted far more often, as by Zipf's law. */
static size_t key_of(struct sim *sim)
{
	return (size_t)exp(random_share(&sim->random) * log(KEYS)) - 1;
}

/* An LRU cache of keys by Zipf's law: what is wanted often stays for ever. With `share`, a hit replaces its entry that often. */
static void make_lru(struct sim *sim, const struct truth *program)
{
	static double used[KEYS];
	static size_t block[KEYS];
	size_t entries = 0, key, i, oldest;
	double time = 0;

	for (i = 0; i < KEYS; i++)
		used[i] = -1;
	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		key = key_of(sim);
		if (used[key] >= 0 && random_share(&sim->random) >= program->share) {
			used[key] = time;
			continue;
		}
		if (used[key] >= 0) {
			sim->blocks[block[key]].death = time;
		} else if (entries++ >= (size_t)program->number) {
			for (oldest = KEYS, i = 0; i < KEYS; i++)
				if (used[i] >= 0 && (oldest == KEYS || used[i] < used[oldest]))
					oldest = i;
			sim->blocks[block[oldest]].death = time;
			used[oldest] = -1;
			entries--;
		}
		used[key] = time;
		block[key] = sim_add(sim, time, SIM_NEVER, size_of(sim));
	}
}

/* A cache of `number` entries, a new one takes the place of any. */
static void make_random(struct sim *sim, const struct truth *program)
{
	size_t *entries = memory_alloc((size_t)program->number, sizeof(*entries)), used = 0, at;
	double time = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		at = used < (size_t)program->number ? used++ : random_word(&sim->random) % used;
		if (used == (size_t)program->number && entries[at])
			sim->blocks[entries[at]].death = time;
		entries[at] = sim_add(sim, time, SIM_NEVER, size_of(sim));
	}
	free(entries);
}

/* A hash table of `number` possible keys: those that are new stay. With `share`, a block for a known one is freed at once. */
static void make_keys(struct sim *sim, const struct truth *program)
{
	double time = 0, known = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S)
		if (random_share(&sim->random) * program->number > known) {
			sim_add(sim, time, SIM_NEVER, size_of(sim));
			known++;
		} else if (program->share > 0) {
			sim_add(sim, time, 0.001, size_of(sim));
		}
}

/* Its array: each is twice as large as the last one, which is freed then. */
static void make_table(struct sim *sim, const struct truth *program)
{
	double time, last = 0, size = 64;

	for (time = 0; time < TIME_S; time = size / program->rate) {
		sim_add(sim, last, time - last > 0 ? time - last : 0.001, (uint64_t)size * 16);
		last = time;
		size *= 2;
	}
	sim_add(sim, last, SIM_NEVER, (uint64_t)size * 16);
}

/* Entries live for `mean_s`, as nearly all do, or a share of them for less. They are cleaned once a second. */
static void make_ttl(struct sim *sim, const struct truth *program)
{
	double time = 0, death;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		death = floor(time + program->mean_s) + 1;
		if (random_share(&sim->random) < program->share)
			death = time + random_exponential(&sim->random, 0.1);
		sim_add(sim, time, death - time, size_of(sim));
	}
}

/* Blocks of a pool that are given back and used again: their number grows with the most that were in use at once. */
static void make_pool(struct sim *sim, const struct truth *program)
{
	double time = 0, used, most = 0;

	for (; time < TIME_S; time += 0.01) {
		used = random_count(&sim->random, program->number);
		for (; most < used; most++)
			sim_add(sim, time, SIM_NEVER, 4096);
	}
}

/* Blocks in the first `number` seconds; then hardly any. */
static void make_start(struct sim *sim, const struct truth *program)
{
	double time = 0;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S)
		if (time < program->number)
			sim_add(sim, time,
				random_share(&sim->random) < program->share ? life_of(sim, program)
									    : SIM_NEVER,
				size_of(sim));
}

/* All are freed together, every `number` seconds; a share of them at once. */
static void make_saw(struct sim *sim, const struct truth *program)
{
	double time = 0, death;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		death = (floor(time / program->number) + 1) * program->number;
		if (random_share(&sim->random) < program->share)
			death = time + program->mean_s;
		sim_add(sim, time, death - time, size_of(sim));
	}
}

/* Garbage, some of it freed by minor collections, the rest by major ones. */
static void make_garbage(struct sim *sim, const struct truth *program)
{
	sim->collected_s = program->number;
	make_saw(sim, program);
}

/* Requests with `number` blocks each, which are freed together. */
static void make_arenas(struct sim *sim, const struct truth *program)
{
	double time = 0, life;
	int i;

	while ((time += random_exponential(&sim->random, program->number / program->rate)) < TIME_S)
		for (life = life_of(sim, program), i = 0; i < (int)program->number; i++)
			sim_add(sim, time + i * life / program->number / 2,
				life - i * life / program->number / 2, size_of(sim));
}

static void make_temporary(struct sim *sim, const struct truth *program)
{
	double time = 0;
	size_t i;

	while ((time += random_exponential(&sim->random, 1 / program->rate)) < TIME_S) {
		i = sim_add(sim, time, random_exponential(&sim->random, program->mean_s),
			    size_of(sim));
		sim->blocks[i].temporary = random_share(&sim->random) < 0.9;
	}
}

/* Buffers that were made at the start and are all there is. */
static void make_few(struct sim *sim, const struct truth *program)
{
	int i;

	for (i = 0; i < (int)program->number; i++)
		sim_add(sim, 0.01 * i, SIM_NEVER, 1 << 20);
}

static const struct truth programs[] = {
	/* Of nothing that is freed, nobody can know: it may be a cache that is not full. */
	{ "leak of 100 %", make_leak, VERDICT_GROWING, 0, 0, 100, 1 },
	{ "leak of 90 %", make_leak, VERDICT_LEAK, 0, 0.5, 100, 0.9 },
	{ "leak of 50 %", make_leak, VERDICT_LEAK, 0, 0.5, 100, 0.5 },
	{ "leak of 10 %", make_leak, VERDICT_LEAK, 0, 1, 200, 0.1, LIVES_EVEN },
	{ "leak of 5 %, lognormal", make_leak, VERDICT_LEAK, 0, 1, 1000, 0.05, LIVES_LOGNORMAL },
	/* One of 22,000 lives for ten means, so that the curve is flat only beyond. */
	{ "leak of 20 %, exponential", make_leak, VERDICT_LEAK, 0, 1, 500, 0.2, LIVES_EXPONENTIAL,
	  .means = 20 },
	{ "leak of 1 %", make_leak, VERDICT_LEAK, 0, 1, 2000, 0.01, LIVES_EVEN },
	{ "leak of 1 % of sessions", make_leak, VERDICT_LEAK, 0, 3, 500, 0.01, LIVES_EVEN },
	{ "leak of 0.1 %", make_leak, VERDICT_LEAK, 0, 1, 10000, 0.001, .time_s = 20 },
	{ "late leak of 5 %", make_leak, VERDICT_LEAK, 30, 0.5, 500, 0.05, LIVES_EVEN },
	{ "bursty leak of 5 %", make_bursts, VERDICT_LEAK, 0, 2, 200, 0.05, LIVES_FIXED, 2 },
	{ "leak of 5 % of a load", make_load, VERDICT_LEAK, 0, 1, 500, 0.05, LIVES_EVEN, 10 },
	{ "leak of 3 % of a slow load", make_load, VERDICT_LEAK, 0, 1, 2000, 0.03, LIVES_LOGNORMAL,
	  25 },

	{ "LRU cache, filling", make_fifo, VERDICT_GROWING, .rate = 100, .number = 1e6 },
	{ "LRU cache, full", make_fifo, VERDICT_CACHE, .rate = 100, .number = 1000 },
	{ "LRU cache, full late", make_fifo, VERDICT_CACHE, .rate = 100, .number = 2500 },
	{ "LRU cache, pauses", make_pauses, VERDICT_CACHE, 0, 5, 500, .number = 400 },
	{ "LRU cache, long pauses", make_pauses, VERDICT_NONE, 0, 20, 500, .number = 200 },
	{ "LRU cache by Zipf, full", make_lru, VERDICT_CACHE, .rate = 300, .number = 1000 },
	{ "LRU cache by Zipf, filling", make_lru, VERDICT_GROWING, .rate = 300, .number = 1e6 },
	{ "LRU cache, hits replace", make_lru, VERDICT_CACHE, .rate = 300, .number = 1000,
	  .share = 1 },
	/* While it fills, a leak of a half has the same course. */
	{ "LRU cache, misses freed", make_mixed, VERDICT_CACHE, 0, 0.001, 200, 0.5,
	  .number = 1000 },
	{ "random replacement", make_random, VERDICT_CACHE, .rate = 200, .number = 800 },
	{ "TTL cache", make_ttl, VERDICT_CACHE, 0, 10, 100 },
	/* As above. */
	{ "TTL cache, some dropped", make_ttl, VERDICT_STEADY, 12, 10, 100, 0.5 },
	{ "pool", make_pool, VERDICT_WARM_UP, .number = 200 },
	{ "warm-up", make_start, VERDICT_WARM_UP, .rate = 200, .number = 8 },
	/* Until it ends, a leak has the same course. */
	{ "warm-up with others", make_start, VERDICT_WARM_UP, 16, 0.1, 200, 0.5, .number = 8 },
	{ "saw-tooth", make_saw, VERDICT_STEADY, .rate = 100, .number = 7 },
	{ "garbage", make_garbage, VERDICT_STEADY, 0, 0.05, 200, 0.8, .number = 9 },
	{ "sessions", make_leak, VERDICT_STEADY, 0, 5, 50, 0, LIVES_EXPONENTIAL },
	{ "sessions under load", make_load, VERDICT_STEADY, 0, 3, 100, 0, LIVES_LOGNORMAL, 10 },
	{ "arenas", make_arenas, VERDICT_STEADY, 0, 2, 500, 0, LIVES_EVEN, 50 },
	{ "hash table: nodes", make_keys, VERDICT_FILLING, .rate = 100, .number = 1500 },
	/* At first, hardly any key is known: ever fewer blocks stay only later. */
	{ "hash table: looked up", make_keys, VERDICT_FILLING, 30, 0, 100, 1, .number = 1000 },
	{ "hash table: arrays", make_table, VERDICT_UNKNOWN, .rate = 1000 },
	{ "temporary blocks", make_temporary, VERDICT_TEMPORARY, 0, 0.0001, 1000 },
	{ "buffers", make_few, VERDICT_WARM_UP, .number = 12 },
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* What was found of a program. */
struct found {
	enum verdict_word word; /* at the end */
	double named_s; /* when it is called a leak first; INFINITY = it is not */
	double wrong_s; /* when it was called one last, that must not be; 0 = never */
	int reports, kept; /* from then on, and how many of these call it one, too */
};

static void find_step(const struct truth *program, const struct sim *sim, double time,
		      struct found *found)
{
	const bool leak = program->word == VERDICT_LEAK;

	found->word = sim_judge(sim, time).word;
	/* Where a cache may be taken for a leak until it is full, it is known two moments later. */
	if (found->word == VERDICT_LEAK &&
	    (leak ? time < program->from_s
		  : time >= program->from_s && time >= sim->full_s + 2 * STEP_S))
		found->wrong_s = time;
	if (found->word == VERDICT_LEAK && isinf(found->named_s))
		found->named_s = time;
	found->reports += isfinite(found->named_s);
	found->kept += found->word == VERDICT_LEAK;
}

static struct found find(const struct truth *program, uint64_t seed)
{
	struct sim sim = { .random = { seed } };
	struct found found = { .named_s = INFINITY };
	double time;

	program->make(&sim, program);
	sim_begin(&sim);
	for (time = STEP_S; time <= program_time(program); time += STEP_S) {
		sim_run(&sim, time);
		find_step(program, &sim, time, &found);
		sim_keep(&sim, time);
	}
	sim_end(&sim);
	return found;
}

/* Of all programs. */
struct sums {
	int leaks, named, in_time, wrong, words;
};

static void check_program(const struct truth *program, uint64_t seed, struct sums *sums)
{
	const struct found found = find(program, seed);
	const bool leak = program->word == VERDICT_LEAK;
	const bool right = found.word == program->word || program->word == VERDICT_NONE;
	double means = program->means > 0 ? program->means : 10;
	double limit = fmax(means * program->mean_s, SOONEST_S),
	       after = found.named_s - program->from_s;

	printf("%-28s %-10s", program->name, verdict_name(found.word));
	if (leak)
		printf(" named after %5.2f s of %5.2f, then in %3.0f %% of reports", after, limit,
		       100.0 * found.kept / (found.reports ? found.reports : 1));
	if (found.wrong_s > 0)
		printf(" WRONG at %.2f s", found.wrong_s);
	if (!right)
		printf(" (not %s)", verdict_name(program->word));
	printf("\n");
	sums->leaks += leak;
	sums->named += leak && found.word == VERDICT_LEAK;
	sums->in_time += leak && after <= limit;
	sums->wrong += found.wrong_s > 0;
	sums->words += right;
}

static struct sums check_programs(uint64_t seed)
{
	struct sums sums = { 0 };
	size_t i;

	for (i = 0; i < PROGRAMS; i++)
		check_program(&programs[i], seed + i, &sums);
	printf("precision %d of %d, recall %d of %d, in time %d; words %d of %zu\n", sums.named,
	       sums.named + sums.wrong, sums.named, sums.leaks, sums.in_time, sums.words, PROGRAMS);
	assert_int_equal(sums.wrong, 0);
	assert_int_equal(sums.named, sums.leaks);
	assert_int_equal(sums.in_time, sums.leaks);
	return sums;
}

static void test_programs(void **state)
{
	(void)state;
	assert_int_equal(check_programs(1).words, PROGRAMS);
}

/* With other random numbers. Words that are neither here nor there may differ then. */
static void test_chance(void **state)
{
	(void)state;
	check_programs(100);
	check_programs(500);
}

/* One of 1,000 blocks is kept, and the others live for 0.6 s: of those, more are in use at the age of the last that are freed than are kept. */
static void test_share(void **state)
{
	struct sim sim = { 0 };
	struct verdict verdict;
	double time;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++)
		sim_add(&sim, i / 5000.0, i % 1000 == 7 ? SIM_NEVER : 0.6, 64);
	sim_begin(&sim);
	for (time = STEP_S; time < 20; time += STEP_S) {
		sim_run(&sim, time);
		sim_keep(&sim, time);
	}
	verdict = sim_judge(&sim, time - STEP_S / 2);
	sim_end(&sim);
	assert_int_equal(verdict.word, VERDICT_LEAK);
	assert_true(verdict.never_freed.low < 0.001 && verdict.never_freed.high > 0.001);
	assert_true(verdict.never_freed.value > 0.0009 && verdict.never_freed.value < 0.0011);
}

/* The others live for 50 us, and nothing is born in the 2 ms since the last moment: that is no pause. */
static void test_soon_freed(void **state)
{
	struct sim sim = { 0 };
	struct verdict verdict;
	double time;
	int i;

	(void)state;
	for (i = 0; i < 8000; i++)
		sim_add(&sim, 0.003 + i / 4 * 0.005, i % 4 == 3 ? SIM_NEVER : 0.00005, 64);
	sim_begin(&sim);
	for (time = STEP_S; time <= 8; time += STEP_S) {
		sim_run(&sim, time);
		sim_keep(&sim, time);
	}
	verdict = sim_judge(&sim, 8.002);
	sim_end(&sim);
	assert_int_equal(verdict.word, VERDICT_LEAK);
	assert_true(verdict.never_freed.low < 0.25 && verdict.never_freed.high > 0.25);
}

/* One of 20 blocks is kept in a program with a garbage collector: what stays may wait for it until the oldest block has outlived two collections. */
static void test_collections(void **state)
{
	struct sim sim = { 0 };
	struct verdict verdict;
	struct buffer text = { 0 };
	double time;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++)
		sim_add(&sim, i / 5000.0, i % 20 == 7 ? SIM_NEVER : 0.6, 64);
	sim_begin(&sim);
	for (time = STEP_S; time < 20; time += STEP_S) {
		sim_run(&sim, time);
		sim_keep(&sim, time);
	}
	sim.stats.gcs_known = true;
	sim.stats.gcs = 1;
	verdict = sim_judge(&sim, time - STEP_S / 2);
	assert_true(verdict.word == VERDICT_GROWING || verdict.word == VERDICT_FILLING);
	assert_true(verdict.may_be_garbage);
	verdict_clause_append(&verdict, &text);
	assert_non_null(strstr(text.data, "may be garbage: needs 2 major collections, seen 1"));
	buffer_free(&text);
	sim.stats.gcs = 2;
	verdict = sim_judge(&sim, time - STEP_S / 2);
	assert_int_equal(verdict.word, VERDICT_LEAK);
	assert_false(verdict.may_be_garbage);
	sim_end(&sim);
}

static void test_history(void **state)
{
	const struct snapshot_site row = { .key = 7 }, other = { .key = 8 };
	struct history_point points[HISTORY_POINTS] = { 0 }, nothing[HISTORY_POINTS] = { 0 };
	struct history history = { 0 };
	uint64_t step;

	(void)state;
	for (step = 1; step <= 10 * HISTORY_POINTS; step++)
		if (history_begin(&history, step * HISTORY_SPACING_NS)) {
			/* A site that is gone is dropped with its last moment. */
			if (step == 1)
				history_set(&history, 8,
					    &(struct site_stats){ .alloc_objects = 1 });
			history_set(&history, 7,
				    &(struct site_stats){ .alloc_objects = step,
							  .alloc_bytes = 3 * step });
		}
	assert_false(history_begin(&history, step * HISTORY_SPACING_NS - HISTORY_SPACING_NS));
	assert_true(history.count >= HISTORY_POINTS / 2 && history.count <= HISTORY_POINTS);
	assert_true(history.times[0] <= 16ull * HISTORY_SPACING_NS);
	history_add_row(&history, &row, points);
	for (step = 0; step < history.count; step++) {
		assert_int_equal(points[step].born, history.times[step] / HISTORY_SPACING_NS);
		assert_int_equal(points[step].bytes, 3 * points[step].objects);
	}
	history_add_row(&history, &other, nothing);
	assert_int_equal(nothing[history.count - 1].born, 0);
	assert_int_equal(history.sites.count, 1);
	assert_true(history_begin(&history, 1000ull * HISTORY_SPACING_NS));
	history_set(&history, 7, &(struct site_stats){ .alloc_objects = 5 });
	history_take_back(&history);
	history_add_row(&history, &row, nothing);
	assert_int_equal(nothing[history.count].born, 0);
	history_free(&history);
}

/* Sites beyond the limit have no history, and that is known. */
static void test_history_full(void **state)
{
	const struct snapshot_site rows[] = { { .key = 1 }, { .key = HISTORY_SITES_MAX + 1 } };
	const struct snapshot_site both = { .members = rows, .member_count = 2 };
	const struct site_stats stats = { .alloc_objects = 1 };
	struct history history = { 0 };
	uint64_t key;

	(void)state;
	history_begin(&history, 1);
	for (key = 1; key <= HISTORY_SITES_MAX; key++)
		history_set(&history, key, &stats);
	assert_true(history_is_known(&history, &rows[1])); /* it is new */
	history_set(&history, key, &stats);
	assert_true(history_is_known(&history, &rows[0]));
	assert_false(history_is_known(&history, &rows[1]));
	assert_false(history_is_known(&history, &both));
	history_slow_down(&history);
	assert_false(history_begin(&history, 1 + HISTORY_SPACING_NS));
	assert_true(history_begin(&history, 1 + 2ull * HISTORY_SPACING_NS));
	history_free(&history);
}

/* Ages of freed blocks are counted where classes begin. */
static void test_history_ages(void **state)
{
	struct site_stats stats = {
		.lives = { .classes = { [6] = 1, [7] = 2, [9] = 4, [21] = 8, [31] = 16 } }
	};
	struct history_point point = history_point_of(&stats);

	(void)state;
	assert_int_equal(point.freed[0], 30);
	assert_int_equal(point.freed[1], 28);
	assert_int_equal(point.freed[2], 24);
	assert_int_equal(point.freed[HISTORY_AGES - 1], 24);
	assert_int_equal(history_age(3), 0);
	assert_int_equal(history_age(7), 0);
	assert_int_equal(history_age(8), 1);
	assert_int_equal(history_age(9), 1);
	assert_int_equal(history_age(31), HISTORY_AGES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history),	     cmocka_unit_test(test_collections),
		cmocka_unit_test(test_history_ages), cmocka_unit_test(test_history_full),
		cmocka_unit_test(test_programs),     cmocka_unit_test(test_chance),
		cmocka_unit_test(test_share),	     cmocka_unit_test(test_soon_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
