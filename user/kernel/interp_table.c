/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_table.h. */
#include "kernel/interp_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/table.h"
#include "decode/decoder.h"
#include "interp/frame_names.h"
#include "interp/interp_merge.h"
#include "interp/interp_reader.h"
#include "kernel/interp_codes.h"
#include "system/proc.h"

/* How long after an attempt the next one comes: doubled each time, up to a limit, which is lower for a program that begins. */
#define RETRY_MIN_NS 10000000ull
#define RETRY_SOON_NS 80000000ull
#define RETRY_MAX_NS 1000000000ull
#define BEGINNING_NS 10000000000ull

/* A search of memory that has too much to search takes long: how often it is tried, once in RETRY_MAX_NS. */
#define SPENT_MAX 5
#define PATIENCE_NS 5000000000ull /* before somebody is told */

struct interp_module {
	bool known;
	int code; /* 0, -ENOTSUP or -ENOENT, as of interp_file_read */
	struct interp_file file;
};

enum interp_state {
	INTERP_WAITING, /* to be looked for at `due_ns` */
	INTERP_FOUND,
	INTERP_REFUSED, /* it has one whose frames cannot be read */
	INTERP_ABSENT, /* nothing that it has mapped is one */
};

struct interp_process_entry {
	const struct process *process;
	struct call_patience timing; /* of reading its mappings */
	uint32_t owner;
	enum interp_state state;
	uint64_t due_ns, wait_ns;
	uint64_t since_ns; /* first attempt; 0 = none */
	bool told; /* that it has none, or none that can be read */
	unsigned int spent; /* searches of its memory that were given up */
	struct interp_reader reader;
	uint32_t module; /* of the interpreter */
	struct interpreter interpreter;
	bool has_point;
	uint64_t point; /* offset of its function that ends code, in the module's file */
	struct known_frames known;
};

struct interp_table {
	const struct module_list *modules;
	struct decoder *decoder;
	const struct log *log;
	int processes; /* the map */
	uint32_t *any;
	struct interp_codes *codes;
	struct interp_module *by_module;
	size_t module_count;
	struct interp_process_entry *entries;
	size_t count, capacity;
	uint32_t generation; /* of the last interpreter that was found */
	struct call_patience patience; /* for the memory of all processes */
	struct frame_names *names;
};

struct interp_table *interp_table_new(const struct module_list *modules, struct decoder *decoder,
				      const struct log *log, const struct interp_maps *maps)
{
	struct interp_table *table = memory_alloc(1, sizeof(*table));

	table->modules = modules;
	table->decoder = decoder;
	table->log = log;
	table->processes = maps->processes;
	table->any = maps->any;
	table->codes = interp_codes_new(maps->codes);
	table->names = frame_names_new();
	table->patience.full_ns = INTERP_READER_PATIENCE_NS;
	return table;
}

struct name_pool *interp_table_pool(const struct interp_table *table)
{
	return frame_names_pool(table->names);
}

void interp_table_free(struct interp_table *table)
{
	if (!table)
		return;
	while (table->count)
		frame_names_forget(&table->entries[--table->count].known);
	frame_names_free(table->names);
	interp_codes_free(table->codes);
	free(table->by_module);
	free(table->entries);
	free(table);
}

static struct interp_process_entry *table_entry(struct interp_table *table,
						const struct process *process)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (table->entries[i].process == process)
			return &table->entries[i];
	return NULL;
}

void interp_table_see(struct interp_table *table, const struct process *process, uint32_t owner)
{
	struct interp_process_entry *entry = table_entry(table, process);

	if (!entry) {
		table->entries = memory_grow(table->entries, table->count, &table->capacity,
					     sizeof(*table->entries));
		entry = &table->entries[table->count++];
		*entry = (struct interp_process_entry){ .process = process,
							.owner = owner,
							.state = INTERP_ABSENT };
	}
	if (entry->state != INTERP_ABSENT)
		return;
	entry->state = INTERP_WAITING;
	entry->due_ns = 0;
	entry->since_ns = 0;
	entry->wait_ns = RETRY_MIN_NS;
	entry->spent = 0;
	entry->reader = (struct interp_reader){ process->target.pid, &table->patience, false };
}

