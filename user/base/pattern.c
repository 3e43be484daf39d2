/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See pattern.h. An expression becomes steps: take a byte, go to two places, be at a place. Where a step goes is relative to
 * itself, so that the steps of a part of the expression can be moved and repeated.
 */
#include "base/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Whoever writes more than this by hand wants another tool. */
#define STEPS_MAX 8192
#define REPEAT_MAX 255
#define DEPTH_MAX 100

enum step_kind {
	STEP_BYTE, /* take a byte of a set */
	STEP_SPLIT, /* go on at the next step, and at `to` */
	STEP_JUMP, /* go on at `to` */
	STEP_BEGIN, /* be at the beginning of the text */
	STEP_END,
	STEP_EDGE, /* be where a word begins or ends */
	STEP_INSIDE, /* be nowhere there */
	STEP_MATCH,
};

struct pattern_step {
	enum step_kind kind;
	int32_t to; /* relative to this step */
	uint32_t set;
};

struct pattern_bytes {
	uint64_t bits[4];
};

/* An expression that is being read. */
struct reading {
	struct pattern *pattern;
	const char *text, *at;
	unsigned int depth;
	const char *problem; /* the first; NULL = none */
	const char *problem_at;
};

static void reading_fail(struct reading *reading, const char *at, const char *problem)
{
	if (reading->problem)
		return;
	reading->problem = problem;
	reading->problem_at = at;
}

static bool reading_take(struct reading *reading, char byte)
{
	if (*reading->at != byte)
		return false;
	reading->at++;
	return true;
}

/* Sets of bytes */

static void bytes_add(struct pattern_bytes *set, unsigned int from, unsigned int to)
{
	for (; from <= to; from++)
		set->bits[from / 64] |= 1ull << from % 64;
}

static bool bytes_have(const struct pattern_bytes *set, unsigned char byte)
{
	return set->bits[byte / 64] >> byte % 64 & 1;
}

static void bytes_invert(struct pattern_bytes *set)
{
	size_t i;

	for (i = 0; i < 4; i++)
		set->bits[i] = ~set->bits[i];
}

static bool byte_is_word(unsigned char byte)
{
	return byte == '_' || (byte < 128 && isalnum(byte));
}

static int byte_is_any_word(int byte)
{
	return byte_is_word((unsigned char)byte);
}

static void bytes_add_class(struct pattern_bytes *set, int (*is_in)(int byte), bool inverted)
{
	unsigned int byte;

	/* Bytes of other characters than ASCII's are in no class. */
	for (byte = 0; byte < 256; byte++)
		if ((byte < 128 && is_in((int)byte)) != inverted)
			bytes_add(set, byte, byte);
}

/* \d and so on, of which the letter is given. False if there is none of this letter. */
static bool bytes_add_short(struct pattern_bytes *set, char letter)
{
	static int (*const classes[128])(
		int byte) = { ['d'] = isdigit, ['s'] = isspace, ['w'] = byte_is_any_word };
	unsigned char small = (unsigned char)tolower((unsigned char)letter);

	if (small >= 128 || !classes[small])
		return false;
	bytes_add_class(set, classes[small], letter != small);
	return true;
}

/* "[:alpha:]", behind whose first bracket reading->at is. False if it is none. */
static bool reading_take_class(struct reading *reading, struct pattern_bytes *set)
{
	static const struct {
		const char *name;
		int (*is_in)(int byte);
	} classes[] = {
		{ ":alpha:]", isalpha }, { ":digit:]", isdigit }, { ":alnum:]", isalnum },
		{ ":upper:]", isupper }, { ":lower:]", islower }, { ":space:]", isspace },
		{ ":blank:]", isblank }, { ":punct:]", ispunct }, { ":print:]", isprint },
		{ ":graph:]", isgraph }, { ":cntrl:]", iscntrl }, { ":xdigit:]", isxdigit }
	};
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t length = strlen(classes[i].name);

		if (strncmp(reading->at, classes[i].name, length) != 0)
			continue;
		bytes_add_class(set, classes[i].is_in, false);
		reading->at += length;
		return true;
	}
	return false;
}

/* One byte of "[...]", which a backslash may be before. */
static unsigned char reading_take_member(struct reading *reading)
{
	if (*reading->at == '\\' && reading->at[1])
		reading->at++;
	return (unsigned char)*reading->at++;
}

static void reading_take_range(struct reading *reading, struct pattern_bytes *set)
{
	const char *begin = reading->at;
	unsigned char from, to;

	if (begin[0] == '\\' && begin[1] && bytes_add_short(set, begin[1])) {
		reading->at += 2;
		return;
	}
	from = to = reading_take_member(reading);
	if (reading->at[0] == '-' && reading->at[1] && reading->at[1] != ']') {
		reading->at++;
		to = reading_take_member(reading);
	}
	if (from > to)
		reading_fail(reading, begin, "a range that ends before it begins");
	else
		bytes_add(set, from, to);
}

