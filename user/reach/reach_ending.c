/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See reach_ending.h. Calls are recognized by the code before the addresses that they return to: _exit() is called by a function of the C
 * library, that by exit() or by what it calls, and exit() by what has called main(), with its result. That last call is in one place of the
 * library, and never returns, so its address is on a stack only if it was made there.
 */
#include "reach/reach_ending.h"

#include <string.h>

#define WORD sizeof(uint64_t)
#define CALL_BYTES 5 /* call rel32 */
#define CALL 0xe8
#define RESULT_BYTES 4 /* call *REGISTER; mov %eax,%edi: before that call */
#define LEVELS 3 /* of calls at most: of _exit(), of what calls it, of exit() */
#define FUNCTION_MAX 4096 /* bytes of one that calls */
#define FRAME_MAX 256
#define EXIT_FRAME_MAX 64 /* of exit() itself: there is no room for another frame in it */

struct ending {
	struct image *image;
	const struct module_ranges *modules;
	uint32_t library;
};

/* Code of the C library, as a program has it that is linked to it dynamically. */
static bool ending_is_library(const struct module_ranges *modules, uint64_t address,
			      uint32_t *ret_module)
{
	const struct module_range *range = module_ranges_at(modules, address);
	const char *name;

	if (!range || range->kind != MODULE_CODE)
		return false;
	name = strrchr(modules->modules[range->module].name, '/');
	*ret_module = range->module;
	return name && (!strncmp(name, "/libc.", 6) || !strncmp(name, "/libc-", 6) ||
			!strncmp(name, "/ld-musl", 8));
}

/* What is called by the instruction before `address`, both in the library; 0 = it is no such call. */
static uint64_t ending_called(const struct ending *ending, uint64_t address)
{
	unsigned char code[CALL_BYTES];
	uint32_t module;
	int32_t distance;

	if (!ending_is_library(ending->modules, address, &module) || module != ending->library ||
	    !image_read(ending->image, address - CALL_BYTES, code, sizeof(code)) || code[0] != CALL)
		return 0;
	memcpy(&distance, code + 1, sizeof(distance));
	address += (uint64_t)(int64_t)distance;
	return ending_is_library(ending->modules, address, &module) && module == ending->library
		       ? address
		       : 0;
}

/* Is the result of a function whose address was in a register handed on by that call? */
static bool ending_is_of_main(const struct ending *ending, uint64_t address)
{
	static const unsigned char move[] = { 0x89, 0xc7 };
	unsigned char code[RESULT_BYTES];

	return image_read(ending->image, address - CALL_BYTES - RESULT_BYTES, code, sizeof(code)) &&
	       code[0] == 0xff && code[1] >= 0xd0 && code[1] <= 0xd7 &&
	       !memcmp(code + 2, move, sizeof(move));
}

/* Where the address is that the function returns to which holds `inside`: behind `place`. 0 = nowhere near. */
static uint64_t ending_caller(const struct ending *ending, uint64_t inside, uint64_t place,
			      uint64_t *ret_return)
{
	uint64_t at, word, called;

	for (at = place + WORD; at <= place + FRAME_MAX; at += WORD) {
		word = image_word(ending->image, at);
		called = ending_called(ending, word);
		if (!called || inside <= called || inside - called > FUNCTION_MAX)
			continue;
		*ret_return = word;
		return at;
	}
	return 0;
}

uint64_t reach_ending_frames(struct image *image, const struct module_ranges *modules,
			     uint64_t stack_pointer)
{
	struct ending ending = { image, modules, 0 };
	uint64_t place = stack_pointer, before, inside = image_word(image, place);
	unsigned int level;

#if !defined(__x86_64__)
	return 0;
#endif
	if (place % WORD || !ending_is_library(modules, inside, &ending.library) ||
	    !ending_called(&ending, inside))
		return 0;
	for (level = 1; level < LEVELS; level++) {
		before = place;
		place = ending_caller(&ending, inside, place, &inside);
		if (!place)
			return 0;
		if (ending_is_of_main(&ending, inside))
			return place - before <= EXIT_FRAME_MAX ? place + WORD : 0;
	}
	return 0;
}