void interp_table_forget(struct interp_table *table, const struct process *process)
{
	struct interp_process_entry *entry = table_entry(table, process);

	if (!entry)
		return;
	if (entry->state == INTERP_FOUND)
		bpf_map_delete_elem(table->processes, &entry->owner);
	frame_names_forget(&entry->known);
	entry->state = INTERP_ABSENT;
}

void interp_table_drop(struct interp_table *table, const struct process *process)
{
	struct interp_process_entry *entry = table_entry(table, process);

	interp_table_forget(table, process);
	if (entry)
		*entry = table->entries[--table->count];
}

static struct interp_module *table_module(struct interp_table *table, uint32_t index)
{
	size_t count = table->module_count;

	if (index >= count) {
		table->module_count = table->modules->count;
		table->by_module = memory_resize(table->by_module, table->module_count,
						 sizeof(*table->by_module));
		memset(table->by_module + count, 0,
		       (table->module_count - count) * sizeof(*table->by_module));
	}
	return &table->by_module[index];
}

/* What a module holds, read from its file once. */
static const struct interp_module *table_read_module(struct interp_table *table, uint32_t index)
{
	const struct module *module = module_list_get(table->modules, index);
	struct interp_module *known = table_module(table, index);

	if (known->known)
		return known;
	known->known = module->fd >= 0;
	if (module->fd >= 0)
		known->code = decoder_interpreter(table->decoder, module, &known->file);
	if (module->fd < 0 || (known->code && known->code != -ENOTSUP))
		known->code = -ENOENT;
	return known;
}

void interp_table_forget_module(struct interp_table *table, uint32_t module)
{
	if (module < table->module_count)
		table->by_module[module] = (struct interp_module){ 0 };
}

/* Where in a process an interpreter may be. */
struct interp_site {
	uint32_t module;
	uint64_t start; /* of the mapping of its first byte */
	uint64_t inode;
	struct memory_range *ranges;
	size_t range_count;
};

static void table_look_at(struct interp_table *table, const struct proc_mapping *mapping,
			  struct interp_site *site)
{
	uint32_t index;

	if (!mapping->inode) {
		if (mapping->readable && mapping->writable && strcmp(mapping->path, "[stack]") != 0)
			site->ranges[site->range_count++] =
				(struct memory_range){ mapping->start, mapping->end };
		return;
	}
	if (site->module != MODULE_NONE || mapping->file_offset)
		return;
	index = module_list_find(table->modules, mapping->device, mapping->inode, mapping->path);
	if (index == MODULE_NONE || table_read_module(table, index)->code == -ENOENT)
		return;
	site->module = index;
	site->start = mapping->start;
	site->inode = mapping->inode;
}

/* Where in the file the code at an address stands. */
static bool interp_find_point(const struct proc_map_list *maps, uint64_t inode, uint64_t address,
			      uint64_t *ret_offset)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		const struct proc_mapping *mapping = &maps->items[i];

		if (address < mapping->start || address >= mapping->end)
			continue;
		*ret_offset = address - mapping->start + mapping->file_offset;
		return mapping->executable && mapping->inode == inode;
	}
	return false;
}

/* Returns as interpreter_find; -ENOENT if nothing that is mapped is an interpreter. */
static int table_find(struct interp_table *table, struct interp_process_entry *entry)
{
	struct target_memory memory = interp_reader_memory(&entry->reader);
	struct interp_site site = { .module = MODULE_NONE };
	const struct interp_module *module;
	struct proc_map_list maps;
	int code = proc_read_maps_within(entry->process->target.pid, false, &entry->timing, &maps);
	size_t i;

	if (code)
		return code;
	site.ranges = memory_alloc(maps.count, sizeof(*site.ranges));
	for (i = 0; i < maps.count; i++)
		table_look_at(table, &maps.items[i], &site);
	code = -ENOENT;
	entry->module = site.module;
	if (site.module != MODULE_NONE) {
		module = table_read_module(table, site.module);
		code = module->code;
		if (!code)
			code = interpreter_find(&module->file, site.start, &memory, site.ranges,
						site.range_count, &entry->interpreter);
	}
	if (!code)
		entry->has_point = interp_find_point(&maps, site.inode, entry->interpreter.code_end,
						     &entry->point);
	proc_map_list_free(&maps);
	free(site.ranges);
	return code;
}

