/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of stack walkers: see walker.h. */
#include "probe/walker.h"

#include <string.h>

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

/* How libraries begin that are walkers or hold one. Clang's are "libclang_rt.asan-x86_64.so". */
static const struct {
	const char *start, *walker;
} libraries[] = {
	{ "libasan.so", "AddressSanitizer" },	    { "libhwasan.so", "HWAddressSanitizer" },
	{ "liblsan.so", "LeakSanitizer" },	    { "libtsan.so", "ThreadSanitizer" },
	{ "libclang_rt.asan", "AddressSanitizer" }, { "libclang_rt.hwasan", "HWAddressSanitizer" },
	{ "libclang_rt.lsan", "LeakSanitizer" },    { "libclang_rt.tsan", "ThreadSanitizer" },
	{ "libclang_rt.msan", "MemorySanitizer" },  { "libclang_rt.memprof", "MemProf" },
	{ "libheaptrack_preload.so", "heaptrack" }, { "libheaptrack_inject.so", "heaptrack" },
};

const char *walker_of_path(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	size_t i;

	for (i = 0; name && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (!strncmp(name, libraries[i].start, strlen(libraries[i].start)))
			return libraries[i].walker;
	return NULL;
}

/* What a variable must contain to mean a profile; "" = anything that is not empty. */
static const struct {
	const char *name, *part, *walker;
} variables[] = {
	{ "MALLOC_CONF", "prof:true", "jemalloc's profiler" },
	{ "JE_MALLOC_CONF", "prof:true", "jemalloc's profiler" },
	{ "_RJEM_MALLOC_CONF", "prof:true", "jemalloc's profiler" },
	{ "HEAPPROFILE", "", "tcmalloc's heap profiler" },
	{ "HEAPCHECK", "", "tcmalloc's heap checker" },
	{ "TCMALLOC_SAMPLE_PARAMETER", "", "tcmalloc's sampler" },
	{ "LD_PRELOAD", "libheaptrack_preload.so", "heaptrack" },
	{ "LD_PRELOAD", "libasan.so", "AddressSanitizer" },
	{ "LD_PRELOAD", "liblsan.so", "LeakSanitizer" },
	{ "LD_PRELOAD", "libtsan.so", "ThreadSanitizer" },
};

/* The walker that one variable asks for, which ends with a zero. */
static const char *variable_walker(const char *variable)
{
	size_t i, length;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		length = strlen(variables[i].name);
		if (!strncmp(variable, variables[i].name, length) && variable[length] == '=' &&
		    variable[length + 1] && strstr(variable + length + 1, variables[i].part))
			return variables[i].walker;
	}
	return NULL;
}

const char *walker_of_environment(const char *bytes, size_t size)
{
	const char *end = bytes + size, *next, *walker = NULL;

	/* The last one may be cut off: it has no zero. */
	for (; !walker && bytes < end; bytes = next + 1) {
		next = memchr(bytes, '\0', (size_t)(end - bytes));
		if (!next)
			break;
		walker = variable_walker(bytes);
	}
	return walker;
}
