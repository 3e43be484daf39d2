/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lost blocks of a process, passed from the search (user/reach, user/memory) to the output
 * (user/render). Plain data; owns all that it points to.
 */
#ifndef MODEL_LEAK_REPORT_H
#define MODEL_LEAK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/strings.h"
#include "model/report_frame.h"

/* Where pointers to blocks were found. X(symbol, name in JSON, title), the strongest first. */
#define LEAK_ROOT_LIST(X)                                  \
	X(REGISTER, register, "registers")                 \
	X(STACK, stack, "stacks")                          \
	X(STATIC, static, "static data")                   \
	X(TLS, tls, "thread-local storage")                \
	X(KERNEL, kernel, "the kernel")                    \
	X(SHARED, shared, "shared memory")                 \
	X(UNKNOWN, unknown, "other memory")                \
	X(RUBY, ruby, "Ruby heap pages: may be garbage")   \
	X(PYTHON, python, "Python arenas: may be garbage") \
	X(DEAD_STACK, dead_stack, "dead stacks")           \
	X(FREE, free, "free memory of malloc")

enum leak_root {
#define LEAK_ROOT_ENUMERATOR(SYMBOL, name, title) LEAK_ROOT_##SYMBOL,
	LEAK_ROOT_LIST(LEAK_ROOT_ENUMERATOR)
#undef LEAK_ROOT_ENUMERATOR
		LEAK_ROOTS,
	/* Kinds from here on hold words that are never read again */
	LEAK_ROOTS_LIVE = LEAK_ROOT_DEAD_STACK,
};

/* X(symbol, name in JSON) */
#define LEAK_VERDICT_LIST(X)                                                           \
	X(UNJUDGED, unjudged) /* passes differ: it was born, or moved, meanwhile */    \
	X(DEFINITE, definite) /* nothing leads to it */                                \
	X(INDIRECT, indirect) /* only lost blocks do */                                \
	X(POSSIBLE, possible) /* only a pointer to its inside, or behind such a one */ \
	X(REACHABLE, reachable)                                                        \
	X(STALE, stale) /* only words that are never read again */

enum leak_verdict {
#define LEAK_VERDICT_ENUMERATOR(SYMBOL, name) LEAK_##SYMBOL,
	LEAK_VERDICT_LIST(LEAK_VERDICT_ENUMERATOR)
#undef LEAK_VERDICT_ENUMERATOR
		LEAK_VERDICTS,
};

/* The state of a lost block at an earlier look. X(symbol, name in JSON, in sentences) */
#define LEAK_BEFORE_LIST(X)                                      \
	X(REACHABLE, reachable, "reachable")                     \
	X(UNSURE, unsure, "stale, possibly lost or on the move") \
	X(LOST, lost, "lost already")                            \
	X(NEW, new, "not there")

enum leak_before {
#define LEAK_BEFORE_ENUMERATOR(SYMBOL, name, words) LEAK_BEFORE_##SYMBOL,
	LEAK_BEFORE_LIST(LEAK_BEFORE_ENUMERATOR)
#undef LEAK_BEFORE_ENUMERATOR
		LEAK_BEFORES,
};

/*
 * Pointers to the inside of a block that count as pointers to its start, as memcheck's heuristics have it. X(symbol, name), in the
 * order in which they are tried.
 */
#define LEAK_HEURISTIC_LIST(X)  \
	X(STDSTRING, stdstring) \
	X(LENGTH64, length64)   \
	X(NEWARRAY, newarray)   \
	X(MULTIPLEINHERITANCE, multipleinheritance)

enum leak_heuristic {
#define LEAK_HEURISTIC_ENUMERATOR(SYMBOL, name) LEAK_HEURISTIC_##SYMBOL,
	LEAK_HEURISTIC_LIST(LEAK_HEURISTIC_ENUMERATOR)
#undef LEAK_HEURISTIC_ENUMERATOR
		LEAK_HEURISTICS,
	LEAK_HEURISTIC_NONE = LEAK_HEURISTICS,
};

const char *leak_heuristic_name(enum leak_heuristic heuristic); /* "newarray" */
const char *leak_before_name(enum leak_before before); /* "reachable" */
const char *leak_before_words(enum leak_before before);
const char *leak_root_name(enum leak_root root); /* "static" */
const char *leak_root_title(enum leak_root root); /* "static data" */
const char *leak_verdict_name(enum leak_verdict verdict); /* "definite" */

