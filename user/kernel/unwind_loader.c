/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See unwind_loader.h. */
#include "kernel/unwind_loader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "decode/decoder.h"
#include "system/process_memory.h"
#include "tracer.skel.h"
#include "unwind/unwind_tables.h"

/* Rows: 32 MB; a compiler with LLVM has 2.5 million, a large interpreter with its libraries 0.2. Pages: 1 GB of code. */
#define LOADER_ROWS UNWIND_ROWS_MAX
/* 4 MB is the most that kernels before 5.17 give a value. */
#define LOADER_ROWS_SMALL (1u << 19)
#define LOADER_PAGES (1u << 18)
/* The kernel gives elements of mappable arrays eight bytes. */
#define LOADER_GENERATION_STRIDE 2

/* Files that are open and that nobody maps have no more of the rows than this part, and the last one of them. */
#define LOADER_EXPECTED_PART 8

/* Files that BPF programs find by inode where a mapping is not published yet. */
#define LOADER_FILES 4096
#define LOADER_BLOCKS 4096

/* Generations after which a cache is zeroed: see unwind_maps.bpf.h. */
#define LOADER_CACHE_LIFE (UNWIND_CACHE_GENERATIONS / 2)

#define VDSO_SIZE_MAX (1u << 20)
/* Its pages are the kernel's own: they come at once. */
#define VDSO_PATIENCE_NS 1000000000

/* An index of the maps. */
struct loader_process {
	uint32_t target_id; /* 0 = not in use */
	struct unwind_mappings mappings; /* as published last */
};

struct unwind_loader {
	struct tracer_bpf *bpf;
	const struct module_list *modules;
	struct decoder *decoder;
	const struct log *log;
	struct unwind_tables tables;
	__u64 *rows; /* mapped */
	uint32_t *pages, *generations; /* mapped */
	struct loader_process *processes;
	/* Those with tables at a time; others are walked by frame pointers. */
	uint32_t process_count;
	struct unwind_mappings *scratch;
	bool warned_full;
	uint64_t refused; /* files whose rows found no room */
	bool is_full; /* a table has found no room since unwind_loader_forget_modules */
};

/* What the kernel has room for is found out by trying. */
static uint32_t loader_rows(void)
{
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(uint32_t),
				 LOADER_ROWS * (uint32_t)sizeof(__u64), 1, NULL);

	if (map < 0)
		return LOADER_ROWS_SMALL;
	close(map);
	return LOADER_ROWS;
}

static uint32_t loader_row_count(const struct unwind_loader *loader)
{
	return loader->bpf->rodata->unwind_rows_mask + 1;
}

void unwind_loader_prepare(struct tracer_bpf *bpf, bool by_tables, uint32_t processes)
{
	uint32_t rows = by_tables ? loader_rows() : 2, pages = by_tables ? LOADER_PAGES : 2;

	if (!by_tables)
		processes = 1;
	bpf->rodata->setting_unwind = by_tables;
	bpf->rodata->unwind_rows_mask = rows - 1;
	bpf->rodata->unwind_pages_mask = pages - 1;
	bpf_map__set_value_size(bpf->maps.unwind_rows, rows * (uint32_t)sizeof(__u64));
	bpf_map__set_value_size(bpf->maps.unwind_pages, pages * (uint32_t)sizeof(uint32_t));
	bpf_map__set_max_entries(bpf->maps.unwind_processes, processes);
	bpf_map__set_max_entries(bpf->maps.unwind_files, by_tables ? LOADER_FILES : 1);
	bpf_map__set_max_entries(bpf->maps.unwind_new_mappings, by_tables ? LOADER_BLOCKS : 1);
	bpf_map__set_max_entries(bpf->maps.unwind_generations, processes);
	bpf_map__set_max_entries(bpf->maps.unwind_tables, 2 * processes);
	bpf_map__set_max_entries(bpf->maps.unwind_caches, processes);
}

static size_t loader_generations_size(const struct unwind_loader *loader)
{
	return loader->process_count * LOADER_GENERATION_STRIDE * sizeof(uint32_t);
}