/* Tell, once, why a process has native frames only. */
static void table_tell(struct interp_table *table, struct interp_process_entry *entry,
		       const char *why)
{
	const struct interp_module *module = table_read_module(table, entry->module);
	char text[64];

	if (entry->told || entry->module == MODULE_NONE)
		return;
	entry->told = true;
	log_write(table->log, LOG_NOTICE, "process %d has %s, whose own frames cannot be shown: %s",
		  entry->process->target.pid, interp_file_describe(&module->file, text), why);
}

static void table_take(struct interp_table *table, struct interp_process_entry *entry)
{
	int code;

	entry->interpreter.process.generation = ++table->generation & UINT16_MAX;
	entry->interpreter.process.seed = seed_new();
	entry->interpreter.process.ruby.unwatched = entry->process->frees_unseen;
	code = bpf_map_update_elem(table->processes, &entry->owner, &entry->interpreter.process,
				   BPF_ANY);
	__atomic_store_n(table->any, 1, __ATOMIC_RELEASE);
	entry->state = INTERP_FOUND;
	if (code)
		table_tell(table, entry, strerror(-code));
}

/* It may only begin just now; or never run, or be laid out in a way that makes no sense. */
static void table_wait(struct interp_table *table, struct interp_process_entry *entry,
		       uint64_t now_ns)
{
	entry->due_ns = now_ns + entry->wait_ns;
	if (!entry->since_ns)
		entry->since_ns = now_ns;
	if (entry->wait_ns <
	    (now_ns - entry->since_ns < BEGINNING_NS ? RETRY_SOON_NS : RETRY_MAX_NS))
		entry->wait_ns *= 2;
	if (now_ns - entry->since_ns > PATIENCE_NS)
		table_tell(table, entry, "no thread is seen to run it");
}

/* Look once. */
static void table_try(struct interp_table *table, struct interp_process_entry *entry,
		      uint64_t now_ns)
{
	int code = table_find(table, entry);

	if (!code) {
		table_take(table, entry);
	} else if (code == -ENOENT || code == -ESRCH) {
		entry->state = INTERP_ABSENT;
	} else if (entry->module != MODULE_NONE && table_read_module(table, entry->module)->code) {
		entry->state = INTERP_REFUSED;
		table_tell(table, entry, "the layout of its structures is unknown");
	} else if (code == -E2BIG && ++entry->spent >= SPENT_MAX) {
		entry->state = INTERP_REFUSED;
		table_tell(table, entry, "too much of its memory looks like threads");
	} else {
		entry->wait_ns = code == -E2BIG ? RETRY_MAX_NS : entry->wait_ns;
		table_wait(table, entry, now_ns);
	}
}

uint64_t interp_table_poll(struct interp_table *table, uint64_t now_ns)
{
	uint64_t next = 0;
	size_t i;

	for (i = 0; i < table->count; i++) {
		struct interp_process_entry *entry = &table->entries[i];

		if (entry->state == INTERP_WAITING && entry->process->target.exited)
			entry->state = INTERP_ABSENT;
		if (entry->state == INTERP_WAITING && entry->due_ns <= now_ns)
			table_try(table, entry, now_ns);
		if (entry->state == INTERP_WAITING)
			deadline_add(&next, entry->due_ns);
	}
	return next;
}

bool interp_table_next_point(struct interp_table *table, struct interp_point *ret_point)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		struct interp_process_entry *entry = &table->entries[i];

		if (entry->state != INTERP_FOUND || !entry->has_point)
			continue;
		entry->has_point = false;
		*ret_point = (struct interp_point){ .process = entry->process,
						    .owner = entry->owner,
						    .module = entry->module,
						    .offset = entry->point };
		return true;
	}
	return false;
}

void interp_table_point_set(struct interp_table *table, const struct interp_point *point)
{
	struct interp_process_entry *entry = table_entry(table, point->process);

	if (!entry || entry->state != INTERP_FOUND)
		return;
	entry->interpreter.process.python.watched = 1;
	bpf_map_update_elem(table->processes, &entry->owner, &entry->interpreter.process, BPF_ANY);
}

void interp_table_doubt(struct interp_table *table, struct process *process)
{
	struct interp_process_entry *entry = table_entry(table, process);

	if (process->frees_unseen)
		return;
	process->frees_unseen = true;
	if (entry && entry->state == INTERP_FOUND)
		table_take(table, entry);
}

