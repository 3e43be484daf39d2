/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_programs.h. */
#include "kernel/kernel_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seed.h"
#include "kernel/kernel_types.h"
#include "kernel/map_reader.h"
#include "kernel_memory.skel.h"
#include "probe/kernel_events.h"
#include "system/privilege.h"

/* Sites beside those with a stack, as many as there are sources and caches. */
#define SITES_RESERVE_KERNEL 1024

struct kernel_programs {
	struct kernel_memory_bpf *bpf;
	struct kernel_hooks hooks;
	struct bpf_link *links[KERNEL_HOOKS_MAX];
	struct bpf_map *by_id[MAPS_COUNT];
	struct maps maps;
};

/* Maps */

static bool kernel_programs_map_exists(void *context, enum maps_id map)
{
	return ((struct kernel_programs *)context)->by_id[map] != NULL;
}

static int kernel_programs_map_get(void *context, enum maps_id map, const void *key,
				   void *ret_value)
{
	const struct kernel_programs *programs = context;

	return bpf_map_lookup_elem(bpf_map__fd(programs->by_id[map]), key, ret_value);
}

static int kernel_programs_map_read(void *context, enum maps_id map,
				    void (*visit)(void *visitor, const void *key,
						  const void *value),
				    void *visitor)
{
	const struct kernel_programs *programs = context;

	return map_read(programs->by_id[map], visit, visitor);
}

static const struct maps_operations kernel_programs_operations = {
	.exists = kernel_programs_map_exists,
	.get = kernel_programs_map_get,
	.read = kernel_programs_map_read,
};

static void kernel_programs_name_maps(struct kernel_programs *programs)
{
	programs->by_id[MAPS_SITES] = programs->bpf->maps.kernel_sites;
	programs->by_id[MAPS_KERNEL_BLOCKS] = programs->bpf->maps.kernel_blocks;
	programs->by_id[MAPS_STACKS] = programs->bpf->maps.kernel_stacks;
	programs->by_id[MAPS_KERNEL_CACHES] = programs->bpf->maps.kernel_caches;
	programs->maps = (struct maps){ &kernel_programs_operations, programs };
}

/* Programs */

static struct bpf_program *kernel_programs_find(const struct kernel_programs *programs,
						enum kernel_program program)
{
	const struct kernel_memory_bpf *bpf = programs->bpf;
	struct bpf_program *const all[KERNEL_PROGRAM_COUNT] = {
		[KERNEL_PROGRAM_KMALLOC] = bpf->progs.kernel_kmalloc,
		[KERNEL_PROGRAM_KMALLOC_CACHE] = bpf->progs.kernel_kmalloc_cache,
		[KERNEL_PROGRAM_CACHE] = bpf->progs.kernel_cache,
		[KERNEL_PROGRAM_CACHE_SIZED] = bpf->progs.kernel_cache_sized,
		[KERNEL_PROGRAM_PAGES] = bpf->progs.kernel_pages,
		[KERNEL_PROGRAM_PERCPU] = bpf->progs.kernel_percpu,
		[KERNEL_PROGRAM_PERCPU_OLD] = bpf->progs.kernel_percpu_old,
		[KERNEL_PROGRAM_KFREE] = bpf->progs.kernel_kfree,
		[KERNEL_PROGRAM_CACHE_FREE] = bpf->progs.kernel_cache_free,
		[KERNEL_PROGRAM_PERCPU_FREE] = bpf->progs.kernel_percpu_free,
		[KERNEL_PROGRAM_PAGES_FREE] = bpf->progs.kernel_pages_free,
		[KERNEL_PROGRAM_BULK_FREE] = bpf->progs.kernel_bulk_free,
	};

	return all[program];
}

/* Load only what the kernel's events need: the others may not fit it. */
static void kernel_programs_choose(struct kernel_programs *programs)
{
	struct bpf_program *program;
	size_t i;

	bpf_object__for_each_program(program, programs->bpf->obj)
		bpf_program__set_autoload(program, false);
	for (i = 0; i < programs->hooks.count; i++)
		bpf_program__set_autoload(
			kernel_programs_find(programs, programs->hooks.items[i].program), true);
}

static void kernel_programs_set_up(struct kernel_programs *programs,
				   const struct kernel_settings *settings, size_t page_bytes)
{
	struct kernel_memory_bpf *bpf = programs->bpf;
	uint32_t sites = (uint32_t)settings->max_stacks + SITES_RESERVE_KERNEL;
	int cpus = libbpf_num_possible_cpus();

	bpf->rodata->setting_seed = seed_new();
	bpf->rodata->setting_min_size = settings->min_size;
	bpf->rodata->setting_max_size = settings->max_size;
	bpf->rodata->setting_stack_depth = (uint32_t)settings->stack_depth;
	bpf->rodata->setting_own = (uint32_t)getpid();
	bpf->rodata->setting_processes = settings->pid_count > 0;
	bpf->rodata->setting_cpus = cpus > 0 ? (uint64_t)cpus : 1;
	bpf->rodata->setting_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	/* Where a struct is of another size, blocks of pages that are split are not put together again. */
	bpf->rodata->setting_page_struct =
		page_bytes && !(page_bytes & (page_bytes - 1)) ? page_bytes : 1;
	bpf_map__set_max_entries(bpf->maps.kernel_blocks, (uint32_t)settings->max_blocks);
	bpf_map__set_max_entries(bpf->maps.kernel_stacks, (uint32_t)settings->max_stacks);
	bpf_map__set_max_entries(bpf->maps.kernel_sites, sites);
	bpf_map__set_max_entries(bpf->maps.kernel_caches, sites);
	kernel_programs_choose(programs);
}

