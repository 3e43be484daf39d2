/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan: what will be probed, where and why; and what will not. Attaches nothing.
 *
 * Functions with several names are probed once, under the name that the allocator table prefers.
 * One that only jumps to another probed one is left to that one. Two probes never share a site.
 */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "model/module.h"
#include "model/snapshot.h"
#include "probe/named.h"
#include "probe/trap.h"
#include "elf/elf_file.h"

/* How USDT samples are used: the probes otel_memory:alloc and otel_memory:free. */
enum usdt_use {
	USDT_AUTO = 0, /* probe them instead of functions in files that have them */
	USDT_ONLY, /* the same, and do not probe other files */
	USDT_OFF, /* do not probe them */
};

struct plan_options {
	struct probe_features features;
	/* BPF programs take `stack_bytes` into account, so a free may be probed after its stack has grown. */
	bool free_without_stack;
	bool at_entry; /* probe every function at its entry, at any cost */
	bool no_return_probes; /* skip functions that need one */
	bool light; /* skip functions that only free */
	bool inside; /* also probe inside glibc's allocating functions */
	bool seek_walkers; /* use no return probes once a process has a known stack walker */
	bool avoid_switching; /* nor once a file may switch stacks: returns cannot be declined */
	bool ends; /* also probe functions by which a process ends itself */
	/* Functions beyond the table; must outlive the plan; NULL = none. */
	const struct named_list *named;
	enum usdt_use usdt;
};

/* What was found of a named function. */
enum plan_sighting {
	SIGHTING_NONE = 0, /* no file of the name */
	SIGHTING_FILE, /* a file, which does not define the function */
	SIGHTING_MOVING, /* a function whose stack moves while it runs: its return cannot be probed */
	SIGHTING_FUNCTION,
};

struct plan_probe {
	uint32_t module; /* index in the module list of the plan */
	uint32_t function; /* index in `functions`: the id of the shape */
	const char *symbol; /* a static string */
	uint64_t shape; /* with the function id */
	uint64_t entry_offset; /* file offset of the function */
	uint64_t site_offset; /* file offset of the probed instruction */
	uint64_t size; /* of the function, bytes; 0 = unknown */
	uint64_t fixed_size; /* of its blocks, if the shape has a fixed size */
	/* Bytes to add to the stack pointer at the site to get that of the entry. */
	uint32_t stack_bytes;
	uint64_t semaphore; /* file offset of the semaphore; 0 = none */
	struct sample_site sample; /* locations of a sample's arguments, if it is one */
	bool refused; /* the kernel refused it: not attached */
	uint64_t hits; /* counted in windows */
	bool turned; /* added by plan_turn: its function was in the plan before */
	enum probe_cost cost;
	char instruction[64]; /* the probed instruction, disassembled; "" = not decoded */
	char reason[96]; /* why this site: a phrase */
	char aliases[128]; /* other names at the same entry, separated by blanks */
};

struct plan_skip {
	char *sentence; /* the file, the function, and why; owned */
	bool lost; /* the function's effect is seen nowhere else */
};

/* Code of a file that belongs to an allocator: file offsets, `high` is the first behind. */
struct plan_range {
	uint32_t module;
	uint64_t low, high;
};

struct plan {
	struct module_list *modules; /* not owned */
	struct plan_options options;
	struct plan_probe *probes;
	size_t count, capacity;
	struct function_name *functions; /* indexed by function id; id 0 is not used */
	size_t function_count, function_capacity;
	enum plan_sighting *sightings; /* of the named functions, by their index */
	/* Modules that were searched, with or without result. */
	uint32_t *searched;
	size_t searched_count, searched_capacity;
	struct plan_skip *skipped; /* functions left out */
	size_t skipped_count, skipped_capacity;
	size_t sought_count; /* number of modules searched for samples */
	bool has_samplers; /* some have them */
	const char *walker; /* a known stack walker of a process; a static string, NULL = none */
	const char *switching; /* the path of a file that may switch stacks; owned, NULL = none */
	const char *switches_by; /* a function by which it does so; a static string */
	size_t walker_count; /* number of modules examined for both */
	struct plan_range *ranges; /* of files that publish samples */
	size_t range_count, range_capacity;
	uint32_t sample_count; /* keys of sample sites in use */
	bool allocates; /* an added file defines allocator functions */
	char **texts; /* owned: strings that are not static */
	size_t text_count, text_capacity;
};

