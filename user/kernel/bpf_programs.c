/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See bpf_programs.h. */
#include "kernel/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seed.h"
#include "kernel/bpf_call.h"
#include "kernel/compat_functions.h"
#include "kernel/map_reader.h"
#include "kernel/unwind_loader.h"
#include "system/privilege.h"
#include "tracer.skel.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* Samples that can be held: a part of --max-blocks, but some at least. */
#define SAMPLES_SHARE 16
#define SAMPLES_LEAST 65536

struct bpf_programs {
	struct tracer_bpf *bpf;
	enum backend backend;
	struct bpf_map *by_id[MAPS_COUNT];
	struct maps maps;
	struct share *shares; /* the map's memory */
};

static struct bpf_map *programs_map(void *context, enum maps_id map)
{
	const struct bpf_programs *programs = context;

	return programs->by_id[map];
}

static bool programs_map_exists(void *context, enum maps_id map)
{
	return bpf_map__autocreate(programs_map(context, map));
}

static int programs_map_get(void *context, enum maps_id map, const void *key, void *ret_value)
{
	return bpf_map_lookup_elem(bpf_map__fd(programs_map(context, map)), key, ret_value);
}

static int programs_map_set(void *context, enum maps_id map, const void *key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(programs_map(context, map)), key, value, BPF_ANY);
}

static int programs_map_remove(void *context, enum maps_id map, const void *key)
{
	return bpf_map_delete_elem(bpf_map__fd(programs_map(context, map)), key);
}

static int programs_map_take(void *context, enum maps_id map, const void *key, void *ret_value)
{
	return bpf_map_lookup_and_delete_elem(bpf_map__fd(programs_map(context, map)), key,
					      ret_value);
}

static int programs_map_add(void *context, enum maps_id map, const void *key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(programs_map(context, map)), key, value,
				   BPF_NOEXIST);
}

static int programs_map_read(void *context, enum maps_id map,
			     void (*visit)(void *visitor, const void *key, const void *value),
			     void *visitor)
{
	return map_read(programs_map(context, map), visit, visitor);
}

static const struct maps_operations programs_map_operations = {
	.exists = programs_map_exists,
	.get = programs_map_get,
	.set = programs_map_set,
	.remove = programs_map_remove,
	.take = programs_map_take,
	.add = programs_map_add,
	.read = programs_map_read,
};

static void programs_name_maps(struct bpf_programs *programs)
{
	struct tracer_bpf *bpf = programs->bpf;
	struct bpf_map **by_id = programs->by_id;

	by_id[MAPS_SITES] = bpf->maps.sites;
	by_id[MAPS_SITE_THREADS] = bpf->maps.site_threads;
	by_id[MAPS_BLOCKS] = bpf->maps.blocks;
	by_id[MAPS_SAMPLES] = bpf->maps.samples;
	by_id[MAPS_STACKS] = bpf->maps.stacks;
	by_id[MAPS_INTERP_STACKS] = bpf->maps.interp_stacks;
	by_id[MAPS_THREADS_BY_ID] = bpf->maps.threads_by_id;
	by_id[MAPS_SHAPES] = bpf->maps.shapes;
	by_id[MAPS_INTERP_WALKS_BY_ID] = bpf->maps.interp_walks_by_id;
	by_id[MAPS_INNER_CALLERS] = bpf->maps.inner_callers;
	by_id[MAPS_FIXED_SIZES] = bpf->maps.fixed_sizes;
	by_id[MAPS_SAMPLE_SITES] = bpf->maps.sample_sites;
	by_id[MAPS_TARGET_IDS] = bpf->maps.target_ids;
	by_id[MAPS_HITS] = bpf->maps.hits;
	programs->maps = (struct maps){ &programs_map_operations, programs };
}

