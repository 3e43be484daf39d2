/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of allocator functions: see allocator.h. */
#include "probe/allocator.h"

#include <linux/types.h>
#include <string.h>

#include "tracer_abi.h"

#define ALLOC(size) SHAPE(CALL_ALLOC, size, 0, 0, RESULT_POINTER, SOURCE_HEAP)
#define ALLOC_ARRAY(size, count) SHAPE(CALL_ALLOC, size, count, 0, RESULT_POINTER, SOURCE_HEAP)
#define ALLOC_OUT(size, out) SHAPE(CALL_ALLOC, size, 0, out, RESULT_OUT_STATUS, SOURCE_HEAP)
#define RESIZE(size, old) SHAPE(CALL_REALLOC, size, 0, old, RESULT_POINTER, SOURCE_HEAP)
#define RESIZE_ARRAY(size, count, old) \
	SHAPE(CALL_REALLOC, size, count, old, RESULT_POINTER, SOURCE_HEAP)
#define ALLOC_THROWS(size) SHAPE(CALL_ALLOC, size, 0, 0, RESULT_POINTER_OR_THROWS, SOURCE_HEAP)
#define ALLOC_ARRAY_THROWS(size, count) \
	SHAPE(CALL_ALLOC, size, count, 0, RESULT_POINTER_OR_THROWS, SOURCE_HEAP)
#define RESIZE_THROWS(size, old) \
	SHAPE(CALL_REALLOC, size, 0, old, RESULT_POINTER_OR_THROWS, SOURCE_HEAP)
#define RESIZE_ARRAY_THROWS(size, count, old) \
	SHAPE(CALL_REALLOC, size, count, old, RESULT_POINTER_OR_THROWS, SOURCE_HEAP)
#define RESIZE_IN_PLACE(size, old) SHAPE(CALL_REALLOC, size, 0, old, RESULT_IN_PLACE, SOURCE_HEAP)
#define RESIZE_OR_FREE(size, old) \
	SHAPE(CALL_REALLOC, size, 0, old, RESULT_POINTER_OR_FREED, SOURCE_HEAP)
#define FREE(old) SHAPE(CALL_FREE, 0, 0, old, RESULT_POINTER, SOURCE_HEAP)
#define FREE_INSIDE(old) SHAPE(CALL_FREE, 0, 0, old, RESULT_FREES_INSIDE, SOURCE_HEAP)
#define THROW SHAPE(CALL_THROW, 0, 0, 0, RESULT_POINTER, SOURCE_HEAP)

#define ROW(symbol, shape)                         \
	{                                          \
#symbol, #symbol, shape, SCOPE_ANY \
	}
#define OWN(symbol, shape)                              \
	{                                               \
#symbol, #symbol, shape, SCOPE_OWN_HEAP \
	}
#define OPERATOR_SIZE(symbol, name, shape)                            \
	{                                                             \
#symbol, "operator " name, shape, SCOPE_OPERATOR_SIZE \
	}
#define OPERATOR(symbol, name, shape)                            \
	{                                                        \
#symbol, "operator " name, shape, SCOPE_OPERATOR \
	}