static void *loader_map(const struct bpf_map *map, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int unwind_loader_open(struct tracer_bpf *bpf, const struct module_list *modules,
		       struct decoder *decoder, const struct log *log,
		       struct unwind_loader **ret_loader, struct error *error)
{
	struct unwind_loader *loader = memory_alloc(1, sizeof(*loader));
	int code;

	loader->bpf = bpf;
	loader->modules = modules;
	loader->decoder = decoder;
	loader->log = log;
	loader->process_count = bpf_map__max_entries(bpf->maps.unwind_processes);
	loader->rows = loader_map(bpf->maps.unwind_rows, loader_row_count(loader) * sizeof(__u64));
	loader->pages = loader_map(bpf->maps.unwind_pages, LOADER_PAGES * sizeof(uint32_t));
	loader->generations =
		loader_map(bpf->maps.unwind_generations, loader_generations_size(loader));
	if (!loader->rows || !loader->pages || !loader->generations) {
		code = -errno;
		unwind_loader_close(loader);
		return error_set(error, ERROR_PERMISSION, code,
				 "cannot map the unwind tables of the BPF programs: %s",
				 strerror(-code));
	}
	loader->processes = memory_alloc(loader->process_count, sizeof(*loader->processes));
	loader->scratch = memory_alloc(1, sizeof(*loader->scratch));
	unwind_store_start(&loader->tables.store, loader->rows, loader_row_count(loader),
			   loader->pages, LOADER_PAGES);
	*ret_loader = loader;
	return 0;
}

void unwind_loader_close(struct unwind_loader *loader)
{
	if (!loader)
		return;
	if (loader->rows)
		munmap(loader->rows, loader_row_count(loader) * sizeof(__u64));
	if (loader->pages)
		munmap(loader->pages, LOADER_PAGES * sizeof(uint32_t));
	if (loader->generations)
		munmap(loader->generations, loader_generations_size(loader));
	unwind_tables_free(&loader->tables);
	free(loader->processes);
	free(loader->scratch);
	free(loader);
}

static struct unwind_file_key loader_file_key(const struct module *module)
{
	return (struct unwind_file_key){
		.device = (uint64_t)major(module->device) << 20 | minor(module->device),
		.inode = module->inode,
	};
}

/* Publish a file's rows by the file's device and inode in the kernel. */
static void loader_publish_file(const struct unwind_loader *loader, uint32_t index)
{
	const struct module *module = module_list_get(loader->modules, index);
	struct unwind_file_key key = loader_file_key(module);
	struct unwind_file_rows rows;

	if (module->inode && unwind_tables_rows(&loader->tables, index, &rows))
		bpf_map_update_elem(bpf_map__fd(loader->bpf->maps.unwind_files), &key, &rows,
				    BPF_ANY);
}

void unwind_loader_mark_allocator(const struct unwind_loader *loader, uint32_t index)
{
	const __u32 yes = 1;
	struct unwind_file_rows rows;

	if (loader && unwind_tables_rows(&loader->tables, index, &rows))
		bpf_map_update_elem(bpf_map__fd(loader->bpf->maps.allocator_files), &rows.pages,
				    &yes, BPF_ANY);
}

/* A file may have several names; its entry is then the table of one of them. */
static void loader_unpublish_file(const struct unwind_loader *loader, uint32_t index)
{
	struct unwind_file_key key = loader_file_key(module_list_get(loader->modules, index));
	int files = bpf_map__fd(loader->bpf->maps.unwind_files);
	struct unwind_file_rows rows, stored;

	if (!unwind_tables_rows(&loader->tables, index, &rows))
		return;
	if (!bpf_map_lookup_elem(files, &key, &stored) && stored.pages == rows.pages)
		bpf_map_delete_elem(files, &key);
	bpf_map_delete_elem(bpf_map__fd(loader->bpf->maps.allocator_files), &rows.pages);
}

/* Put a module's table into the store; NULL = it has none. Returns what unwind_tables_add does. */
static int loader_store(struct unwind_loader *loader, uint32_t module,
			const struct unwind_file *file)
{
	const struct module *found = module_list_get(loader->modules, module);
	int holder = loader->modules->is_shared ? found->root_pid : 0;
	int code = unwind_tables_add(&loader->tables, module, holder, file);

	if (!code)
		loader_publish_file(loader, module);
	if (!code && found->allocates)
		unwind_loader_mark_allocator(loader, module);
	loader->is_full |= code < 0;
	return code;
}

/* The same of a module that is mapped. */
static void loader_store_mapped(struct unwind_loader *loader, uint32_t module,
				const struct unwind_file *file)
{
	const struct module *found = module_list_get(loader->modules, module);
	int code = loader_store(loader, module, file);

	loader->refused += code < 0;
	if (!code || loader->warned_full)
		return;
	loader->warned_full = true;
	if (code == -EDQUOT)
		log_write(loader->log, LOG_NOTICE,
			  "process %d has its share of the unwind tables: its stacks end in %s and "
			  "other files that only it has mapped",
			  found->root_pid, found->path);
	else
		log_write(
			loader->log, LOG_NOTICE,
			"the unwind tables are full: stacks end in %s and other files mapped later",
			found->path);
}

uint64_t unwind_loader_refused(const struct unwind_loader *loader)
{
	return loader ? loader->refused : 0;
}

static void loader_log(const struct unwind_loader *loader, const char *path, int code,
		       const struct cfi_table *table, uint64_t begin)
{
	if (code)
		log_write(loader->log, LOG_VERBOSE, "no unwind table of %s: %s", path,
			  strerror(-code));
	else
		log_write(loader->log, LOG_VERBOSE,
			  "unwind table of %s: %u functions, %u rows, %llu us", path,
			  table->functions, table->row_count,
			  (unsigned long long)((clock_now_ns() - begin) / 1000));
}

/* Its table, to be freed with unwind_file_free. Returns 0 or a negative errno. */
static int loader_compile(const struct unwind_loader *loader, const struct module *module,
			  struct unwind_file *ret_file)
{
	uint64_t begin = clock_now_ns();
	int code = decoder_rows(loader->decoder, module, ret_file);

	loader_log(loader, module->path, code, &ret_file->table, begin);
	return code;
}

/* Is it open, and not compiled yet? NULL if it is not. */
static const struct module *loader_find_new(const struct unwind_loader *loader, uint32_t module)
{
	const struct module *found = loader ? module_list_get(loader->modules, module) : NULL;

	if (!found || found->fd < 0 || unwind_tables_has(&loader->tables, module))
		return NULL;
	return found;
}

void unwind_loader_add_module(struct unwind_loader *loader, uint32_t module)
{
	const struct module *found = loader_find_new(loader, module);
	struct unwind_file file = { 0 };

	if (!found)
		return;
	loader_store_mapped(loader, module, loader_compile(loader, found, &file) ? NULL : &file);
	unwind_file_free(&file);
}

void unwind_loader_expect(struct unwind_loader *loader, uint32_t module)
{
	const struct module *found = loader_find_new(loader, module);
	struct unwind_file file = { 0 };

	if (!found)
		return;
	if (loader->tables.expected_rows >= loader_row_count(loader) / LOADER_EXPECTED_PART) {
		loader->is_full = true;
		return;
	}
	if (loader_store(loader, module, loader_compile(loader, found, &file) ? NULL : &file))
		unwind_tables_remove(&loader->tables, module);
	else
		unwind_tables_expect(&loader->tables, module);
	unwind_file_free(&file);
}

/* The code that the kernel maps into a process is in no file; it is the same for all processes. */
static void loader_add_vdso(struct unwind_loader *loader, pid_t pid,
			    const struct address_mapping *mapping)
{
	struct call_patience patience = { .full_ns = VDSO_PATIENCE_NS };
	uint64_t size = mapping->end - mapping->start;
	struct unwind_file file = { 0 };
	unsigned char *bytes;
	ssize_t got;
	int code;

	if (size > VDSO_SIZE_MAX)
		return;
	bytes = memory_alloc(1, size);
	got = process_memory_read(pid, mapping->start, bytes, size, &patience);
	code = (int)got;
	if (got >= 0)
		code = decoder_rows_of_memory(loader->decoder,
					      module_list_get(loader->modules, mapping->module),
					      bytes, (size_t)got, &file);
	if (!code)
		loader_store_mapped(loader, mapping->module, &file);
	unwind_file_free(&file);
	free(bytes);
}

static void loader_add_mapping(struct unwind_loader *loader, pid_t pid,
			       const struct address_mapping *mapping)
{
	const struct module *module = module_list_get(loader->modules, mapping->module);

	if (!module)
		return;
	if (unwind_tables_has(&loader->tables, mapping->module)) {
		unwind_tables_see(&loader->tables, mapping->module);
		if (module->root_pid != pid)
			unwind_tables_share(&loader->tables, mapping->module);
		return;
	}
	if (module->fd < 0 && !strcmp(module->path, "[vdso]"))
		loader_add_vdso(loader, pid, mapping);
	else
		unwind_loader_add_module(loader, mapping->module);
}

/* The index of a process, a new one if it has none; their number if all are taken. */
static uint32_t loader_index(const struct unwind_loader *loader, uint32_t target_id)
{
	uint32_t i, unused = loader->process_count;

	for (i = loader->process_count; i-- > 0;) {
		if (loader->processes[i].target_id == target_id)
			return i;
		if (!loader->processes[i].target_id)
			unused = i;
	}
	return unused;
}

/* Words of the cache hold the low bits of their generation only, so those of an older one may match a later one. */
static int loader_clear_cache(const struct unwind_loader *loader, uint32_t index)
{
	static const __u64 empty[UNWIND_CACHE_WORDS];

	return bpf_map_update_elem(bpf_map__fd(loader->bpf->maps.unwind_caches), &index, empty,
				   BPF_ANY);
}

/* Let `count` generations pass. Returns 0 or a negative errno. */
static int loader_pass(struct unwind_loader *loader, uint32_t index, uint32_t count)
{
	uint32_t *generation = &loader->generations[index * LOADER_GENERATION_STRIDE];
	uint32_t next = *generation + count;

	if (next / LOADER_CACHE_LIFE != *generation / LOADER_CACHE_LIFE &&
	    loader_clear_cache(loader, index))
		return -errno;
	__atomic_store_n(generation, next, __ATOMIC_SEQ_CST);
	return 0;
}

/* Let the scratch list take the place of the one in use. Returns 0 or a negative errno. */
static int loader_publish(struct unwind_loader *loader, uint32_t index)
{
	uint32_t next = loader->generations[index * LOADER_GENERATION_STRIDE] + 1;
	uint32_t key = index * 2 + (next & 1);

	if (bpf_map_update_elem(bpf_map__fd(loader->bpf->maps.unwind_tables), &key, loader->scratch,
				BPF_ANY))
		return -errno;
	if (loader_pass(loader, index, 1))
		return -errno;
	loader->processes[index].mappings = *loader->scratch;
	return 0;
}

static void loader_publish_process(struct unwind_loader *loader, uint32_t index, uint32_t target_id)
{
	struct loader_process *process = &loader->processes[index];

	if (process->target_id == target_id &&
	    !memcmp(&process->mappings, loader->scratch, sizeof(process->mappings)))
		return;
	if (loader_publish(loader, index) || process->target_id == target_id)
		return;
	if (!bpf_map_update_elem(bpf_map__fd(loader->bpf->maps.unwind_processes), &target_id,
				 &index, BPF_ANY))
		process->target_id = target_id;
}

static void loader_add_space(struct unwind_loader *loader, pid_t pid,
			     const struct address_space *space)
{
	struct address_mapping mapping;
	size_t i;

	for (i = 0; i < address_space_count(space); i++) {
		mapping = address_space_get(space, i);
		loader_add_mapping(loader, pid, &mapping);
	}
}

void unwind_loader_begin(struct unwind_loader *loader, uint32_t target_id)
{
	uint32_t index;

	if (!loader)
		return;
	index = loader_index(loader, target_id);
	if (index == loader->process_count)
		return;
	unwind_mappings_clear(loader->scratch);
	loader_publish_process(loader, index, target_id);
}

void unwind_loader_update(struct unwind_loader *loader, uint32_t target_id, pid_t pid,
			  const struct address_space *space)
{
	uint32_t index;

	if (!loader)
		return;
	index = loader_index(loader, target_id);
	if (index == loader->process_count)
		return;
	loader_add_space(loader, pid, space);
	unwind_tables_list(&loader->tables, space, loader->scratch);
	loader_publish_process(loader, index, target_id);
}

void unwind_loader_forget(struct unwind_loader *loader, uint32_t target_id)
{
	uint32_t index;

	if (!loader)
		return;
	index = loader_index(loader, target_id);
	if (index == loader->process_count || !loader->processes[index].target_id)
		return;
	bpf_map_delete_elem(bpf_map__fd(loader->bpf->maps.unwind_processes), &target_id);
	loader->processes[index].target_id = 0;
}

bool unwind_loader_is_full(const struct unwind_loader *loader)
{
	return loader && loader->is_full;
}

/*
 * Invalidate what running walks have read of rows that are free: unwind_files and all lists have dropped their modules,
 * and the rows are about to be written over.
 */
static int loader_void_walks(struct unwind_loader *loader)
{
	uint32_t i;

	for (i = 0; i < loader->process_count; i++)
		if (loader->processes[i].target_id && loader_pass(loader, i, 2))
			return -errno;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

size_t unwind_loader_forget_modules(struct unwind_loader *loader, const uint32_t *modules,
				    size_t count)
{
	size_t i;

	if (!loader || !count)
		return 0;
	for (i = 0; i < count; i++)
		loader_unpublish_file(loader, modules[i]);
	if (loader_void_walks(loader))
		return 0;
	for (i = 0; i < count; i++)
		unwind_tables_remove(&loader->tables, modules[i]);
	loader->is_full = false;
	count = unwind_tables_retry(&loader->tables);
	loader->refused -= count < loader->refused ? count : loader->refused;
	return count;
}