/* Load only the BPF programs that the back end uses: others may need what the kernel does not have. */
static void programs_choose(struct tracer_bpf *bpf, const struct bpf_settings *settings)
{
	bool one = settings->backend == BACKEND_KERNEL_SESSION;
	bool shaped = settings->backend == BACKEND_KERNEL_IOCTL;
	bool linked = one || settings->backend == BACKEND_KERNEL_MULTI;
	uint32_t type = linked ? ATTACH_UPROBE_MULTI : 0;

	bpf_program__set_autoload(bpf->progs.call_session, one);
	bpf_program__set_autoload(bpf->progs.call_exit, !one);
	bpf_program__set_autoload(bpf->progs.call_shape, shaped);
	bpf_program__set_autoload(bpf->progs.free_shape, shaped);
	bpf_program__set_autoload(bpf->progs.leave_shape, shaped);
	bpf_program__set_autoload(bpf->progs.sample_shape, shaped && settings->samples);
	bpf_program__set_autoload(bpf->progs.sample_entry, settings->samples);
	bpf_program__set_autoload(bpf->progs.inside_entry, settings->light && one);
	if (!shaped) {
		bpf_map__set_autocreate(bpf->maps.shapes, false);
		bpf_map__set_autocreate(bpf->maps.programs, false);
	}
	bpf_program__set_expected_attach_type(bpf->progs.call_session, ATTACH_UPROBE_SESSION);
	bpf_program__set_expected_attach_type(bpf->progs.call_entry, type);
	bpf_program__set_expected_attach_type(bpf->progs.call_exit, type);
	bpf_program__set_expected_attach_type(bpf->progs.free_entry, type);
	bpf_program__set_expected_attach_type(bpf->progs.sample_entry, type);
	bpf_program__set_expected_attach_type(bpf->progs.throw_entry, type);
	bpf_program__set_expected_attach_type(bpf->progs.leave_entry, type);
	bpf_program__set_expected_attach_type(bpf->progs.inside_entry, type);
}

/* Samples are few: each of the kernel's buckets for one takes 16 bytes, whether there is a sample or not. */
static void programs_set_up_samples(struct tracer_bpf *bpf, const struct bpf_settings *settings)
{
	uint64_t room = settings->max_blocks / SAMPLES_SHARE;

	if (room < SAMPLES_LEAST)
		room = SAMPLES_LEAST;
	if (room > settings->max_blocks || settings->only_samples)
		room = settings->max_blocks;
	bpf_map__set_max_entries(bpf->maps.samples, (uint32_t)room);
	if (!settings->functions)
		bpf_map__set_max_entries(bpf->maps.blocks, 1);
	if (settings->samples)
		return;
	bpf_map__set_autocreate(bpf->maps.samples, false);
	bpf_map__set_autocreate(bpf->maps.sample_sites, false);
}

static void programs_set_up_interpreters(struct tracer_bpf *bpf,
					 const struct bpf_settings *settings)
{
	bpf->rodata->setting_interpreters = true;
	bpf_map__set_max_entries(bpf->maps.interp_stacks, (uint32_t)settings->max_stacks);
	if (!settings->features.task_storage)
		bpf_map__set_autocreate(bpf->maps.interp_walks, false);
}

static void programs_set_up_sites(struct tracer_bpf *bpf, const struct bpf_settings *settings)
{
	uint32_t room = (uint32_t)settings->max_stacks + SITES_RESERVE;

	bpf->rodata->setting_by_thread = settings->by_thread;
	bpf_map__set_max_entries(bpf->maps.sites, room);
	bpf_map__set_max_entries(bpf->maps.site_threads, room);
	bpf_map__set_autocreate(bpf->maps.site_threads, settings->by_thread);
}

/* Processes have other numbers in other namespaces: they are known by the tracer's own. */
static void programs_set_up_stop(struct tracer_bpf *bpf, const struct bpf_settings *settings)
{
	struct stat namespace;

	if (!settings->stop_process || stat("/proc/self/ns/pid", &namespace))
		return;
	bpf->rodata->setting_stop_process = (uint32_t)settings->stop_process;
	/* As the kernel puts both numbers into one. */
	bpf->rodata->setting_namespace_device = (uint64_t)major(namespace.st_dev) << 20 |
						minor(namespace.st_dev);
	bpf->rodata->setting_namespace_inode = namespace.st_ino;
}

static void programs_set_up(struct tracer_bpf *bpf, const struct bpf_settings *settings)
{
	bpf->rodata->setting_seed = seed_new();
	bpf->rodata->setting_min_size = settings->min_size;
	bpf->rodata->setting_max_size = settings->max_size;
	bpf->rodata->setting_stack_depth = (uint32_t)settings->stack_depth;
	bpf->rodata->setting_max_stacks = (uint32_t)settings->max_stacks;
	bpf->rodata->setting_named = settings->named;
	bpf->rodata->setting_light = settings->light;
	bpf->rodata->setting_machine_wide = settings->machine_wide;
	bpf->rodata->setting_task_storage = settings->features.task_storage;
	bpf->rodata->setting_functions = settings->features.functions;
	bpf->rodata->setting_declines = settings->backend == BACKEND_KERNEL_SESSION;
	bpf->rodata->setting_cookies = settings->backend != BACKEND_KERNEL_IOCTL;
	bpf_map__set_max_entries(bpf->maps.blocks, (uint32_t)settings->max_blocks);
	bpf_map__set_max_entries(bpf->maps.stacks, (uint32_t)settings->max_stacks);
	programs_set_up_sites(bpf, settings);
	if (!settings->features.task_storage)
		bpf_map__set_autocreate(bpf->maps.threads, false);
	if (!settings->machine_wide)
		bpf_map__set_autocreate(bpf->maps.target_ids, false);
	programs_set_up_samples(bpf, settings);
	programs_set_up_interpreters(bpf, settings);
	programs_set_up_stop(bpf, settings);
	unwind_loader_prepare(bpf, !settings->by_frame_pointers, settings->processes);
	programs_choose(bpf, settings);
}