static int kernel_programs_set_processes(const struct kernel_programs *programs,
					 const struct kernel_settings *settings)
{
	uint32_t pid, target;
	size_t i;
	int code = 0;

	for (i = 0; i < settings->pid_count && !code; i++) {
		pid = (uint32_t)settings->pids[i];
		target = (uint32_t)i + 1;
		code = bpf_map_update_elem(bpf_map__fd(programs->bpf->maps.kernel_processes), &pid,
					   &target, BPF_ANY);
	}
	return code;
}

/* Frees first, so that no block is recorded whose end is not. */
static int kernel_programs_attach(struct kernel_programs *programs, struct error *error)
{
	const struct kernel_hook *hook;
	size_t i;
	int code;

	for (i = programs->hooks.count; i > 0; i--) {
		hook = &programs->hooks.items[i - 1];
		programs->links[i - 1] = bpf_program__attach_raw_tracepoint(
			kernel_programs_find(programs, hook->program), hook->event);
		code = (int)libbpf_get_error(programs->links[i - 1]);
		if (!code)
			continue;
		programs->links[i - 1] = NULL;
		return error_set(error, ERROR_PERMISSION, code,
				 "the kernel's event '%s' cannot be traced: %s", hook->event,
				 strerror(-code));
	}
	return 0;
}

static int kernel_programs_print(enum libbpf_print_level level, const char *format,
				 va_list arguments)
{
	(void)level;
	return getenv("TRACER_DEBUG_LIBBPF") ? vfprintf(stderr, format, arguments) : 0;
}

static int kernel_programs_refuse(int code, struct error *error)
{
	if (code == -EPERM || code == -EACCES)
		return privileges_refuse(STEP_LOAD, code, error);
	if (code == -ENOMEM || code == -E2BIG)
		return error_set(error, ERROR_PERMISSION, code,
				 "the kernel has no memory for the tables of --kernel (%s): use "
				 "smaller ones with --max-blocks and --max-stacks",
				 strerror(-code));
	return error_set(error, ERROR_PERMISSION, code,
			 "the kernel did not load the BPF programs of --kernel: %s",
			 strerror(-code));
}

static int kernel_programs_load(struct kernel_programs *programs,
				const struct kernel_settings *settings, struct error *error)
{
	struct kernel_types *types;
	size_t page_bytes = 0;
	int code = kernel_types_open(&types, error);

	if (code)
		return code;
	code = kernel_events_choose(kernel_types_find_event, types, &programs->hooks, error);
	page_bytes = kernel_types_page_bytes(types);
	kernel_types_free(types);
	if (code)
		return code;
	programs->bpf = kernel_memory_bpf__open();
	if (!programs->bpf)
		return kernel_programs_refuse(-errno, error);
	kernel_programs_set_up(programs, settings, page_bytes);
	kernel_programs_name_maps(programs);
	code = kernel_memory_bpf__load(programs->bpf);
	if (!code)
		code = kernel_programs_set_processes(programs, settings);
	return code ? kernel_programs_refuse(code, error) : 0;
}

int kernel_programs_open(const struct kernel_settings *settings,
			 struct kernel_programs **ret_programs, struct error *error)
{
	struct kernel_programs *programs = memory_alloc(1, sizeof(*programs));
	int code;

	libbpf_set_print(kernel_programs_print);
	code = kernel_programs_load(programs, settings, error);
	if (!code)
		code = kernel_programs_attach(programs, error);
	if (code) {
		kernel_programs_close(programs);
		return code;
	}
	*ret_programs = programs;
	return 0;
}

static uint64_t kernel_programs_missed(const struct kernel_programs *programs)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, programs->bpf->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

static void kernel_programs_detach(struct kernel_programs *programs)
{
	size_t i;

	kernel_programs_record(programs, RECORD_NOTHING);
	for (i = 0; i < programs->hooks.count; i++) {
		bpf_link__destroy(programs->links[i]);
		programs->links[i] = NULL;
	}
}

void kernel_programs_close(struct kernel_programs *programs)
{
	if (!programs)
		return;
	if (programs->bpf)
		kernel_programs_detach(programs);
	kernel_memory_bpf__destroy(programs->bpf);
	free(programs);
}

void kernel_programs_record(struct kernel_programs *programs, enum recording what)
{
	if (programs->bpf->bss)
		__atomic_store_n(&programs->bpf->bss->kernel_recording, what, __ATOMIC_SEQ_CST);
}

const struct maps *kernel_programs_maps(const struct kernel_programs *programs)
{
	return &programs->maps;
}

void kernel_programs_losses(const struct kernel_programs *programs, uint64_t losses[LOSS_COUNT])
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	uint64_t *values = memory_alloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*values));
	uint32_t loss;

	for (loss = 0; loss < LOSS_COUNT; loss++)
		if (!bpf_map_lookup_elem(bpf_map__fd(programs->bpf->maps.kernel_losses), &loss,
					 values))
			for (cpu = 0; cpu < cpus; cpu++)
				losses[loss] += values[cpu];
	free(values);
	losses[LOSS_PROGRAMS_MISSED] += kernel_programs_missed(programs);
	/* kmem_cache_free_bulk() has no event, and kfree_rcu() not on all kernels. */
	losses[LOSS_FREES_UNSEEN] += 1 + !programs->hooks.bulk;
}
