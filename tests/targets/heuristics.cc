/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that only pointers to their insides lead to: of shapes that memcheck's heuristics know, and of such that look alike and are none. Each
 * has a size of its own, 16n + 8, which malloc gives exactly. Prints a line of JSON with the cases, each with the heuristic by which it is
 * reached, or "" where it is possibly lost, then waits for its input to end. Where valgrind runs it, memcheck looks for leaks first.
 * Strings are those of the old C++ library (_GLIBCXX_USE_CXX11_ABI=0).
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_DO_LEAK_CHECK (void)0
#endif

#define QUIET __attribute__((noinline))
#define PIECE 8 /* bytes before an array, and before what follows a length */

struct shape {
	const char *name, *heuristic;
	size_t size;
};

static shape cases[32];
static size_t case_count;

/* Where the program keeps its pointers. */
static void *volatile kept[32];
static std::string *strings;

static size_t next_size()
{
	return 1208 + 16 * case_count;
}

static void add(const char *name, const char *heuristic, size_t size, volatile void *pointer)
{
	kept[case_count] = const_cast<void *>(pointer);
	cases[case_count++] = { name, heuristic, size };
}

struct element {
	~element()
	{
		value = 0;
	}
	volatile uint64_t value = 1;
};

struct left {
	virtual ~left() = default;
	virtual int one() const
	{
		return 1;
	}
	uint64_t a = 1;
};

struct right {
	virtual ~right() = default;
	virtual int two() const
	{
		return 2;
	}
	uint64_t b = 2;
};

/* Of 1208 + 16 * N bytes. */
template <size_t N> struct both : left, right {
	char rest[1208 + 16 * N - sizeof(left) - sizeof(right)];
	both()
	{
		memset(rest, 0, sizeof(rest));
	}
};

/* A base without virtual functions: nothing shows that there is one. */
struct plain {
	uint64_t c = 3;
};

template <size_t N> struct mixed : left, plain {
	char rest[1208 + 16 * N - sizeof(left) - sizeof(plain)];
	mixed()
	{
		memset(rest, 0, sizeof(rest));
	}
};

/* Volatile, or nobody would write words that nobody reads. */
typedef volatile uint64_t *words_t;

static QUIET words_t words_of(size_t size)
{
	return static_cast<words_t>(calloc(1, size));
}

static QUIET void plant_strings()
{
	/* Length, capacity, owners, characters, 0. */
	const size_t size = next_size(), head = 24;
	words_t words;

	strings = new std::string(size - head - 1, 'x');
	add("string", "stdstring", size, nullptr);
	words = words_of(next_size());
	words[0] = 7;
	words[1] = next_size() - head - 1;
	add("string by hand", "stdstring", next_size(), words + 3);
	words = words_of(next_size());
	words[0] = next_size();
	words[1] = next_size() - head - 1;
	add("longer than its capacity", "", next_size(), words + 3);
	words = words_of(next_size());
	words[0] = 7;
	words[1] = 64;
	add("capacity of another size", "", next_size(), words + 3);
	words = words_of(next_size());
	words[0] = 7;
	words[1] = next_size() - head - 1;
	add("pointer behind the first character", "", next_size(), words + 4);
}

static QUIET void plant_lengths()
{
	words_t words = words_of(next_size());

	words[0] = next_size() - PIECE;
	add("length", "length64", next_size(), words + 1);
	words = words_of(next_size());
	words[0] = UINT64_MAX - 7;
	add("length of nearly 2^64", "", next_size(), words + 1);
}

static QUIET void plant_arrays()
{
	const size_t count = (next_size() - PIECE) / sizeof(element);
	words_t words;

	add("array", "newarray", next_size(), new element[count]);
	words = words_of(next_size());
	words[0] = next_size() / 2;
	add("count that leaves a rest", "", next_size(), words + 1);
	words = words_of(next_size());
	add("count of 0", "", next_size(), words + 1);
	words = words_of(next_size());
	words[0] = (next_size() - PIECE) / 8;
	add("pointer to the second element", "", next_size(), words + 2);
}

template <size_t N> static QUIET void plant_object(const char *name, bool second)
{
	both<N> *object = new both<N>;

	if (second)
		add(name, "multipleinheritance", sizeof(*object), static_cast<right *>(object));
	else
		add(name, "", sizeof(*object), &object->rest[8]);
}

template <size_t N> static QUIET void plant_mixed(const char *name)
{
	mixed<N> *object = new mixed<N>;

	add(name, "", sizeof(*object), static_cast<plain *>(object));
}

/* What is behind a block that a heuristic reaches is reached without one; what is inside of it, by another one. */
static QUIET void plant_chain()
{
	words_t words = words_of(next_size()), next, last;

	words[0] = next_size() - PIECE;
	add("start of a chain", "length64", next_size(), words + 1);
	next = words_of(next_size());
	words[5] = reinterpret_cast<uintptr_t>(next);
	add("behind it", "start", next_size(), nullptr);
	last = words_of(next_size());
	last[0] = 1;
	next[5] = reinterpret_cast<uintptr_t>(last + 1);
	add("inside, behind that", "newarray", next_size(), nullptr);
}

/* Whoever is lost: a heuristic makes no pointer of a lost block a live one. */
static QUIET void plant_lost()
{
	words_t words = words_of(next_size()), next;

	add("lost", "definite", next_size(), nullptr);
	next = words_of(next_size());
	next[0] = next_size() - PIECE;
	words[1] = reinterpret_cast<uintptr_t>(next + 1);
	add("inside, behind a lost one", "indirect", next_size(), nullptr);
}

static QUIET void clean_stack()
{
	volatile char area[64 << 10];

	memset(const_cast<char *>(area), 0, sizeof(area));
}

int main()
{
	char byte;

	plant_strings();
	plant_lengths();
	plant_arrays();
	plant_object<11>("second base", true);
	plant_object<12>("no base", false);
	plant_mixed<13>("base without functions");
	plant_chain();
	plant_lost();
	clean_stack();
	if (strings->size() < 1000)
		abort();
	printf("[");
	for (size_t i = 0; i < case_count; i++)
		printf("%s{\"name\": \"%s\", \"heuristic\": \"%s\", \"size\": %zu}", i ? ", " : "", cases[i].name, cases[i].heuristic,
		       cases[i].size);
	puts("]");
	fflush(stdout);
	VALGRIND_DO_LEAK_CHECK;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
