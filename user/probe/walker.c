/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of stack walkers: see walker.h. */
#include "probe/walker.h"

/* What a file defines that holds one. */
static const struct marker {
	const char *symbol, *walker;
} markers[] = {
	{ "__asan_init", "AddressSanitizer" }, { "__hwasan_init", "HWAddressSanitizer" },
	{ "__lsan_init", "LeakSanitizer" },    { "__lsan_do_leak_check", "LeakSanitizer" },
	{ "__msan_init", "MemorySanitizer" },  { "__tsan_init", "ThreadSanitizer" },
	{ "heaptrack_malloc", "heaptrack" },   { "heaptrack_init", "heaptrack" },
	{ "__memprof_init", "MemProf" },
};

const char *walker_identify(int (*defines)(void *context, const char *symbol), void *context)
{
	size_t i;

	for (i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
		if (defines(context, markers[i].symbol))
			return markers[i].walker;
	return NULL;
}

const char *walker_marker(size_t index)
{
	return index < sizeof(markers) / sizeof(markers[0]) ? markers[index].symbol : NULL;
}
