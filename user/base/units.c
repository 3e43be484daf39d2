/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes, times and counts: see units.h. Whole numbers all the way, so that what a user types is taken
 * exactly, independent of the locale.
 */
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_SECOND 1000000000ULL
#define FRACTION_DIGITS_MAX 9

/* Read decimal digits at `*text` and move it behind them. False without a digit and on overflow. */
static bool units_read_digits(const char **text, uint64_t *ret_number)
{
	const char *at = *text;
	uint64_t number = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return false;
	if (at == *text)
		return false;
	*text = at;
	*ret_number = number;
	return true;
}

/* How far a size suffix shifts: 'k' 10, 'm' 20, ...; -1 if it is none. */
static int units_size_shift(const char *suffix)
{
	static const char letters[] = "kmgt";
	const char *letter;

	if (!*suffix)
		return 0;
	letter = strchr(letters, *suffix | 0x20);
	if (!letter || suffix[1])
		return -1;
	return 10 * (int)(letter - letters + 1);
}

bool units_parse_size(const char *text, uint64_t *ret_bytes)
{
	uint64_t number;
	int shift;

	if (!units_read_digits(&text, &number))
		return false;
	shift = units_size_shift(text);
	if (shift < 0 || number > UINT64_MAX >> shift)
		return false;
	*ret_bytes = number << shift;
	return true;
}

/* Nanoseconds of a time suffix, 0 if it is none. */
static uint64_t units_time_scale(const char *suffix)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} scales[] = {
		{ "", NS_PER_SECOND },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", NS_PER_SECOND },
		{ "m", 60 * NS_PER_SECOND },
		{ "h", 3600 * NS_PER_SECOND },
		{ "d", 86400 * NS_PER_SECOND },
	};
	size_t i;

	for (i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (!strcmp(suffix, scales[i].suffix))
			return scales[i].ns;
	return 0;
}

/* An optional ".123" at `*text` as a number of billionths. False on "." alone and on too many digits. */
static bool units_read_billionths(const char **text, uint64_t *ret_billionths)
{
	const char *start;
	uint64_t number = 0;
	long digits;

	*ret_billionths = 0;
	if (**text != '.')
		return true;
	start = ++*text;
	if (!units_read_digits(text, &number))
		return false;
	digits = *text - start;
	if (digits > FRACTION_DIGITS_MAX)
		return false;
	for (; digits < FRACTION_DIGITS_MAX; digits++)
		number *= 10;
	*ret_billionths = number;
	return true;
}

bool units_parse_time(const char *text, uint64_t *ret_ns)
{
	uint64_t whole, billionths, scale;
	unsigned __int128 ns;

	if (!units_read_digits(&text, &whole) || !units_read_billionths(&text, &billionths))
		return false;
	scale = units_time_scale(text);
	if (!scale)
		return false;
	ns = (unsigned __int128)whole * scale +
	     (unsigned __int128)billionths * scale / NS_PER_SECOND;
	if (ns > UINT64_MAX)
		return false;
	*ret_ns = (uint64_t)ns;
	return true;
}

/* "30s", "min", "h". */
static bool units_parse_span(const char *text, uint64_t *ret_ns)
{
	if (*text >= '0' && *text <= '9')
		return units_parse_time(text, ret_ns);
	*ret_ns = *text ? units_time_scale(strcmp(text, "min") ? text : "m") : 0;
	return *ret_ns;
}

bool units_parse_rate(const char *text, uint64_t *ret_bytes, uint64_t *ret_ns)
{
	const char *slash = strchr(text, '/');
	char size[UNITS_TEXT_MAX];
	uint64_t bytes, ns;

	if (!slash || (size_t)(slash - text) >= sizeof(size))
		return false;
	snprintf(size, sizeof(size), "%.*s", (int)(slash - text), text);
	if (!units_parse_size(size, &bytes) || !bytes || !units_parse_span(slash + 1, &ns) || !ns)
		return false;
	*ret_bytes = bytes;
	*ret_ns = ns;
	return true;
}

bool units_parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	uint64_t number;

	if (!units_read_digits(&text, &number) || *text || number > max)
		return false;
	*ret_number = number;
	return true;
}

/* `value` in tenths of `unit`, rounded to the nearest. */
static uint64_t units_tenths(uint64_t value, uint64_t unit)
{
	return (uint64_t)(((unsigned __int128)value * 10 + unit / 2) / unit);
}

const char *units_format_size(uint64_t bytes, char text[UNITS_TEXT_MAX])
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint64_t tenths;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 " B", bytes);
		return text;
	}
	/* Rounded before it is judged: 1048575 bytes are 1.0 MiB, not 1024.0 KiB. */
	while ((tenths = units_tenths(bytes, 1024ULL << (10 * i))) >= 10240)
		i++;
	snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
		 names[i]);
	return text;
}

const char *units_format_count(uint64_t count, char text[UNITS_TEXT_MAX])
{
	char digits[UNITS_TEXT_MAX];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = text;
	int i;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

static void units_format_long_time(uint64_t seconds, char text[UNITS_TEXT_MAX])
{
	if (seconds < 3600)
		snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 "m%02us", seconds / 60,
			 (unsigned int)(seconds % 60));
	else if (seconds < 86400)
		snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 "h%02um", seconds / 3600,
			 (unsigned int)(seconds / 60 % 60));
	else
		snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 "d%02uh", seconds / 86400,
			 (unsigned int)(seconds / 3600 % 24));
}

const char *units_format_time(uint64_t ns, char text[UNITS_TEXT_MAX])
{
	static const struct {
		const char *name;
		uint64_t ns, below;
	} scales[] = {
		{ "us", 1000, 100000 },
		{ "ms", 1000000, 100000000 },
		{ "s", NS_PER_SECOND, 60 * NS_PER_SECOND },
	};
	uint64_t tenths = units_tenths(ns, NS_PER_SECOND);
	size_t i = 0;

	if (ns < 100) {
		snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 " %s", ns, ns ? "ns" : "s");
	} else if (tenths >= 600) {
		units_format_long_time(tenths / 10, text);
	} else {
		while (ns >= scales[i].below && i < 2)
			i++;
		tenths = units_tenths(ns, scales[i].ns);
		snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10,
			 tenths % 10, scales[i].name);
	}
	return text;
}

const char *units_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}