struct leak_sum {
	uint64_t blocks, bytes;
};

/*
 * Blocks with one verdict: of one site if their allocation was seen, otherwise of one kind and
 * size. Strings are in the report's pool, static, or owned by the source of the frames.
 */
struct leak_group {
	enum leak_verdict verdict; /* LEAK_DEFINITE or LEAK_POSSIBLE */
	const char *kind, *name; /* see memory_kind; "" = several, or none */
	uint64_t size; /* 0 = several */
	uint64_t site; /* key of the site; 0 = their allocation was not seen */
	const char *function; /* allocator function: "malloc"; NULL = unknown */
	/* Innermost first, starting with the allocator's caller; owned */
	struct report_frame *frames;
	size_t frame_count;
	struct leak_sum own;
	struct leak_sum indirect; /* blocks lost only through these */
	/* State at the earlier look, of own and indirect blocks */
	struct leak_sum before[LEAK_BEFORES];
	uint64_t address; /* of one of them */
	const char *note; /* why it is only possibly lost: "encoded as 2p+1"; "" = no note */
};

struct leak_who; /* leak_who.h */

struct leak_report {
	pid_t pid;
	char comm[16];
	struct leak_sum sums[LEAK_VERDICTS];
	struct leak_sum roots[LEAK_ROOTS]; /* reachable blocks by root */
	struct leak_sum heuristics[LEAK_HEURISTICS]; /* of it: what only a heuristic has reached */
	/* Not in `sums`: groups removed by rules, including what is lost through them. */
	struct leak_sum suppressed; /* by suppressions */
	struct leak_sum left_out; /* stacks without the requested module */
	bool is_traced; /* allocations were recorded, for `traced_ns` */
	uint64_t traced_ns;
	struct leak_group *groups; /* the largest first; owned */
	size_t group_count, group_capacity;
	/* There was an earlier look, at `before_time`, in seconds since the epoch */
	bool has_before;
	int64_t before_time;
	unsigned int passes;
	/* No thread ran during the last pass, so it saw a single moment. */
	bool is_quiet;
	bool is_paused; /* because it was stopped for that pass */
	uint64_t pause_ns; /* duration of the stop; 0 = not stopped */
	bool is_ending; /* the process was stopped at its own exit */
	bool is_restless; /* passes were still excluding blocks at the end */
	bool has_registers; /* all registers of all threads were read */
	uint64_t swapped_bytes; /* swapped out, not read */
	/* Memory that could not be read, or is shared and not resident. */
	uint64_t unread_bytes;
	/* Of the heap something was not understood; of which so many bytes; more than a little. */
	bool heap_unread;
	uint64_t heap_unknown_bytes;
	bool heap_is_damaged;
	bool kernel_unread; /* the kernel may have addresses of blocks that it does not show */
	/* Some lost blocks may be free: malloc's lists kept changing. */
	bool frees_unknown;
	bool pages_unknown; /* the resident pages of some mappings are unknown */
	uint64_t present_bytes; /* of the process, as of the last pass */
	uint64_t read_bytes; /* in all passes */
	int64_t wall_time; /* seconds since the epoch */
	uint64_t duration_ns;
	/* The answer to --who, shown instead of groups; borrowed; NULL = none. */
	const struct leak_who *who;
	struct buffer remarks; /* sentences, a line each */
	struct strings names;
};

/* Is the result certain? Everything that can hold a pointer was seen, at a single moment. */
bool leak_report_is_proof(const struct leak_report *report);
/* Is a part that was not understood more than a little of it: a hundredth of the whole? */
bool leak_report_is_much(uint64_t unknown, uint64_t known);
/* Was something not seen that can hold a pointer, or blocks? */
bool leak_report_is_partial(const struct leak_report *report);

/* Sum up the earlier states of all definitely lost blocks. */
void leak_report_sum_before(const struct leak_report *report, struct leak_sum sums[LEAK_BEFORES]);
struct leak_group *leak_report_add_group(struct leak_report *report);
/* Sort groups by verdict, then by size including what is lost through them. */
void leak_report_sort(struct leak_report *report);
void leak_sum_add(struct leak_sum *sum, const struct leak_sum *more);
/* Free what a group owns. */
void leak_group_clear(struct leak_group *group);
/* Append a sentence to the remarks. */
void leak_report_remark(struct leak_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void leak_report_free(struct leak_report *report);

#endif