/* Behind "[". */
static void reading_take_set(struct reading *reading, struct pattern_bytes *set)
{
	const char *begin = reading->at - 1, *first;
	bool inverted = reading_take(reading, '^');

	/* A closing bracket in the first place is one of the set. */
	for (first = reading->at; *reading->at && !reading->problem;) {
		if (*reading->at == ']' && reading->at != first)
			break;
		if (reading->at[0] == '[' && reading->at[1] == ':') {
			reading->at++;
			if (!reading_take_class(reading, set))
				reading_fail(reading, reading->at - 1, "an unknown class");
			continue;
		}
		reading_take_range(reading, set);
	}
	if (!reading_take(reading, ']'))
		reading_fail(reading, begin, "a bracket without its end");
	if (inverted)
		bytes_invert(set);
}

/* Steps */

static size_t pattern_put(struct reading *reading, enum step_kind kind)
{
	struct pattern *pattern = reading->pattern;

	if (pattern->count >= STEPS_MAX) {
		reading_fail(reading, reading->text, "it is too large");
		return 0;
	}
	pattern->steps = memory_grow(pattern->steps, pattern->count, &pattern->capacity,
				     sizeof(*pattern->steps));
	pattern->steps[pattern->count] = (struct pattern_step){ .kind = kind };
	return pattern->count++;
}

static void pattern_put_set(struct reading *reading, const struct pattern_bytes *set)
{
	struct pattern *pattern = reading->pattern;
	size_t at = pattern_put(reading, STEP_BYTE);

	if (reading->problem)
		return;
	pattern->sets = memory_grow(pattern->sets, pattern->set_count, &pattern->set_capacity,
				    sizeof(*pattern->sets));
	pattern->sets[pattern->set_count] = *set;
	pattern->steps[at].set = (uint32_t)pattern->set_count++;
}

static void pattern_put_byte(struct reading *reading, unsigned char byte)
{
	struct pattern_bytes set = { 0 };

	bytes_add(&set, byte, byte);
	pattern_put_set(reading, &set);
}

/* A step before those from `begin` on. */
static void pattern_insert(struct reading *reading, size_t begin, enum step_kind kind, size_t to)
{
	struct pattern_step *steps;
	size_t last = pattern_put(reading, kind);

	if (reading->problem)
		return;
	steps = reading->pattern->steps;
	memmove(steps + begin + 1, steps + begin, (last - begin) * sizeof(*steps));
	steps[begin] = (struct pattern_step){ .kind = kind, .to = (int32_t)to };
}

/* The `length` steps from `begin` on once more, at the end. */
static void pattern_repeat(struct reading *reading, const struct pattern_step *steps, size_t length)
{
	size_t i, at;

	for (i = 0; i < length && !reading->problem; i++) {
		at = pattern_put(reading, steps[i].kind);
		if (!reading->problem)
			reading->pattern->steps[at] = steps[i];
	}
}

/* What stands from `begin` on may be left out. */
static void pattern_make_optional(struct reading *reading, size_t begin)
{
	pattern_insert(reading, begin, STEP_SPLIT, reading->pattern->count - begin + 1);
}

/* It may be taken again. */
static void pattern_make_repeated(struct reading *reading, size_t begin)
{
	size_t at = pattern_put(reading, STEP_SPLIT);

	if (!reading->problem)
		reading->pattern->steps[at].to = (int32_t)begin - (int32_t)at;
}

/* It is taken from `least` to `most` times; `most` 0 = without an end. */
static void pattern_make_counted(struct reading *reading, size_t begin, unsigned int least,
				 unsigned int most)
{
	size_t length = reading->pattern->count - begin, i, last = begin;
	struct pattern_step *steps;

	if (reading->problem)
		return;
	steps = memory_alloc(length, sizeof(*steps));
	if (length)
		memcpy(steps, reading->pattern->steps + begin, length * sizeof(*steps));
	reading->pattern->count = begin;
	for (i = 0; i < least && !reading->problem; i++) {
		last = reading->pattern->count;
		pattern_repeat(reading, steps, length);
	}
	if (!most && !least) {
		pattern_repeat(reading, steps, length);
		pattern_make_repeated(reading, begin);
		pattern_make_optional(reading, begin);
	} else if (!most) {
		pattern_make_repeated(reading, last);
	}
	for (i = least; i < most && !reading->problem; i++) {
		last = reading->pattern->count;
		pattern_repeat(reading, steps, length);
		pattern_make_optional(reading, last);
	}
	free(steps);
}

/* The expression */

