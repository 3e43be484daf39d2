/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What will be probed, where and why; and what will not. Made without attaching anything.
 *
 * A function with several names is probed once, under the name that the allocator table prefers. A function that is
 * nothing but a jump to another probed one is left to that one. Two probes never share a site.
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
#include "system/elf_file.h"

/* What becomes of the places where files publish samples: the probes otel_memory:alloc and otel_memory:free. */
enum usdt_use {
	USDT_AUTO = 0, /* in files that have them, they are probed instead of functions */
	USDT_ONLY, /* and other files are not probed at all */
	USDT_OFF, /* they are not probed */
};

struct plan_options {
	struct probe_features features;
	/* BPF programs take `stack_bytes` into account, so a free may be probed after its stack has grown. */
	bool free_without_stack;
	bool at_entry; /* probe every function at its entry, whatever it costs */
	bool no_return_probes; /* functions of which the result cannot be read without are left out */
	bool light; /* functions that only free are left out */
	bool inside; /* functions of glibc that allocate are probed inside, too */
	bool seek_walkers; /* do the same once a process has a known stack walker */
	bool avoid_switching; /* and once a file may switch stacks: returns cannot be declined */
	bool ends; /* functions by which a process ends itself are probed, too */
	/* Functions beyond the table; must outlive the plan; NULL = none. */
	const struct named_list *named;
	enum usdt_use usdt;
};

/* What was seen of a named function. */
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
	/* What the stack pointer at the site has to be raised by to be that of the entry. */
	uint32_t stack_bytes;
	uint64_t semaphore; /* offset in the file of the count of who listens; 0 = there is none */
	struct sample_site sample; /* where a sample's arguments are, if it publishes one */
	bool refused; /* by the kernel: it is not in */
	uint64_t hits; /* that windows of tracing have counted */
	bool turned; /* by plan_turn: it was in the plan before */
	enum probe_cost cost;
	char instruction[64]; /* the probed instruction, disassembled; "" = not decoded */
	char reason[96]; /* why this site: a phrase */
	char aliases[128]; /* other names at the same entry, separated by blanks */
};

struct plan_skip {
	char *sentence; /* the file, the function, and why; owned */
	bool lost; /* what the function does is seen nowhere else */
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
	/* Modules whose functions were asked for, whether they had any or not. */
	uint32_t *searched;
	size_t searched_count, searched_capacity;
	struct plan_skip *skipped; /* what was left out */
	size_t skipped_count, skipped_capacity;
	size_t sought_count; /* modules that were searched for samples */
	bool has_samplers; /* some do */
	const char *walker; /* a known stack walker of a process; a static string, NULL = none */
	const char *switching; /* the path of a file that may switch stacks; owned, NULL = none */
	const char *switches_by; /* a function by which it does so; a static string */
	size_t walker_count; /* modules that were looked at for both */
	struct plan_range *ranges; /* of files that publish samples */
	size_t range_count, range_capacity;
	uint32_t sample_count; /* keys of sample sites that are taken */
	bool allocates; /* a file was added that defines functions that allocate or free */
	char **texts; /* owned: what is not static */
	size_t text_count, text_capacity;
};

/* An empty plan for files of `modules`, which must outlive it. Free with plan_free. */
void plan_init(struct plan *plan, struct module_list *modules, const struct plan_options *options);

/*
 * Plan the allocator functions of a file, which is the module of this index. Returns how many probes were added; 0 is
 * no error: most files hold no allocator. The file may be closed afterwards.
 */
size_t plan_add_file(struct plan *plan, uint32_t module, struct elf_file *file);

/* Is this a place where a program publishes samples, or their ends? */
bool plan_probe_is_sample(const struct plan_probe *probe);

/* Does a file publish samples by what is probed in it? */
bool plan_module_samples(const struct plan *plan, uint32_t module);

/* Note whether a file publishes samples. All that are known are asked before the first is added to the plan. */
void plan_seek_samples(struct plan *plan, struct elf_file *file);

/* Find the allocator's functions of a file that publishes samples. False if there are none. */
bool plan_find_ranges(struct plan *plan, uint32_t module, struct elf_file *file);

/* Is this place in a file that publishes samples in one of its allocator's functions? */
bool plan_is_in_allocator(const struct plan *plan, uint32_t module, uint64_t offset);

/*
 * Append a sentence if memory may be counted twice: a file publishes samples, and functions of another one are probed. False if
 * there is no such file.
 */
bool plan_describe_overlap(const struct plan *plan, struct buffer *out);

/* Append a sentence if a file may switch stacks: where results are read for that. False if there is none. */
bool plan_describe_switching(const struct plan *plan, struct buffer *out);

/* Note a file that cannot be read: what it defines is not known. */
void plan_add_unreadable(struct plan *plan, uint32_t module);

/*
 * For plans that are made elsewhere and taken over: a copy of a text that lives as long as the plan, made safe to be shown; the
 * id of a function, with such texts (0 = all are taken); a sentence about a file; and a part of its code.
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

/* Are functions of a file probed inside, too? Of one file only: what verifies them counts for all. */
bool plan_is_inside(const struct plan *plan);

/* Probes among these that are functions that allocate or free; others are where such a function returns or throws. */
size_t plan_count_calls(const struct plan *plan, size_t first, size_t count);

/* Must no return be probed any more, whatever the function? */
bool plan_avoids_returns(const struct plan *plan);

/* Is it the entry of a call whose result is read by a return probe? */
bool plan_probe_returns(const struct plan_probe *probe);

/*
 * The `count` probes from number `first` on are all of one file. Have the plan read the results of
 * its functions at their exits, as `exits`, a plan of the same file, does: what that lacks is left
 * out. The probes are now the last of the plan, in order: those that were in it before, from the
 * number on that is returned the others.
 */
size_t plan_turn(struct plan *plan, size_t first, size_t count, const struct plan *exits);

/*
 * Has every named function been found, or may it still come? Returns 0, or -ENOENT with `error` filled (ERROR_NOTHING) if
 * a file of the name lacks the function. Functions whose file is not there yet are logged.
 */
int plan_check_named(const struct plan *plan, const struct log *log, struct error *error);

/*
 * Append one line without its end: how many functions were found in which files, of the probes from number `first` on, but for
 * those that were there before. Nothing is appended if there are none.
 */
void plan_summarize(const struct plan *plan, size_t first, struct buffer *out);

/*
 * Append the plan for a person: for each function its file, names, entry, site, the instruction there, what a trap on
 * it costs and why it was chosen; then what was skipped and why.
 */
void plan_describe(const struct plan *plan, struct buffer *out);

void plan_free(struct plan *plan);

#endif
