/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of a look at a process's memory, passed from the stages that look (user/heap,
 * user/objects, user/memory) to those that judge and print (user/analyze, user/render). Plain data;
 * owns all that it points to.
 */
#ifndef MODEL_MEMORY_REPORT_H
#define MODEL_MEMORY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strings.h"
#include "model/heap_totals.h"
#include "model/purpose.h"

/* What a look has not seen all of: there was no time, or it was not understood. As bits. */
enum memory_cut {
	MEMORY_CUT_PAGES = 1, /* which pages are in memory */
	MEMORY_CUT_THREADS = 2,
	MEMORY_CUT_HEAPS = 4,
	MEMORY_CUT_RUNTIMES = 8,
	MEMORY_CUT_KINDS = 16, /* of blocks */
	MEMORY_CUT_MODULES = 32,
	MEMORY_CUT_FILES = 64,
	MEMORY_CUT_HOLDERS = 128, /* of blocks; also where they were not searched */
	/* What rows of kinds depend on. */
	MEMORY_CUT_ROWS = MEMORY_CUT_HEAPS | MEMORY_CUT_KINDS | MEMORY_CUT_HOLDERS,
};

/* For each bit from the lowest on: its name in JSON, and in a sentence. */
#define MEMORY_CUT_COUNT 8
const char *memory_cut_name(unsigned int number);
const char *memory_cut_title(unsigned int number);

/* A group of blocks of one kind. Strings are in the report's pool. */
struct memory_kind {
	const char *kind; /* "class", "text", "pointers", ...; static, or in the pool */
	const char *name; /* "app::Req"; "" = none */
	const char *holder; /* "< static M"; "" = not searched, or not found */
	uint64_t size; /* of each block; 0 = several sizes */
	uint64_t blocks, bytes;
	/* For a sample: half-width of the 95 % interval; 0 = exact. */
	uint64_t blocks_error, bytes_error;
	const char *sample; /* start of a text; "" = not requested, or not a text; untrusted */
	/* Blocks compared with the previous census; HEAP_UNKNOWN = not followed. */
	uint64_t born, gone, unchanged, written;
	uint64_t retained; /* born after the first census, and unchanged in every one since */
	int64_t growth_blocks, growth_bytes; /* since the previous look */
};

/* Blocks of one size with equal contents. Strings are in the report's pool. */
struct memory_copies {
	const char *kind, *name; /* see memory_kind */
	const char *holder; /* of all of them; "" = unknown, or several */
	uint64_t size; /* of each block */
	uint64_t same_bytes; /* number of leading bytes compared; a text up to its end */
	uint64_t blocks, bytes;
	uint64_t address; /* of one of them */
	const char *sample; /* see memory_kind */
};

/* A class of a runtime's objects. */
struct memory_class {
	const char *name;
	uint64_t live, newborn, garbage, old; /* objects */
	uint64_t slot_bytes, other_bytes;
	/* The part of other_bytes in malloc blocks that only an extension's data points to. */
	uint64_t native_bytes;
	uint64_t retained; /* born after the first census, alive at every one since */
	int64_t growth_objects, growth_bytes; /* since the previous look */
	char **holders; /* paths to a root, "Hash of 39400 <- @table of Store <- constant App" */
	size_t holder_count;
	/* Percentage of a sample of its objects held in the first of these ways; 0 = unknown. */
	unsigned int holder_percent;
};

/* A large string or container of a runtime. */
struct memory_longest {
	const char *kind; /* "String", "Array", "Hash"; static */
	uint64_t address;
	uint64_t length, bytes; /* bytes, elements or pairs; and bytes beyond its slot */
	char *sample; /* its start; NULL = not requested, or not a string */
	char *holder; /* a path to a root; NULL = not found */
};

struct memory_runtime {
	const char *name; /* "ruby", "python"; static, or in the pool */
	char version[16];
	struct memory_class *classes; /* by bytes, the largest first */
	size_t class_count, class_capacity;
	struct memory_longest *longest; /* by kind, the longest first; owned */
	size_t longest_count, longest_capacity;
	/* Code by file: `live` pieces; `other_bytes` excludes bytes without a count; owned. */
	struct memory_class *files;
	size_t file_count;
	uint64_t pages, page_bytes, sparse_pages; /* at most 2 % in use */
	uint64_t slots, free_slots;
	uint64_t free_bytes; /* free part of page_bytes; 0 = none, or unknown */
	/*
	 * Thresholds of the generations: new objects, then collections of the younger one; 0 =
	 * none, or unknown.
	 */
	uint32_t gc_thresholds[3];
	uint64_t minor_gcs, major_gcs, gc_ns; /* HEAP_UNKNOWN = not available */
	/* Examined right after a major collection, so live objects are really live */
	bool after_major;
	/*
	 * Malloc's blocks are unknown, all or some: native bytes, and Python objects in such
	 * blocks, are incomplete.
	 */
	bool blocks_unknown;
	struct buffer remarks; /* sentences, one per line */
};