static bool reading_take_number(struct reading *reading, unsigned int *ret_number)
{
	const char *begin = reading->at;
	unsigned int number = 0;

	for (; isdigit((unsigned char)*reading->at) && number <= REPEAT_MAX; reading->at++)
		number = number * 10 + (unsigned int)(*reading->at - '0');
	*ret_number = number;
	return reading->at > begin;
}

/* Behind "{". */
static void reading_take_count(struct reading *reading, size_t begin)
{
	const char *brace = reading->at - 1;
	unsigned int least, most;
	bool is_open = false;

	if (!reading_take_number(reading, &least)) {
		reading_fail(reading, brace, "a brace without a number");
		return;
	}
	most = least;
	if (reading_take(reading, ','))
		is_open = !reading_take_number(reading, &most);
	if (!reading_take(reading, '}') && least <= REPEAT_MAX && most <= REPEAT_MAX)
		reading_fail(reading, brace, "a brace without its end");
	else if (least > REPEAT_MAX || most > REPEAT_MAX)
		reading_fail(reading, brace, "more than 255 times");
	else if (!is_open && (most < least || !most))
		reading_fail(reading, brace, "a count that is never reached");
	else
		pattern_make_counted(reading, begin, least, is_open ? 0 : most);
}

static void reading_take_repeats(struct reading *reading, size_t begin)
{
	while (!reading->problem) {
		if (reading_take(reading, '*')) {
			pattern_make_counted(reading, begin, 0, 0);
		} else if (reading_take(reading, '+')) {
			pattern_make_counted(reading, begin, 1, 0);
		} else if (reading_take(reading, '?')) {
			pattern_make_optional(reading, begin);
		} else if (reading_take(reading, '{')) {
			reading_take_count(reading, begin);
		} else {
			return;
		}
	}
}

/* Behind a backslash. */
static void reading_take_escape(struct reading *reading)
{
	static const char controls[128] = { ['n'] = '\n', ['t'] = '\t', ['r'] = '\r' };
	const char letter = *reading->at;
	struct pattern_bytes set = { 0 };

	if (!letter) {
		reading_fail(reading, reading->at - 1, "a backslash before nothing");
		return;
	}
	reading->at++;
	if (bytes_add_short(&set, letter))
		pattern_put_set(reading, &set);
	else if (letter == 'b' || letter == 'B')
		pattern_put(reading, letter == 'b' ? STEP_EDGE : STEP_INSIDE);
	else if (letter > 0 && controls[(unsigned char)letter])
		pattern_put_byte(reading, (unsigned char)controls[(unsigned char)letter]);
	else if (letter >= '1' && letter <= '9')
		reading_fail(reading, reading->at - 2, "it refers back to a group");
	else if (letter > 0 && isalnum((unsigned char)letter))
		reading_fail(reading, reading->at - 2, "an unknown escape");
	else
		pattern_put_byte(reading, (unsigned char)letter);
}

static void reading_take_choices(struct reading *reading);

/* Behind "(". */
static void reading_take_group(struct reading *reading)
{
	const char *begin = reading->at - 1;

	if (!strncmp(reading->at, "?:", 2))
		reading->at += 2;
	if (++reading->depth > DEPTH_MAX)
		reading_fail(reading, begin, "too many groups within each other");
	else
		reading_take_choices(reading);
	reading->depth--;
	if (!reading_take(reading, ')'))
		reading_fail(reading, begin, "a parenthesis without its end");
}

static void reading_take_atom(struct reading *reading)
{
	struct pattern_bytes set = { 0 };
	char byte = *reading->at++;

	if (byte == '(') {
		reading_take_group(reading);
	} else if (byte == '[') {
		reading_take_set(reading, &set);
		pattern_put_set(reading, &set);
	} else if (byte == '.') {
		bytes_invert(&set);
		pattern_put_set(reading, &set);
	} else if (byte == '^' || byte == '$') {
		pattern_put(reading, byte == '^' ? STEP_BEGIN : STEP_END);
	} else if (byte == '\\') {
		reading_take_escape(reading);
	} else if (byte == '*' || byte == '+' || byte == '?' || byte == '{') {
		reading_fail(reading, reading->at - 1, "nothing that it could repeat");
	} else {
		pattern_put_byte(reading, (unsigned char)byte);
	}
}

/* "a|b|c", up to the end or to a closing parenthesis. */
static void reading_take_choices(struct reading *reading)
{
	struct pattern *pattern = reading->pattern;
	size_t choice = pattern->count, begin, at, previous, last_jump = 0;

	while (!reading->problem && *reading->at && *reading->at != ')') {
		begin = pattern->count;
		if (!reading_take(reading, '|')) {
			reading_take_atom(reading);
			reading_take_repeats(reading, begin);
			continue;
		}
		pattern_insert(reading, choice, STEP_SPLIT, begin - choice + 2);
		at = pattern_put(reading, STEP_JUMP);
		if (reading->problem)
			return;
		/* Until the end is known, jumps are a list. */
		pattern->steps[at].to = (int32_t)last_jump;
		last_jump = at;
		choice = pattern->count;
	}
	for (at = last_jump; at && !reading->problem; at = previous) {
		previous = (size_t)pattern->steps[at].to;
		pattern->steps[at].to = (int32_t)(pattern->count - at);
	}
}

