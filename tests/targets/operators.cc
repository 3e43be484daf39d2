// SPDX-License-Identifier: GPL-2.0-or-later
// Every replaceable form of operator new with every form of delete that fits it, by a program that keeps its own
// account. `operators plain|all [wait]`: "plain" leaves out what fails.
//
// With OWN_OPERATORS, the program brings the plain operators itself: "malloc" has them call malloc, "arena" has them
// serve from memory of their own, and throw when that is used up.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
#include "truth.h"

// The operators are called by name: so no compiler leaves a pair out or picks another form.
#define FORM(name, ...)                               \
	SITE static void *name(std::size_t size)      \
	{                                             \
		void *block = ::operator __VA_ARGS__; \
                                                      \
		HIDE(block);                          \
		truth_alloc(#name, size);             \
		return block;                         \
	}

FORM(site_new, new (size))
FORM(site_new_array, new[](size))
FORM(site_new_nothrow, new (size, std::nothrow))
FORM(site_new_array_nothrow, new[](size, std::nothrow))
FORM(site_new_aligned, new (size, std::align_val_t(64)))
FORM(site_new_array_aligned, new[](size, std::align_val_t(64)))
FORM(site_new_aligned_nothrow, new (size, std::align_val_t(64), std::nothrow))
FORM(site_new_array_aligned_nothrow, new[](size, std::align_val_t(64), std::nothrow))
}

#if defined(OWN_OPERATORS_MALLOC)

SITE void *operator new(std::size_t size)
{
	void *block = std::malloc(size);

	if (!block)
		throw std::bad_alloc();
	return block;
}

SITE void operator delete(void *block) noexcept
{
	std::free(block);
}

#elif defined(OWN_OPERATORS_ARENA)

static char arena[1 << 20];
static std::size_t arena_used;

SITE void *operator new(std::size_t size)
{
	char *block = arena + arena_used;

	if (size > sizeof(arena) - arena_used - 16)
		throw std::bad_alloc();
	arena_used += (size + 31) & ~static_cast<std::size_t>(15);
	return block;
}

// What an arena has given away it never gets back.
SITE void operator delete(void *block) noexcept
{
	HIDE(block);
}

#endif

static void plain_round(std::size_t n, bool sized)
{
	site_new(n);
	// No conditional expressions: of two calls of operator delete, clang 19 makes both.
	if (sized)
		::operator delete(site_new(n + 1), n + 1);
	else
		::operator delete(site_new(n + 1));
	truth_free("site_new", n + 1);
	site_new_array(n);
	if (sized)
		::operator delete[](site_new_array(n + 2), n + 2);
	else
		::operator delete[](site_new_array(n + 2));
	truth_free("site_new_array", n + 2);
	site_new_nothrow(n);
	::operator delete(site_new_nothrow(n + 3), std::nothrow);
	truth_free("site_new_nothrow", n + 3);
	site_new_array_nothrow(n);
	::operator delete[](site_new_array_nothrow(n + 4), std::nothrow);
	truth_free("site_new_array_nothrow", n + 4);
}

static void aligned_round(std::size_t n, bool sized)
{
	const std::align_val_t to = std::align_val_t(64);

	site_new_aligned(n);
	if (sized)
		::operator delete(site_new_aligned(n + 5), n + 5, to);
	else
		::operator delete(site_new_aligned(n + 5), to);
	truth_free("site_new_aligned", n + 5);
	site_new_array_aligned(n);
	if (sized)
		::operator delete[](site_new_array_aligned(n + 6), n + 6, to);
	else
		::operator delete[](site_new_array_aligned(n + 6), to);
	truth_free("site_new_array_aligned", n + 6);
	site_new_aligned_nothrow(n);
	::operator delete(site_new_aligned_nothrow(n + 7), to, std::nothrow);
	truth_free("site_new_aligned_nothrow", n + 7);
	site_new_array_aligned_nothrow(n);
	::operator delete[](site_new_array_aligned_nothrow(n + 8), to, std::nothrow);
	truth_free("site_new_array_aligned_nothrow", n + 8);
}

// What cannot be had: thrown, and caught here, or NULL.
static void failed_round()
{
	std::size_t huge = static_cast<std::size_t>(1) << 62;

	HIDE(huge);
	try {
		void *block = ::operator new(huge);

		HIDE(block);
		std::abort();
	} catch (const std::bad_alloc &) {
	}
	if (::operator new[](huge, std::nothrow))
		std::abort();
	site_new(9);
}

int main(int argc, char **argv)
{
	const char *scenario = argc > 1 ? argv[1] : "";
	std::size_t n;

	truth_begin(argc > 2 ? argv[2] : nullptr);
	for (n = 1; n <= 100; n++) {
		plain_round(n, n % 2);
		aligned_round(n, n % 2);
		if (!std::strcmp(scenario, "all"))
			failed_round();
	}
	truth_end();
	return 0;
}
