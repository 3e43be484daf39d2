/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of sites against an attacker who knows how they are made, and both processes, but not the seed. With a known seed
 * each attack works: the tests can fail.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind_world.h"

#include "site_key.bpf.h"

#define VICTIM 1
#define ATTACKER 2
#define EXEC_ID 7
#define FUNCTION 3
#define ROUNDS 100000
#define MULTIPLIER 0x9e3779b97f4a7c15ULL

static const uint64_t frames[] = { 0x55d0c0de1234, 0x7f1122334455, 0x55d0c0de8888 };

static uint64_t random_word(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

static uint64_t key_of(uint64_t seed, uint32_t target_id, const uint64_t *pcs, size_t count)
{
	uint64_t hash = site_key_begin(seed, target_id, EXEC_ID);
	size_t i;

	for (i = 0; i < count; i++)
		hash = mix(hash, pcs[i]);
	return site_key_end(hash, 0, FUNCTION);
}

/* The last frame that makes a stack's hash that of the victim's stack, if the keys begin with `seed`. */
static uint64_t forge(uint64_t seed, const uint64_t *pcs, size_t count)
{
	uint64_t hash = site_key_begin(seed, VICTIM, EXEC_ID), own, inverse = MULTIPLIER;
	size_t i;

	for (i = 0; i < 3; i++)
		hash = mix(hash, frames[i]);
	own = site_key_begin(seed, ATTACKER, EXEC_ID);
	for (i = 0; i < count; i++)
		own = mix(own, pcs[i]);
	for (i = 0; i < 6; i++)
		inverse *= 2 - MULTIPLIER * inverse;
	return own ^ (hash ^ hash >> 32) * inverse;
}

/* Any 64-bit word may be the last frame of a walk. */
static void test_forged_frame(void **state)
{
	uint64_t pcs[] = { 0x55d0c0de4321, 0 }, seed, random = 1;
	int i;

	(void)state;
	pcs[1] = forge(0, pcs, 1);
	assert_true(key_of(0, ATTACKER, pcs, 2) == key_of(0, VICTIM, frames, 3));
	for (i = 0; i < ROUNDS; i++) {
		seed = random_word(&random);
		assert_true(key_of(seed, ATTACKER, pcs, 2) != key_of(seed, VICTIM, frames, 3));
	}
}

/* Upper bits of two frames that cancel out whatever the hash was before: only within a process. */
static void test_cancelled_bits(void **state)
{
	uint64_t pcs[] = { frames[0], frames[1] ^ 1ULL << 63, frames[2] ^ 1ULL << 63 ^ 1ULL << 31 };
	uint64_t seed, random = 2;
	int i;

	(void)state;
	for (i = 0; i < ROUNDS; i++) {
		seed = random_word(&random);
		assert_true(key_of(seed, VICTIM, pcs, 3) == key_of(seed, VICTIM, frames, 3));
		assert_true(key_of(seed, ATTACKER, pcs, 3) != key_of(seed, VICTIM, frames, 3));
	}
}

/* One bit of the number of the process, or of its program, changes half of the bits that its keys begin with. */
static void test_beginnings(void **state)
{
	uint64_t random = 3, changed = 0, seed;
	int i, bit;

	(void)state;
	for (i = 0; i < 1000; i++) {
		seed = random_word(&random);
		for (bit = 0; bit < 16; bit++) {
			changed += (uint64_t)__builtin_popcountll(
				site_key_begin(seed, VICTIM, EXEC_ID) ^
				site_key_begin(seed, VICTIM ^ 1u << bit, EXEC_ID));
			changed += (uint64_t)__builtin_popcountll(
				site_key_begin(seed, VICTIM, EXEC_ID) ^
				site_key_begin(seed, VICTIM, EXEC_ID ^ 1u << bit));
		}
	}
	changed /= 1000 * 16 * 2;
	assert_in_range(changed, 30, 34);
}

static void test_holds(void **state)
{
	const struct site site = { .target_id = VICTIM, .exec_id = EXEC_ID, .function = FUNCTION };

	(void)state;
	assert_true(site_key_holds(&site, VICTIM, EXEC_ID, FUNCTION));
	assert_false(site_key_holds(&site, ATTACKER, EXEC_ID, FUNCTION));
	assert_false(site_key_holds(&site, VICTIM, EXEC_ID + 1, FUNCTION));
	assert_false(site_key_holds(&site, VICTIM, EXEC_ID, FUNCTION + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forged_frame),
		cmocka_unit_test(test_cancelled_bits),
		cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