static int pattern_refuse(const struct reading *reading, struct error *error)
{
	return error_set(error, ERROR_USAGE, -EINVAL,
			 "'%s' is not an extended regular expression: %s, at character %zu: '%s'",
			 reading->text, reading->problem,
			 (size_t)(reading->problem_at - reading->text) + 1, reading->problem_at);
}

int pattern_compile(const char *text, struct pattern *ret_pattern, struct error *error)
{
	struct pattern pattern = { 0 };
	struct reading reading = { .pattern = &pattern, .text = text, .at = text };

	if (!*text)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "an empty regular expression matches everything");
	reading_take_choices(&reading);
	if (*reading.at == ')')
		reading_fail(&reading, reading.at, "a parenthesis without its beginning");
	pattern_put(&reading, STEP_MATCH);
	if (reading.problem) {
		pattern_free(&pattern);
		return pattern_refuse(&reading, error);
	}
	pattern.now = memory_alloc(pattern.count, sizeof(*pattern.now));
	pattern.next = memory_alloc(pattern.count, sizeof(*pattern.next));
	pattern.pending = memory_alloc(2 * pattern.count + 1, sizeof(*pattern.pending));
	pattern.seen = memory_alloc(pattern.count, sizeof(*pattern.seen));
	pattern.valid = true;
	*ret_pattern = pattern;
	return 0;
}

/* Matching */

/* A place in a text. */
struct place {
	const unsigned char *text;
	size_t at; /* `seen` has it plus one */
};

static bool place_is_edge(const struct place *place)
{
	bool before = place->at && byte_is_word(place->text[place->at - 1]);

	return before != byte_is_word(place->text[place->at]);
}

static bool place_fits(const struct place *place, enum step_kind kind)
{
	switch (kind) {
	case STEP_BEGIN:
		return !place->at;
	case STEP_END:
		return !place->text[place->at];
	case STEP_EDGE:
		return place_is_edge(place);
	case STEP_INSIDE:
		return !place_is_edge(place);
	default:
		return true;
	}
}

/* Add all steps that wait for a byte and can be reached from `step` at this place. True if the match is there. */
static bool pattern_reach(const struct pattern *pattern, const struct place *place, uint32_t step,
			  uint32_t *waiting, size_t *count)
{
	size_t pending = 0;

	pattern->pending[pending++] = step;
	while (pending) {
		uint32_t at = pattern->pending[--pending];
		const struct pattern_step *here = &pattern->steps[at];

		if (pattern->seen[at] == place->at + 1)
			continue;
		pattern->seen[at] = place->at + 1;
		if (here->kind == STEP_MATCH)
			return true;
		if (here->kind == STEP_BYTE) {
			waiting[(*count)++] = at;
			continue;
		}
		if (!place_fits(place, here->kind))
			continue;
		if (here->kind != STEP_JUMP)
			pattern->pending[pending++] = at + 1;
		if (here->kind == STEP_SPLIT || here->kind == STEP_JUMP)
			pattern->pending[pending++] = (uint32_t)((int64_t)at + here->to);
	}
	return false;
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	struct place place = { .text = (const unsigned char *)text };
	uint32_t *now = pattern->now, *next = pattern->next, *swap;
	size_t count = 0, next_count, i;

	if (!pattern->valid)
		return false;
	memset(pattern->seen, 0, pattern->count * sizeof(*pattern->seen));
	for (;; place.at++) {
		/* A match may begin at each place. */
		if (pattern_reach(pattern, &place, 0, now, &count))
			return true;
		if (!place.text[place.at])
			return false;
		next_count = 0;
		for (i = 0; i < count; i++) {
			const struct pattern_step *step = &pattern->steps[now[i]];
			const struct place after = { place.text, place.at + 1 };

			if (bytes_have(&pattern->sets[step->set], place.text[place.at]) &&
			    pattern_reach(pattern, &after, now[i] + 1, next, &next_count))
				return true;
		}
		swap = now;
		now = next;
		next = swap;
		count = next_count;
	}
}

void pattern_free(struct pattern *pattern)
{
	free(pattern->steps);
	free(pattern->sets);
	free(pattern->now);
	free(pattern->next);
	free(pattern->pending);
	free(pattern->seen);
	*pattern = (struct pattern){ 0 };
}