/* jemalloc's API under a prefix: its users build it as je_ (redis), _rjem_ (Rust) or bare. */
#define JEMALLOC_EXTRA(prefix)                                                              \
	ROW(prefix##mallocx, ALLOC(1)), ROW(prefix##rallocx, RESIZE(2, 1)),                 \
		ROW(prefix##xallocx, RESIZE_IN_PLACE(2, 1)), ROW(prefix##dallocx, FREE(1)), \
		ROW(prefix##sdallocx, FREE(1))
#define JEMALLOC_STANDARD(prefix)                                                      \
	ROW(prefix##malloc, ALLOC(1)), ROW(prefix##calloc, ALLOC_ARRAY(2, 1)),         \
		ROW(prefix##realloc, RESIZE(2, 1)), ROW(prefix##free, FREE(1)),        \
		ROW(prefix##posix_memalign, ALLOC_OUT(3, 1)),                          \
		ROW(prefix##aligned_alloc, ALLOC(2)), ROW(prefix##memalign, ALLOC(2)), \
		ROW(prefix##valloc, ALLOC(1)), ROW(prefix##pvalloc, ALLOC(1))

static const struct allocator_function functions[] = {
	/* The C library's interface: glibc, musl, and whatever replaces them. */
	ROW(malloc, ALLOC(1)),
	ROW(calloc, ALLOC_ARRAY(2, 1)),
	ROW(realloc, RESIZE(2, 1)),
	ROW(reallocarray, RESIZE_ARRAY(3, 2, 1)),
	ROW(free, FREE(1)),
	ROW(cfree, FREE_INSIDE(1)),
	ROW(free_sized, FREE_INSIDE(1)),
	ROW(free_aligned_sized, FREE_INSIDE(1)),
	ROW(posix_memalign, ALLOC_OUT(3, 1)),
	ROW(aligned_alloc, ALLOC(2)),
	ROW(memalign, ALLOC(2)),
	ROW(valloc, ALLOC(1)),
	ROW(pvalloc, ALLOC(1)),
	ROW(__libc_malloc, ALLOC(1)),
	ROW(__libc_calloc, ALLOC_ARRAY(2, 1)),
	ROW(__libc_realloc, RESIZE(2, 1)),
	ROW(__libc_reallocarray, RESIZE_ARRAY(3, 2, 1)),
	ROW(__libc_free, FREE(1)),
	ROW(__libc_cfree, FREE(1)),
	ROW(__libc_memalign, ALLOC(2)),
	ROW(__libc_valloc, ALLOC(1)),
	ROW(__libc_pvalloc, ALLOC(1)),
	ROW(__posix_memalign, ALLOC_OUT(3, 1)),

	/* Mappings. The op alone defines where the arguments are. */
	ROW(mmap, SHAPE(CALL_MMAP, 2, 0, 1, RESULT_POINTER, SOURCE_MMAP)),
	ROW(mmap64, SHAPE(CALL_MMAP, 2, 0, 1, RESULT_POINTER, SOURCE_MMAP)),
	ROW(munmap, SHAPE(CALL_MUNMAP, 2, 0, 1, RESULT_POINTER, SOURCE_MMAP)),
	ROW(mremap, SHAPE(CALL_MREMAP, 3, 0, 1, RESULT_POINTER, SOURCE_MMAP)),

	/*
	 * C++: every replaceable form, as the Itanium ABI mangles it where size_t is unsigned long. Those that
	 * align ask for whole multiples of the alignment in libstdc++.
	 */
	OPERATOR(_Znwm, "new(unsigned long)", ALLOC_THROWS(1)),
	OPERATOR(_Znam, "new[](unsigned long)", ALLOC_THROWS(1)),
	OPERATOR(_ZnwmRKSt9nothrow_t, "new(unsigned long, std::nothrow_t const&)", ALLOC(1)),
	OPERATOR(_ZnamRKSt9nothrow_t, "new[](unsigned long, std::nothrow_t const&)", ALLOC(1)),
	OPERATOR_SIZE(_ZnwmSt11align_val_t, "new(unsigned long, std::align_val_t)",
		      ALLOC_THROWS(1)),
	OPERATOR_SIZE(_ZnamSt11align_val_t, "new[](unsigned long, std::align_val_t)",
		      ALLOC_THROWS(1)),
	OPERATOR_SIZE(_ZnwmSt11align_val_tRKSt9nothrow_t,
		      "new(unsigned long, std::align_val_t, std::nothrow_t const&)", ALLOC(1)),
	OPERATOR_SIZE(_ZnamSt11align_val_tRKSt9nothrow_t,
		      "new[](unsigned long, std::align_val_t, std::nothrow_t const&)", ALLOC(1)),
	OPERATOR(_ZdlPv, "delete(void*)", FREE_INSIDE(1)),
	OPERATOR(_ZdaPv, "delete[](void*)", FREE_INSIDE(1)),
	OPERATOR(_ZdlPvm, "delete(void*, unsigned long)", FREE_INSIDE(1)),
	OPERATOR(_ZdaPvm, "delete[](void*, unsigned long)", FREE_INSIDE(1)),
	OPERATOR(_ZdlPvRKSt9nothrow_t, "delete(void*, std::nothrow_t const&)", FREE_INSIDE(1)),
	OPERATOR(_ZdaPvRKSt9nothrow_t, "delete[](void*, std::nothrow_t const&)", FREE_INSIDE(1)),
	OPERATOR(_ZdlPvSt11align_val_t, "delete(void*, std::align_val_t)", FREE_INSIDE(1)),
	OPERATOR(_ZdaPvSt11align_val_t, "delete[](void*, std::align_val_t)", FREE_INSIDE(1)),
	OPERATOR(_ZdlPvmSt11align_val_t, "delete(void*, unsigned long, std::align_val_t)",
		 FREE_INSIDE(1)),
	OPERATOR(_ZdaPvmSt11align_val_t, "delete[](void*, unsigned long, std::align_val_t)",
		 FREE_INSIDE(1)),
	OPERATOR(_ZdlPvSt11align_val_tRKSt9nothrow_t,
		 "delete(void*, std::align_val_t, std::nothrow_t const&)", FREE_INSIDE(1)),
	OPERATOR(_ZdaPvSt11align_val_tRKSt9nothrow_t,
		 "delete[](void*, std::align_val_t, std::nothrow_t const&)", FREE_INSIDE(1)),

	/* jemalloc */
	JEMALLOC_EXTRA(),
	JEMALLOC_STANDARD(je_),
	JEMALLOC_EXTRA(je_),
	JEMALLOC_STANDARD(_rjem_),
	JEMALLOC_EXTRA(_rjem_),

	/* tcmalloc */
	ROW(tc_malloc, ALLOC(1)),
	ROW(tc_malloc_skip_new_handler, ALLOC(1)),
	ROW(tc_calloc, ALLOC_ARRAY(2, 1)),
	ROW(tc_realloc, RESIZE(2, 1)),
	ROW(tc_free, FREE(1)),
	ROW(tc_free_sized, FREE_INSIDE(1)),
	ROW(tc_free_aligned_sized, FREE_INSIDE(1)),
	ROW(tc_cfree, FREE(1)),
	ROW(tc_memalign, ALLOC(2)),
	ROW(tc_posix_memalign, ALLOC_OUT(3, 1)),
	ROW(tc_valloc, ALLOC(1)),
	ROW(tc_pvalloc, ALLOC(1)),
	ROW(tc_new, ALLOC_THROWS(1)),
	ROW(tc_new_nothrow, ALLOC(1)),
	ROW(tc_new_aligned, ALLOC_THROWS(1)),
	ROW(tc_new_aligned_nothrow, ALLOC(1)),
	ROW(tc_newarray, ALLOC_THROWS(1)),
	ROW(tc_newarray_nothrow, ALLOC(1)),
	ROW(tc_newarray_aligned, ALLOC_THROWS(1)),
	ROW(tc_newarray_aligned_nothrow, ALLOC(1)),
	ROW(tc_delete, FREE_INSIDE(1)),
	ROW(tc_delete_nothrow, FREE_INSIDE(1)),
	ROW(tc_delete_sized, FREE_INSIDE(1)),
	ROW(tc_delete_aligned, FREE_INSIDE(1)),
	ROW(tc_delete_aligned_nothrow, FREE_INSIDE(1)),
	ROW(tc_delete_sized_aligned, FREE_INSIDE(1)),
	ROW(tc_deletearray, FREE_INSIDE(1)),
	ROW(tc_deletearray_nothrow, FREE_INSIDE(1)),
	ROW(tc_deletearray_sized, FREE_INSIDE(1)),
	ROW(tc_deletearray_aligned, FREE_INSIDE(1)),
	ROW(tc_deletearray_aligned_nothrow, FREE_INSIDE(1)),
	ROW(tc_deletearray_sized_aligned, FREE_INSIDE(1)),

	/*
	 * mimalloc. What mi_heap_destroy takes away is not seen, nor what mi_strdup and its relatives
	 * allocate where they are reached by these names.
	 */
	ROW(mi_malloc, ALLOC(1)),
	ROW(mi_malloc_small, ALLOC(1)),
	ROW(mi_zalloc, ALLOC(1)),
	ROW(mi_zalloc_small, ALLOC(1)),
	ROW(mi_calloc, ALLOC_ARRAY(2, 1)),
	ROW(mi_mallocn, ALLOC_ARRAY(2, 1)),
	ROW(mi_realloc, RESIZE(2, 1)),
	ROW(mi_reallocf, RESIZE_OR_FREE(2, 1)),
	ROW(mi_rezalloc, RESIZE(2, 1)),
	ROW(mi_reallocn, RESIZE_ARRAY(3, 2, 1)),
	ROW(mi_recalloc, RESIZE_ARRAY(3, 2, 1)),
	ROW(mi_reallocarray, RESIZE_ARRAY(3, 2, 1)),
	ROW(mi_free, FREE(1)),
	ROW(mi_free_size, FREE_INSIDE(1)),
	ROW(mi_free_aligned, FREE_INSIDE(1)),
	ROW(mi_free_size_aligned, FREE_INSIDE(1)),
	ROW(mi_cfree, FREE_INSIDE(1)),
	OWN(vfree, FREE_INSIDE(1)),
	OWN(reallocf, RESIZE_OR_FREE(2, 1)),
	ROW(mi_memalign, ALLOC(2)),
	ROW(mi_aligned_alloc, ALLOC(2)),
	ROW(mi_posix_memalign, ALLOC_OUT(3, 1)),
	ROW(mi_valloc, ALLOC(1)),
	ROW(mi_pvalloc, ALLOC(1)),
	ROW(mi_malloc_aligned, ALLOC(1)),
	ROW(mi_malloc_aligned_at, ALLOC(1)),
	ROW(mi_zalloc_aligned, ALLOC(1)),
	ROW(mi_zalloc_aligned_at, ALLOC(1)),
	ROW(mi_calloc_aligned, ALLOC_ARRAY(2, 1)),
	ROW(mi_calloc_aligned_at, ALLOC_ARRAY(2, 1)),
	ROW(mi_realloc_aligned, RESIZE(2, 1)),
	ROW(mi_realloc_aligned_at, RESIZE(2, 1)),
	ROW(mi_rezalloc_aligned, RESIZE(2, 1)),
	ROW(mi_rezalloc_aligned_at, RESIZE(2, 1)),
	ROW(mi_recalloc_aligned, RESIZE_ARRAY(3, 2, 1)),
	ROW(mi_recalloc_aligned_at, RESIZE_ARRAY(3, 2, 1)),
	ROW(mi_new, ALLOC_THROWS(1)),
	ROW(mi_new_nothrow, ALLOC(1)),
	ROW(mi_new_aligned, ALLOC_THROWS(1)),
	ROW(mi_new_aligned_nothrow, ALLOC(1)),
	ROW(mi_new_n, ALLOC_ARRAY_THROWS(2, 1)),
	ROW(mi_new_realloc, RESIZE_THROWS(2, 1)),
	ROW(mi_new_reallocn, RESIZE_ARRAY_THROWS(3, 2, 1)),
	ROW(mi_heap_malloc, ALLOC(2)),
	ROW(mi_heap_malloc_small, ALLOC(2)),
	ROW(mi_heap_zalloc, ALLOC(2)),
	ROW(mi_heap_calloc, ALLOC_ARRAY(3, 2)),
	ROW(mi_heap_mallocn, ALLOC_ARRAY(3, 2)),
	ROW(mi_heap_realloc, RESIZE(3, 2)),
	ROW(mi_heap_reallocn, RESIZE_ARRAY(4, 3, 2)),
	ROW(mi_heap_malloc_aligned, ALLOC(2)),
	ROW(mi_heap_malloc_aligned_at, ALLOC(2)),
	ROW(mi_heap_zalloc_aligned, ALLOC(2)),
	ROW(mi_heap_zalloc_aligned_at, ALLOC(2)),
	ROW(mi_heap_calloc_aligned, ALLOC_ARRAY(3, 2)),
	ROW(mi_heap_calloc_aligned_at, ALLOC_ARRAY(3, 2)),
	ROW(mi_heap_reallocf, RESIZE_OR_FREE(3, 2)),
	ROW(mi_heap_rezalloc, RESIZE(3, 2)),
	ROW(mi_heap_recalloc, RESIZE_ARRAY(4, 3, 2)),
	ROW(mi_heap_realloc_aligned, RESIZE(3, 2)),
	ROW(mi_heap_realloc_aligned_at, RESIZE(3, 2)),
	ROW(mi_heap_rezalloc_aligned, RESIZE(3, 2)),
	ROW(mi_heap_rezalloc_aligned_at, RESIZE(3, 2)),
	ROW(mi_heap_recalloc_aligned, RESIZE_ARRAY(4, 3, 2)),
	ROW(mi_heap_recalloc_aligned_at, RESIZE_ARRAY(4, 3, 2)),
	ROW(mi_heap_alloc_new, ALLOC_THROWS(2)),
	ROW(mi_heap_alloc_new_n, ALLOC_ARRAY_THROWS(3, 2)),
	ROW(mi_aligned_recalloc, RESIZE_ARRAY(3, 2, 1)),
	ROW(mi_aligned_offset_recalloc, RESIZE_ARRAY(3, 2, 1)),

	/* Threading Building Blocks */
	ROW(scalable_malloc, ALLOC(1)),
	ROW(scalable_calloc, ALLOC_ARRAY(2, 1)),
	ROW(scalable_realloc, RESIZE(2, 1)),
	ROW(scalable_free, FREE(1)),
	ROW(scalable_posix_memalign, ALLOC_OUT(3, 1)),
	ROW(scalable_aligned_malloc, ALLOC(1)),
	ROW(scalable_aligned_realloc, RESIZE(2, 1)),
	ROW(scalable_aligned_free, FREE_INSIDE(1)),

	/* Where an exception of C++ begins, before it has allocated by itself. */
	ROW(__cxa_allocate_exception, THROW),

	{ NULL, NULL, 0, SCOPE_ANY },
};

/* The first symbol that a file defines decides: replacements before C libraries, which may be linked in. */
static const struct marker {
	const char *symbol, *allocator;
} markers[] = {
	/* It is before the allocator of the program, with functions of the names of several. */
	{ "heaptrack_malloc", "heaptrack" },
	{ "mallocx", "jemalloc" },
	{ "je_malloc", "jemalloc" },
	{ "_rjem_malloc", "jemalloc" },
	{ "tc_malloc", "tcmalloc" },
	{ "TCMallocInternalMalloc", "tcmalloc" },
	{ "mi_malloc", "mimalloc" },
	{ "__TBB_malloc_proxy", "tbb" },
	{ "scalable_malloc", "tbb" },
	{ "__asan_init", "asan" },
	/* Static programs have parts of the loader, but the loader never has these. */
	{ "gnu_get_libc_version", "glibc" },
	{ "_int_malloc", "glibc" },
	{ "_dl_rtld_di_serinfo", "loader" },
	{ "__dls3", "musl" },
	{ "__libc_malloc_impl", "musl" },
	{ "__malloc_donate", "musl" },
	{ NULL, NULL },
};

const struct allocator_function *allocator_functions(void)
{
	return functions;
}

const char *allocator_marker(size_t index)
{
	return index < sizeof(markers) / sizeof(markers[0]) ? markers[index].symbol : NULL;
}

const char *allocator_identify(int (*defines)(void *context, const char *symbol), void *context)
{
	const struct marker *marker;

	for (marker = markers; marker->symbol; marker++)
		if (defines(context, marker->symbol))
			return marker->allocator;
	return "unknown";
}

const char *allocator_of_operators(const char *allocator)
{
	return strcmp(allocator, "unknown") == 0 ? "c++" : allocator;
}

bool allocator_is_loader(const char *allocator)
{
	return strcmp(allocator, "loader") == 0;
}

bool allocator_is_known(const char *allocator)
{
	static const char *const known[] = { "glibc",	 "musl", "jemalloc", "tcmalloc",
					     "mimalloc", "tbb",	 "loader" };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(allocator, known[i]) == 0)
			return true;
	return false;
}

static bool allocator_is_libc(const char *allocator)
{
	return strcmp(allocator, "glibc") == 0 || strcmp(allocator, "musl") == 0;
}

bool allocator_applies(const struct allocator_function *function, const char *allocator,
		       bool own_heap)
{
	return function->scope != SCOPE_OWN_HEAP || (own_heap && !allocator_is_libc(allocator));
}

bool allocator_operators_forward(const char *allocator, bool own_heap)
{
	return !own_heap || allocator_is_libc(allocator);
}

bool allocator_has_function(const char *symbol)
{
	const struct allocator_function *row;

	for (row = functions; row->symbol; row++)
		if (strcmp(row->symbol, symbol) == 0)
			return SHAPE_OP(row->shape) <= CALL_FREE;
	return false;
}

/* Position 0 means "none", and one means a fixed size. */
static uint32_t argument_bit(uint32_t position)
{
	return position && position != SIZE_ARG_FIXED ? 1u << ARG_POSITION(position) : 0;
}

uint32_t allocator_arguments(uint64_t shape)
{
	switch (SHAPE_OP(shape)) {
	case CALL_MMAP:
		return 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6;
	case CALL_MREMAP:
		return 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5;
	}
	return argument_bit(SHAPE_SIZE_ARG(shape)) | argument_bit(SHAPE_COUNT_ARG(shape)) |
	       argument_bit(SHAPE_PTR_ARG(shape));
}