static bool path_begins(const struct module *module, const char *beginning)
{
	const char *name = module ? strrchr(module->path, '/') : NULL;

	return name && !strncmp(name + 1, beginning, strlen(beginning));
}

/* The program that only calls its interpreter library's main function. */
static bool table_is_launcher(const struct process *process, const struct module *module)
{
	return module && process->target.exe && !strcmp(module->path, process->target.exe) &&
	       (path_begins(module, "ruby") || path_begins(module, "python"));
}

static enum merge_place table_place(const struct interp_table *table,
				    const struct interp_process_entry *entry,
				    const struct frame *frame)
{
	const struct module *module = module_list_get(table->modules, frame->module);
	const struct interpreter *interpreter = &entry->interpreter;

	if (frame->kind != FRAME_NATIVE || !module)
		return MERGE_OTHER;
	if (frame->address - 1 >= interpreter->loop_start &&
	    frame->address - 1 < interpreter->loop_end)
		return MERGE_LOOP;
	if (frame->module == entry->module || table_is_launcher(entry->process, module))
		return MERGE_RUNTIME;
	if (path_begins(module, "libc.so") || path_begins(module, "libc-") ||
	    path_begins(module, "libpthread") || path_begins(module, "ld-"))
		return MERGE_START;
	return MERGE_OTHER;
}

/* Name the frames. Returns how many are to be shown. */
static size_t table_name_frames(struct interp_table *table, struct interp_process_entry *entry,
				const struct interp_record *record, struct merge_interp *to)
{
	uint32_t count = record->count < INTERP_FRAMES_MAX ? record->count : INTERP_FRAMES_MAX, i;
	struct target_memory memory = interp_reader_memory(&entry->reader);
	const struct frame_named *named = NULL;
	const struct interp_code *copy;
	bool covered = false;
	size_t kept = 0;

	for (i = 0; i < count; i++) {
		const struct interp_frame *frame = &record->frames[i];

		copy = frame->content ? interp_codes_get(table->codes, frame->content) : NULL;
		named = frame_names_get(table->names, &entry->known, &entry->interpreter, &memory,
					frame, copy);
		if (covered && kept) {
			to[kept - 1].entry |= frame->flags & INTERP_FRAME_ENTRY;
		} else {
			to[kept].frame = (struct frame){
				.kind = record->kind == INTERP_RUBY ? FRAME_RUBY : FRAME_PYTHON,
				.module = MODULE_NONE,
				.address = frame->code,
				.name = named ? named->name : NULL,
			};
			to[kept++].entry = frame->flags & INTERP_FRAME_ENTRY;
		}
		covered = named && named->covers_next;
	}
	return kept;
}

static const char *interp_end_reason(uint32_t end)
{
	if (end == INTERP_END_DEPTH)
		return "interpreter stack deeper than --stack-depth";
	return end == INTERP_END_UNREADABLE ? "interpreter stack could not be read" : NULL;
}

struct stack *interp_table_merge(struct interp_table *table, const struct process *process,
				 struct stack *stack, const struct interp_record *record)
{
	struct interp_process_entry *entry = table_entry(table, process);
	size_t room = (size_t)stack->count + INTERP_FRAMES_MAX + 1, interp_count, i;
	const char *reason = interp_end_reason(record->end);
	struct merge_interp *interp;
	struct merge_native *native;
	struct stack *merged;

	if (!entry || entry->state != INTERP_FOUND || entry->interpreter.kind != record->kind)
		return stack;
	native = memory_alloc(stack->count + 1, sizeof(*native));
	interp = memory_alloc(INTERP_FRAMES_MAX, sizeof(*interp));
	merged = memory_alloc(1, sizeof(*merged) + room * sizeof(merged->frames[0]));
	for (i = 0; i < stack->count; i++)
		native[i] = (struct merge_native){ stack->frames[i],
						   table_place(table, entry, &stack->frames[i]) };
	interp_count = table_name_frames(table, entry, record, interp);
	merged->count =
		(uint32_t)interp_merge(native, stack->count, interp, interp_count, merged->frames);
	if (reason && (!merged->count || merged->frames[merged->count - 1].kind != FRAME_ERROR))
		merged->frames[merged->count++] = (struct frame){ .kind = FRAME_ERROR,
								  .module = MODULE_NONE,
								  .reason = reason };
	free(native);
	free(interp);
	stack_free(stack);
	return merged;
}
