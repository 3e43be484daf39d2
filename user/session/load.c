/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a session that opens and loads the BPF programs: which of them, with which settings and maps, so that they
 * need nothing that the running kernel does not have.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/seed.h"
#include "kernel/bpf_call.h"
#include "kernel/downgrade.h"
#include "session/parts.h"
#include "system/privilege.h"
#include "tracer.skel.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* Sites for allocations whose stack finds no room: some functions in some programs. */
#define SITES_RESERVE 1024

/* The kernels that need this way of attaching lack more. Who asks for it wants to see that it all works. */
static void session_feign_old_kernel(struct kernel_features *features)
{
	features->task_storage = false;
	features->functions = false;
}

int session_choose_backend(struct session *session, struct error *error)
{
	const bool *works = session->features.backends;
	enum backend backend;

	if (session->options.backend_chosen) {
		session->backend = session->options.backend;
		if (session->backend == BACKEND_KERNEL_IOCTL)
			session_feign_old_kernel(&session->features);
		if (works[session->backend])
			return 0;
		return error_set(error, ERROR_PERMISSION, -ENOTSUP,
				 "this kernel has no %s probes: leave --backend out",
				 backend_name(session->backend));
	}
	for (backend = 0; backend < BACKEND_KERNEL_COUNT; backend++) {
		if (!works[backend])
			continue;
		session->backend = backend;
		return 0;
	}
	return error_set(error, ERROR_PERMISSION, -ENOTSUP,
			 "this kernel cannot attach BPF programs to uprobes: it must be built with "
			 "CONFIG_UPROBE_EVENTS and CONFIG_PERF_EVENTS");
}

/* Load only the programs that the back end uses: others may need what the kernel does not have. */
static void session_choose_programs(struct session *session)
{
	struct tracer_bpf *bpf = session->bpf;
	bool one = session->backend == BACKEND_KERNEL_SESSION;
	bool shaped = session->backend == BACKEND_KERNEL_IOCTL;
	bool linked = one || session->backend == BACKEND_KERNEL_MULTI;
	uint32_t type = linked ? ATTACH_UPROBE_MULTI : 0;

	bpf_program__set_autoload(bpf->progs.call_session, one);
	bpf_program__set_autoload(bpf->progs.call_exit, !one);
	bpf_program__set_autoload(bpf->progs.call_shape, shaped);
	bpf_program__set_autoload(bpf->progs.free_shape, shaped);
	bpf_program__set_autoload(bpf->progs.leave_shape, shaped);
	bpf_program__set_autoload(bpf->progs.sample_shape, shaped && session_samples(session));
	bpf_program__set_autoload(bpf->progs.sample_entry, session_samples(session));
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
}

static void session_set_up_interpreters(struct session *session)
{
	const struct kernel_features *features = &session->features;
	struct tracer_bpf *bpf = session->bpf;

	bpf->rodata->setting_interpreters = true;
	bpf_map__set_max_entries(bpf->maps.interp_stacks, (uint32_t)session->options.max_stacks);
	if (!features->task_storage)
		bpf_map__set_autocreate(bpf->maps.interp_walks, false);
}

/* Processes that are expected at a time: each takes 160 KB of the kernel's memory. */
static uint32_t session_process_room(const struct session *session)
{
	if (session->options.selector)
		return 256;
	return session->options.follow_fork ? 64 : 16;
}

static void session_set_up(struct session *session)
{
	const struct session_options *options = &session->options;
	struct tracer_bpf *bpf = session->bpf;

	bpf->rodata->setting_seed = seed_new();
	bpf->rodata->setting_min_size = options->min_size;
	bpf->rodata->setting_max_size = options->max_size;
	bpf->rodata->setting_stack_depth = (uint32_t)options->stack_depth;
	bpf->rodata->setting_named = options->named && options->named->count;
	bpf->rodata->setting_machine_wide = session_is_machine_wide(session);
	bpf->rodata->setting_task_storage = session->features.task_storage;
	bpf->rodata->setting_functions = session->features.functions;
	bpf->rodata->setting_declines = session->backend == BACKEND_KERNEL_SESSION;
	bpf->rodata->setting_cookies = session->backend != BACKEND_KERNEL_IOCTL;
	bpf_map__set_max_entries(bpf->maps.blocks, (uint32_t)options->max_blocks);
	bpf_map__set_max_entries(bpf->maps.stacks, (uint32_t)options->max_stacks);
	bpf_map__set_max_entries(bpf->maps.sites, (uint32_t)options->max_stacks + SITES_RESERVE);
	if (!session->features.task_storage)
		bpf_map__set_autocreate(bpf->maps.threads, false);
	if (!session_is_machine_wide(session))
		bpf_map__set_autocreate(bpf->maps.owners, false);
	session_set_up_samples(session);
	session_set_up_interpreters(session);
	unwind_loader_prepare(bpf, !session->options.by_frame_pointers,
			      session_process_room(session));
	session_choose_programs(session);
}

/* Messages of libbpf's are for those who look for a fault in the tracer itself. */
static int session_print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	return getenv("TRACER_DEBUG_LIBBPF") ? vfprintf(stderr, format, arguments) : 0;
}

/* Where the programs with shapes go on to. */
static int session_set_programs(struct tracer_bpf *bpf)
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

static int session_load_programs(struct session *session)
{
	int code;

	session->bpf = tracer_bpf__open();
	if (!session->bpf)
		return -errno;
	session_set_up(session);
	if (!session->features.functions)
		downgrade_object(session->bpf->obj);
	code = tracer_bpf__load(session->bpf);
	if (!code && session->backend == BACKEND_KERNEL_IOCTL)
		code = session_set_programs(session->bpf);
	return code;
}

static int session_load_downgraded(struct session *session)
{
	struct downgrade downgrade;
	int code;

	downgrade_begin(&downgrade);
	code = session_load_programs(session);
	downgrade_end(&downgrade);
	return code;
}

int session_load(struct session *session, struct error *error)
{
	int code;

	libbpf_set_print(session_print);
	code = session->features.functions ? session_load_programs(session)
					   : session_load_downgraded(session);
	if (!session->bpf)
		return error_set(error, ERROR_PERMISSION, code, "cannot open the BPF programs: %s",
				 strerror(-code));
	if (code == -EPERM || code == -EACCES)
		return privileges_refuse(STEP_LOAD, code, error);
	if (code && access(KERNEL_TYPES, R_OK))
		return error_set(error, ERROR_PERMISSION, code,
				 "the kernel's types cannot be read from " KERNEL_TYPES
				 " (%s): mount /sys (mount -t sysfs sys /sys), or boot a kernel "
				 "with CONFIG_DEBUG_INFO_BTF",
				 strerror(errno));
	if (code)
		return error_set(error, ERROR_PERMISSION, code,
				 "the kernel did not load the BPF programs: %s", strerror(-code));
	if (!!session->options.by_frame_pointers)
		return 0;
	return unwind_loader_open(session->bpf, session->options.modules, session->options.decoder,
				  session->options.log, &session->unwind, error);
}
