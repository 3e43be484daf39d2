/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_table.h. */
#include "kernel/interp_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/table.h"
#include "decode/decoder.h"
#include "frames/frames_table.h"
#include "frames/gc_search.h"
#include "frames/interp_search.h"
#include "frames/interp_stack.h"
#include "kernel/interp_codes.h"

/* How long after an attempt the next one comes: doubled each time, up to a limit, which is lower for a program that begins. */
#define RETRY_MIN_NS 10000000ull
#define RETRY_SOON_NS 80000000ull
#define RETRY_MAX_NS 1000000000ull
#define BEGINNING_NS 10000000000ull

/* A search of memory that has too much to search takes long: how often it is tried, once in RETRY_MAX_NS. */
#define SPENT_MAX 5
#define PATIENCE_NS 5000000000ull /* before the message */

/* How often garbage collectors are looked at: all of them, and more rarely where there are many. */
#define GC_LOOK_NS 50000000ull
#define GC_LOOK_EACH_NS 1000000ull

struct interp_module {
	bool known;
	int code; /* 0, -ENOTSUP or -ENOENT, as of frames_table_read_file */
	struct interp_file file;
};

enum interp_state {
	INTERP_WAITING, /* next search at `due_ns` */
	INTERP_FOUND,
	INTERP_REFUSED, /* it has one whose frames cannot be read */
	INTERP_ABSENT, /* nothing that it has mapped is one */
};