struct memory_verdict {
	const char *cause; /* "fragmentation"; static */
	uint64_t bytes;
	char *text, *remedy; /* sentences; remedy may be NULL */
	bool is_class; /* concerns a class of a runtime */
};

/* The kernel's counts; HEAP_UNKNOWN = not counted, or not visible. */
struct memory_process {
	pid_t pid;
	char comm[16];
	/* Since boot; identifies the process together with the pid; 0 = unknown */
	uint64_t start_ticks;
	uint64_t rss_bytes, swap_bytes,
		mapped_bytes; /* VmRSS, VmSwap, VmSize, right before the look */
	uint64_t rss_after_bytes; /* VmRSS right after it */
	uint64_t pss_bytes; /* the sum of the parts */
	uint64_t huge_bytes; /* anonymous memory in huge pages */
	/* Zero-filled small pages within huge ones: never written, or cleared */
	uint64_t huge_zero_bytes;
	uint64_t threads, mappings;
	uint64_t malloc_free_bytes; /* free in malloc and resident */
};

/* Memory that the kernel holds for the process, not part of its RSS. */
struct memory_kernel {
	uint64_t table_bytes; /* page tables */
	uint64_t stack_bytes; /* kernel stacks of its threads */
	uint64_t hugetlb_bytes; /* pages of hugetlbfs */
	uint64_t sockets, queued_bytes; /* bytes queued in them, to be sent or read */
	uint64_t pipes, files, other_files;
};

/* The account of the process's control group; HEAP_UNKNOWN = line missing. */
struct memory_group {
	bool known;
	bool asked; /* the group itself was selected, not just a process in it */
	uint64_t usage_bytes, limit_bytes;
	uint64_t anon_bytes, file_bytes, shmem_bytes, kernel_bytes, slab_bytes, socket_bytes;
	int64_t growth_bytes; /* of usage_bytes since the previous look; 0 = none, or unknown */
};

struct memory_report {
	struct memory_process process; /* of one process, or the sum of several */
	/* several processes, largest share first; owned */
	struct memory_process *members;
	size_t member_count, member_capacity;
	uint64_t children, children_rss_bytes; /* descendants that were not examined */
	struct purpose_sum parts[PURPOSE_COUNT];
	/* of the previous look; NULL = first look; owned */
	struct purpose_sum *parts_before;
	struct heap_totals *heaps; /* one row per allocator; owned */
	size_t heap_count, heap_capacity;
	struct memory_kind *kinds; /* the largest first; owned */
	size_t kind_count, kind_capacity;
	struct memory_copies *copies; /* the largest first; owned */
	size_t copy_count, copy_capacity;
	struct memory_runtime *runtimes; /* owned */
	size_t runtime_count, runtime_capacity;
	struct memory_kernel kernel;
	struct memory_group group;
	struct memory_verdict *verdicts; /* most important first; owned */
	size_t verdict_count, verdict_capacity;
	int64_t wall_time; /* seconds since the epoch */
	uint64_t duration_ns; /* of the look */
	uint64_t since_ns; /* time since the previous look; 0 = first look */
	uint64_t read_bytes, reads; /* reads of the process's memory */
	uint64_t ended_stacks, cached_stacks; /* threads */
	bool pss_unknown; /* PSS counts shared pages in full */
	bool pss_before_unknown; /* likewise, of the previous look */
	/* Runs another program than at the previous look, so looks are not compared */
	bool executed;
	bool pages_unknown; /* of some mappings it is not known what is in memory */
	unsigned int cut; /* enum memory_cut */
	/* What the growth of is unknown, since one of two looks has not seen all of it; likewise */
	unsigned int growth_unknown;
	struct buffer remarks; /* sentences, one per line, on what could not be examined */
	struct strings names;
};

struct heap_totals *memory_report_add_heap(struct memory_report *report);
struct memory_kind *memory_report_add_kind(struct memory_report *report);
struct memory_copies *memory_report_add_copies(struct memory_report *report);
struct memory_runtime *memory_report_add_runtime(struct memory_report *report);
struct memory_class *memory_runtime_add_class(struct memory_runtime *runtime);
struct memory_longest *memory_runtime_add_longest(struct memory_runtime *runtime);
/* Free what a runtime's row owns; not its strings. */
void memory_runtime_free(struct memory_runtime *runtime);
struct memory_process *memory_report_add_member(struct memory_report *report);
/* Add a verdict; takes over the strings. */
void memory_report_add_verdict(struct memory_report *report, const struct memory_verdict *verdict);
/* Append a sentence to the remarks. */
void memory_report_remark(struct memory_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The growth of a part's RSS since the look before; false = unknown. */
bool memory_report_growth_of_part(const struct memory_report *report, enum purpose purpose,
				  int64_t *ret_growth);
/* Is the growth of a kind's row known? And that of the classes of runtimes? */
bool memory_report_has_kind_growth(const struct memory_report *report,
				   const struct memory_kind *kind);
bool memory_report_has_class_growth(const struct memory_report *report);

/* RSS of all parts. */
uint64_t memory_report_rss(const struct memory_report *report);

/* Free all that it owns and leave an empty report. */
void memory_report_free(struct memory_report *report);

#endif