/* libbpf's messages help to find a fault in the tracer itself. */
static int programs_print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	return getenv("TRACER_DEBUG_LIBBPF") ? vfprintf(stderr, format, arguments) : 0;
}

/* The BPF programs that programs with shapes tail-call. */
static int programs_set_tail_calls(struct tracer_bpf *bpf)
{
	const struct bpf_program *programs[PROGRAM_COUNT] = {
		[PROGRAM_CALL_ENTRY] = bpf->progs.call_entry,
		[PROGRAM_FREE_ENTRY] = bpf->progs.free_entry,
		[PROGRAM_SAMPLE_ENTRY] = bpf->progs.sample_entry,
		[PROGRAM_LEAVE_ENTRY] = bpf->progs.leave_entry,
	};
	uint32_t i;
	int fd, code = 0;

	for (i = 0; i < PROGRAM_COUNT && !code; i++) {
		fd = bpf_program__fd(programs[i]);
		if (!bpf_program__autoload(programs[i]))
			continue;
		code = bpf_map_update_elem(bpf_map__fd(bpf->maps.programs), &i, &fd, BPF_ANY);
	}
	return code;
}

/* Both sides count at the same time, so user space changes the words of the BPF programs themselves. */
static int programs_map_shares(struct bpf_programs *programs)
{
	void *memory = mmap(NULL, SHARES_MAX * sizeof(*programs->shares), PROT_READ | PROT_WRITE,
			    MAP_SHARED, bpf_map__fd(programs->bpf->maps.shares), 0);

	if (memory == MAP_FAILED)
		return -errno;
	programs->shares = memory;
	return 0;
}

static int programs_open(struct bpf_programs *programs, const struct bpf_settings *settings)
{
	int code;

	programs->bpf = tracer_bpf__open();
	if (!programs->bpf)
		return -errno;
	programs_name_maps(programs);
	programs_set_up(programs->bpf, settings);
	if (!settings->features.functions)
		compat_functions_object(programs->bpf->obj);
	code = tracer_bpf__load(programs->bpf);
	if (!code && settings->backend == BACKEND_KERNEL_IOCTL)
		code = programs_set_tail_calls(programs->bpf);
	return code ? code : programs_map_shares(programs);
}

static int programs_open_without_callbacks(struct bpf_programs *programs,
					   const struct bpf_settings *settings)
{
	struct compat_functions compat;
	int code;

	compat_functions_begin(&compat);
	code = programs_open(programs, settings);
	compat_functions_end(&compat);
	return code;
}

static int programs_refuse(const struct bpf_programs *programs, int code, struct error *error)
{
	if (!programs->bpf)
		return error_set(error, ERROR_PERMISSION, code, "cannot open the BPF programs: %s",
				 strerror(-code));
	if (code == -EPERM || code == -EACCES)
		return privileges_refuse(STEP_LOAD, code, error);
	if (access(KERNEL_TYPES, R_OK))
		return error_set(error, ERROR_PERMISSION, code,
				 "the kernel's types cannot be read from " KERNEL_TYPES
				 " (%s): mount /sys (mount -t sysfs sys /sys), or boot a kernel "
				 "with CONFIG_DEBUG_INFO_BTF",
				 strerror(errno));
	return error_set(error, ERROR_PERMISSION, code,
			 "the kernel did not load the BPF programs: %s", strerror(-code));
}

int bpf_programs_load(const struct bpf_settings *settings, struct bpf_programs **ret_programs,
		      struct error *error)
{
	struct bpf_programs *programs = memory_alloc(1, sizeof(*programs));
	int code;

	programs->backend = settings->backend;
	libbpf_set_print(programs_print);
	code = settings->features.callbacks ? programs_open(programs, settings)
					    : programs_open_without_callbacks(programs, settings);
	if (code) {
		programs_refuse(programs, code, error);
		bpf_programs_free(programs);
		return code;
	}
	*ret_programs = programs;
	return 0;
}

