/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes for tables. Not secret: whoever chooses the keys can cause collisions, unless the hash
 * begins with seed_new().
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Initial value where collisions are not an attack. */
#define HASH_BEGIN 0xcbf29ce484222325ull

/* FNV-1a: `hash` continued by `size` bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	return hash;
}

/* FNV-1a: `hash` continued by the bytes of `text`, without the NUL. */
static inline uint64_t hash_string(uint64_t hash, const char *text)
{
	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3ull;
	return hash;
}

/*
 * Hash of an untrusted word, with a secret seed_new(). The multiplier is secret, too: with a known
 * one, some words stay neighbours whatever is added to them.
 */
static inline uint64_t hash_secret(uint64_t seed, uint64_t word)
{
	word ^= seed;
	word ^= word >> 32;
	word *= 0x9e3779b97f4a7c15ull;
	word ^= word >> 32;
	word *= seed | 1;
	return word ^ word >> 32;
}

/* `hash` continued by one word: faster than its bytes one by one. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

#endif