struct interp_process_entry {
	const struct process *process;
	struct call_patience timing; /* of reading its mappings */
	uint32_t target_id;
	enum interp_state state;
	uint64_t due_ns, wait_ns;
	uint64_t since_ns; /* first attempt; 0 = none */
	bool reported; /* the message that it has none, or none that can be read */
	unsigned int spent; /* searches of its memory that were given up */
	struct interp_reader reader;
	struct interp_found found;
	bool point_is_set; /* its function that ends code is probed */
	struct known_frames known;
	struct gc_search gc_search;
	struct gc_clock gc_clock;
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
	uint64_t gc_look_ns; /* next look at garbage collectors */
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

void interp_table_see(struct interp_table *table, const struct process *process, uint32_t target_id)
{
	struct interp_process_entry *entry = table_entry(table, process);

	if (!entry) {
		table->entries = memory_grow(table->entries, table->count, &table->capacity,
					     sizeof(*table->entries));
		entry = &table->entries[table->count++];
		*entry = (struct interp_process_entry){ .process = process,
							.target_id = target_id,
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
		bpf_map_delete_elem(table->processes, &entry->target_id);
	frame_names_forget(&entry->known);
	entry->gc_search = (struct gc_search){ 0 };
	entry->gc_clock = (struct gc_clock){ 0 };
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

/* What a module holds, read from its file once. For struct interp_files. */
static int table_read_module(void *context, uint32_t index, const struct interp_file **ret_file)
{
	struct interp_table *table = context;
	const struct module *module = module_list_get(table->modules, index);
	struct interp_module *known = table_module(table, index);

	*ret_file = &known->file;
	if (known->known)
		return known->code;
	known->known = module->fd >= 0;
	if (module->fd >= 0)
		known->code = decoder_interpreter(table->decoder, module, &known->file);
	if (module->fd < 0 || (known->code && known->code != -ENOTSUP))
		known->code = -ENOENT;
	return known->code;
}

void interp_table_forget_module(struct interp_table *table, uint32_t module)
{
	if (module < table->module_count)
		table->by_module[module] = (struct interp_module){ 0 };
}

/* Report, once, why a process has native frames only. */
static void table_warn(struct interp_table *table, struct interp_process_entry *entry,
		       const char *why)
{
	const struct interp_file *file;
	char text[64];

	if (entry->reported || entry->found.module == MODULE_NONE)
		return;
	table_read_module(table, entry->found.module, &file);
	entry->reported = true;
	log_write(table->log, LOG_NOTICE, "process %d has %s, whose own frames cannot be shown: %s",
		  entry->process->target.pid, interp_file_describe(file, text), why);
}

static void table_take(struct interp_table *table, struct interp_process_entry *entry)
{
	struct interpreter *interpreter = &entry->found.interpreter;
	const struct frames_ops *ops = frames_table_get(interpreter->kind);
	int code;

	interpreter->process.generation = ++table->generation & UINT16_MAX;
	interpreter->process.seed = seed_new();
	interpreter->process.memo = entry->point_is_set ||
				    (ops->code_is_freed && !entry->process->frees_unseen);
	code = bpf_map_update_elem(table->processes, &entry->target_id, &interpreter->process,
				   BPF_ANY);
	__atomic_store_n(table->any, 1, __ATOMIC_RELEASE);
	entry->state = INTERP_FOUND;
	if (code)
		table_warn(table, entry, strerror(-code));
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
		table_warn(table, entry, "no thread is seen to run it");
}

/* Look once. */
static void table_try(struct interp_table *table, struct interp_process_entry *entry,
		      uint64_t now_ns)
{
	const struct interp_files files = { table_read_module, table };
	const struct interp_file *file;
	int code = interp_search_process(table->modules, &files, &entry->reader, &entry->timing,
					 &entry->found);

	if (!code) {
		entry->point_is_set = false;
		table_take(table, entry);
	} else if (code == -ENOENT || code == -ESRCH) {
		entry->state = INTERP_ABSENT;
	} else if (entry->found.module != MODULE_NONE &&
		   table_read_module(table, entry->found.module, &file)) {
		entry->state = INTERP_REFUSED;
		table_warn(table, entry, "the layout of its structures is unknown");
	} else if (code == -E2BIG && ++entry->spent >= SPENT_MAX) {
		entry->state = INTERP_REFUSED;
		table_warn(table, entry, "too much of its memory looks like threads");
	} else {
		entry->wait_ns = code == -E2BIG ? RETRY_MAX_NS : entry->wait_ns;
		table_wait(table, entry, now_ns);
	}
}

/* `now_ns` is before the look, since a collection may begin while it is made. */
static void table_look_at_gc(struct interp_process_entry *entry, uint64_t now_ns)
{
	struct target_memory memory = interp_reader_memory(&entry->reader);
	bool is_running;
	uint64_t count;

	if (gc_search_run(&entry->gc_search, &entry->found.interpreter, &memory, now_ns) &&
	    gc_counter_read(&entry->gc_search.counter, &memory, &count, &is_running))
		gc_clock_look(&entry->gc_clock, now_ns, count, is_running);
}

static bool table_has_gcs(const struct interp_process_entry *entry)
{
	return entry->state == INTERP_FOUND && !entry->process->target.exited &&
	       gc_search_is_known(&entry->found.interpreter);
}

/* Returns when the next look is; 0 = there is nothing to look at. */
static uint64_t table_look_at_gcs(struct interp_table *table, uint64_t now_ns)
{
	uint64_t looked = 0;
	size_t i;

	for (i = 0; i < table->count; i++) {
		struct interp_process_entry *entry = &table->entries[i];

		if (!table_has_gcs(entry))
			continue;
		looked++;
		if (table->gc_look_ns <= now_ns)
			table_look_at_gc(entry, clock_now_ns());
	}
	if (table->gc_look_ns <= now_ns)
		table->gc_look_ns = now_ns + GC_LOOK_NS + looked * GC_LOOK_EACH_NS;
	return looked ? table->gc_look_ns : 0;
}

const struct gc_clock *interp_table_gc_clock(struct interp_table *table,
					     const struct process *process)
{
	struct interp_process_entry *entry = table_entry(table, process);

	/* A report may come before the first look. */
	if (entry && !entry->gc_clock.is_known && table_has_gcs(entry))
		table_look_at_gc(entry, clock_now_ns());
	return entry && entry->gc_clock.is_known ? &entry->gc_clock : NULL;
}

uint64_t interp_table_poll(struct interp_table *table, uint64_t now_ns)
{
	uint64_t next = table_look_at_gcs(table, now_ns);
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

		if (entry->state != INTERP_FOUND || !entry->found.has_point)
			continue;
		entry->found.has_point = false;
		*ret_point = (struct interp_point){ .process = entry->process,
						    .target_id = entry->target_id,
						    .module = entry->found.module,
						    .offset = entry->found.point };
		return true;
	}
	return false;
}

void interp_table_point_set(struct interp_table *table, const struct interp_point *point)
{
	struct interp_process_entry *entry = table_entry(table, point->process);

	if (!entry || entry->state != INTERP_FOUND)
		return;
	entry->point_is_set = true;
	entry->found.interpreter.process.memo = 1;
	bpf_map_update_elem(table->processes, &entry->target_id, &entry->found.interpreter.process,
			    BPF_ANY);
}

void interp_table_disable_memo(struct interp_table *table, struct process *process)
{
	struct interp_process_entry *entry = table_entry(table, process);

	if (process->frees_unseen)
		return;
	process->frees_unseen = true;
	if (entry && entry->state == INTERP_FOUND)
		table_take(table, entry);
}

static const struct interp_code *table_find_copy(void *context, uint64_t content)
{
	return interp_codes_get(context, content);
}

struct stack *interp_table_merge(struct interp_table *table, const struct process *process,
				 struct stack *stack, const struct interp_record *record)
{
	struct interp_process_entry *entry = table_entry(table, process);
	struct interp_stack_source source;

	if (!entry || entry->state != INTERP_FOUND || entry->found.interpreter.kind != record->kind)
		return stack;
	source = (struct interp_stack_source){ .modules = table->modules,
					       .target = &entry->process->target,
					       .interpreter = &entry->found.interpreter,
					       .module = entry->found.module,
					       .memory = interp_reader_memory(&entry->reader),
					       .names = table->names,
					       .known = &entry->known,
					       .find_copy = table_find_copy,
					       .context = table->codes };
	return interp_stack_merge(&source, stack, record);
}