void bpf_programs_free(struct bpf_programs *programs)
{
	if (!programs)
		return;
	if (programs->shares)
		munmap(programs->shares, SHARES_MAX * sizeof(*programs->shares));
	tracer_bpf__destroy(programs->bpf);
	free(programs);
}

const struct maps *bpf_programs_maps(const struct bpf_programs *programs)
{
	return &programs->maps;
}

struct attach_programs bpf_programs_to_attach(const struct bpf_programs *programs)
{
	const struct tracer_bpf *bpf = programs->bpf;
	bool shaped = programs->backend == BACKEND_KERNEL_IOCTL;

	return (struct attach_programs){
		.session = bpf->progs.call_session,
		.entry = shaped ? bpf->progs.call_shape : bpf->progs.call_entry,
		.exit = bpf->progs.call_exit,
		.free = shaped ? bpf->progs.free_shape : bpf->progs.free_entry,
		.throw = bpf->progs.throw_entry,
		.inside = bpf->progs.inside_entry,
		.leave = shaped ? bpf->progs.leave_shape : bpf->progs.leave_entry,
		.sample = shaped ? bpf->progs.sample_shape : bpf->progs.sample_entry,
	};
}

void bpf_programs_record(struct bpf_programs *programs, enum recording what)
{
	if (programs)
		__atomic_store_n(&programs->bpf->bss->recording, what, __ATOMIC_SEQ_CST);
}

void bpf_programs_measure(struct bpf_programs *programs, bool on)
{
	if (on)
		__atomic_store_n(&programs->bpf->bss->hits_seen, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&programs->bpf->bss->measuring, on, __ATOMIC_SEQ_CST);
}

void bpf_programs_limit_hits(struct bpf_programs *programs, uint64_t most)
{
	__atomic_store_n(&programs->bpf->bss->hits_max, most, __ATOMIC_SEQ_CST);
}

void bpf_programs_record_inside(struct bpf_programs *programs)
{
	__atomic_store_n(&programs->bpf->bss->inside_mode, INSIDE_RECORD, __ATOMIC_SEQ_CST);
}

struct inside_counts bpf_programs_inside(const struct bpf_programs *programs)
{
	const struct tracer_bpf__bss *bss = programs->bpf->bss;

	return (struct inside_counts){
		.right = __atomic_load_n(&bss->inside_right, __ATOMIC_RELAXED),
		.wrong = __atomic_load_n(&bss->inside_wrong, __ATOMIC_RELAXED),
		.open = __atomic_load_n(&bss->inside_open, __ATOMIC_RELAXED),
	};
}

uint64_t bpf_programs_hits(const struct bpf_programs *programs)
{
	return __atomic_load_n(&programs->bpf->bss->hits_seen, __ATOMIC_RELAXED);
}

void bpf_programs_share(struct bpf_programs *programs, bool on)
{
	__atomic_store_n(&programs->bpf->bss->shared, on, __ATOMIC_RELAXED);
}

bool bpf_programs_are_recording(const struct bpf_programs *programs)
{
	return __atomic_load_n(&programs->bpf->bss->recording, __ATOMIC_RELAXED);
}

struct share *bpf_programs_shares(const struct bpf_programs *programs)
{
	return programs->shares;
}

uint64_t bpf_programs_loss(const struct bpf_programs *programs, enum loss loss)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	uint64_t *values = memory_alloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*values)), sum = 0;
	uint32_t key = loss;

	if (!bpf_map_lookup_elem(bpf_map__fd(programs->bpf->maps.losses), &key, values))
		for (cpu = 0; cpu < cpus; cpu++)
			sum += values[cpu];
	free(values);
	return sum;
}

static uint64_t program_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return 0;
	return info.recursion_misses;
}

uint64_t bpf_programs_missed(const struct bpf_programs *programs)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, programs->bpf->obj) missed += program_missed(program);
	return missed;
}

struct tracer_bpf *bpf_programs_skeleton(const struct bpf_programs *programs)
{
	return programs->bpf;
}

int bpf_programs_events(const struct bpf_programs *programs)
{
	return bpf_map__fd(programs->bpf->maps.events);
}

int bpf_programs_interp_processes(const struct bpf_programs *programs)
{
	return bpf_map__fd(programs->bpf->maps.interp_processes);
}

int bpf_programs_interp_codes(const struct bpf_programs *programs)
{
	return bpf_map__fd(programs->bpf->maps.interp_codes);
}

uint32_t *bpf_programs_interp_any(const struct bpf_programs *programs)
{
	return &programs->bpf->bss->interp_any;
}
