/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See switching.h. */
#include "probe/switching.h"

#include <string.h>

#include "elf/elf_symbol.h"

static const char *const names[] = {
	"sigaltstack",	 "makecontext",	  "swapcontext", /* of C libraries */
	"jump_fcontext", "make_fcontext", /* Boost.Context, and who has its code */
	"co_switch",	 "coctx_swap",	  "coro_transfer", "acosw", /* libraries of coroutines */
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

size_t switching_find(struct elf_file *file)
{
	int found = elf_symbol_find_used(file, names, NAME_COUNT);

	return found < 0 ? 0 : (size_t)found + 1;
}

const char *switching_name(size_t number)
{
	return number && number <= NAME_COUNT ? names[number - 1] : NULL;
}

/*
 * How the names of files begin that have such a function for one purpose only, in which no call of an allocator is made, or none
 * is pending that is returned to:
 *
 *   ruby       handlers of SIGSEGV and SIGBUS: they leave by longjmp what had no stack left, or end the process. Those of other
 *              signals only note that one came. Fibers change between calls
 *   python     handlers of fatal signals, and those of faulthandler.register(): they write a traceback, without allocating
 *   libcrypto  jobs that engines suspend in functions of their own
 *   node       has libcrypto in it
 */
static const char *const harmless[] = {
	"libruby", "ruby", "libpython", "python", "libcrypto.so", "libnode.so", "node",
};

/* "python3.11" and "libruby-3.1.so.3.1" are meant, "pythonic" and "nodes" are not. */
static bool starts_with_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(name, word, length) &&
	       (!name[length] || strchr(".-_0123456789", name[length]));
}

bool switching_is_harmless(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t i;

	for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (starts_with_word(name, harmless[i]))
			return true;
	return false;
}
