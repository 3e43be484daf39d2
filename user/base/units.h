/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes and times as people write and read them. Sizes are IEC: 1k = 1024 bytes. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for any text these functions write. */
#define UNITS_TEXT_MAX 32

/*
 * "64", "64k", "1m", "2g", "1t" (either case) to bytes. False, with `*ret_bytes` untouched, on anything
 * else: empty, negative, a fraction, trailing text, overflow.
 */
bool units_parse_size(const char *text, uint64_t *ret_bytes);

/*
 * "500ms", "10s", "5m", "2h", "1d", "250us", "100ns"; a bare number is seconds, and a fraction is allowed
 * ("1.5s"). False, with `*ret_ns` untouched, on anything else.
 */
bool units_parse_time(const char *text, uint64_t *ret_ns);

/*
 * "10m/min", "2g/h", "512k/30s": a size per time, whose unit alone is one of it; "min" is "m". False, with both untouched, on
 * anything else, and if either is 0.
 */
bool units_parse_rate(const char *text, uint64_t *ret_bytes, uint64_t *ret_ns);

/* A whole decimal number within [0, max]. False, with `*ret_number` untouched, on anything else. */
bool units_parse_number(const char *text, uint64_t max, uint64_t *ret_number);

/* 51200000 -> "48.8 MiB", 512 -> "512 B". Returns `text`. */
const char *units_format_size(uint64_t bytes, char text[UNITS_TEXT_MAX]);

/* 51200000 -> "51,200,000". Returns `text`. */
const char *units_format_count(uint64_t count, char text[UNITS_TEXT_MAX]);

/* The end of a counted noun: "" for 1, else "s". */
const char *units_s(uint64_t count);

/* 1500000000 -> "1.5 s", 90 s -> "1m30s", 400000 -> "0.4 ms". Returns `text`. */
const char *units_format_time(uint64_t ns, char text[UNITS_TEXT_MAX]);

#endif