/* An empty plan for files of `modules`, which must outlive it. Free with plan_free. */
void plan_init(struct plan *plan, struct module_list *modules, const struct plan_options *options);

/*
 * Plan the allocator functions of a file, the module with this index. Returns the number of probes
 * added; 0 is no error: most files have no allocator. The file may be closed afterwards.
 */
size_t plan_add_file(struct plan *plan, uint32_t module, struct elf_file *file);

/* Is this a probe of samples, or of their ends? */
bool plan_probe_is_sample(const struct plan_probe *probe);

/* Are samples probed in a file? */
bool plan_module_samples(const struct plan *plan, uint32_t module);

/*
 * Note whether a file publishes samples. Call for all known files before the first plan_add_file.
 */
void plan_seek_samples(struct plan *plan, struct elf_file *file);

/* Find the allocator's functions of a file that publishes samples. False if there are none. */
bool plan_find_ranges(struct plan *plan, uint32_t module, struct elf_file *file);

/* Does this place lie in an allocator function of a file that publishes samples? */
bool plan_is_in_allocator(const struct plan *plan, uint32_t module, uint64_t offset);

/*
 * Append a sentence if memory may be counted twice: a file publishes samples, and functions of another one are probed. False if
 * there is no such file.
 */
bool plan_describe_overlap(const struct plan *plan, struct buffer *out);

/*
 * Append a sentence if a file may switch stacks: where results are read instead. False if there is
 * none.
 */
bool plan_describe_switching(const struct plan *plan, struct buffer *out);

/* Note a file that cannot be read, and so may have an allocator. */
void plan_add_unreadable(struct plan *plan, uint32_t module);

/*
 * For plans made in another process: add a copy of a text that lives as long as the plan, made safe
 * for display; the id of a function, with such texts (0 = all are taken); a sentence about a file;
 * and a part of its code.
 */
const char *plan_keep_text(struct plan *plan, const char *text);
uint32_t plan_add_function(struct plan *plan, const char *allocator, const char *function);
void plan_add_skip(struct plan *plan, bool lost, const char *sentence);
void plan_add_range(struct plan *plan, uint32_t module, uint64_t low, uint64_t high);

/* Record that something in a file is left out; `lost`: its blocks are seen nowhere else. */
__attribute__((format(printf, 4, 5))) void plan_skip(struct plan *plan, uint32_t module, bool lost,
						     const char *format, ...);

/* Is a probe there? */
bool plan_has_site(const struct plan *plan, uint32_t module, uint64_t offset);

/* Are functions probed inside? Only those of one file are, so their verification applies to all. */
bool plan_is_inside(const struct plan *plan);

/*
 * Number of allocator functions among these probes; the others are exits of such functions, or
 * throws.
 */
size_t plan_count_calls(const struct plan *plan, size_t first, size_t count);

/* Are return probes ruled out from now on, for any function? */
bool plan_avoids_returns(const struct plan *plan);

/* Is it the entry of a call whose result is read by a return probe? */
bool plan_probe_returns(const struct plan_probe *probe);

/*
 * Convert the `count` probes from number `first` on, all of one file, to read results at exits, as
 * in `exits`, a plan of the same file; drops what that lacks. They become the last probes of the
 * plan, in order: first those that were in it before, then, from the returned number on, the
 * others.
 */
size_t plan_turn(struct plan *plan, size_t first, size_t count, const struct plan *exits);

/*
 * Check that every named function was found, or may still come. Returns 0, or -ENOENT with `error`
 * filled (ERROR_NOTHING) if a file of the name lacks the function. Logs functions whose file is not
 * there yet.
 */
int plan_check_named(const struct plan *plan, const struct log *log, struct error *error);

/*
 * Append one line without newline: how many functions were found in which files, counting probes
 * from number `first` on, except those that were there before. Appends nothing if there are none.
 */
void plan_summarize(const struct plan *plan, size_t first, struct buffer *out);

/*
 * Append the plan as text: for each function its file, names, entry, site, instruction, cost of a
 * trap and reason; then what was skipped and why.
 */
void plan_describe(const struct plan *plan, struct buffer *out);

void plan_free(struct plan *plan);

#endif
