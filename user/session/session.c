/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life cycle of a session: see session.h. */
#include "session/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "decode/plan_module.h"
#include "session/landed.h"
#include "session/parts.h"
#include "tracer.skel.h"

uint64_t session_now(void)
{
	return clock_now_ns();
}

static void session_plan_init(struct session *session)
{
	struct plan_options options = { .features = session->features.traps,
					.free_without_stack = true,
					.at_entry = session->options.probe_at_entry,
					.no_return_probes = session->options.no_return_probes,
					.seek_walkers = !session_is_machine_wide(session),
					.named = session->options.named,
					.usdt = session->options.usdt };

	plan_init(&session->plan, session->options.modules, &options);
}

int session_open(const struct session_options *options, struct session **ret_session,
		 struct error *error)
{
	struct session *session = memory_alloc(1, sizeof(*session));
	struct interp_maps maps;
	int code;

	session->options = *options;
	session->epoll = session->timer = -1;
	code = session_raise_limit(session, error);
	if (!code)
		code = kernel_features_probe(&session->features, error);
	session->mappings = mapping_set_new((uint64_t)sysconf(_SC_PAGESIZE), options->max_blocks);
	if (!code)
		code = session_choose_backend(session, error);
	session_plan_init(session);
	if (!code && options->selector && options->selector->kind == SELECT_ALL)
		session->allows_all = session_filters_allow(session);
	if (!code)
		code = session_load(session, error);
	if (!code)
		session_check_owners(session);
	if (!code) {
		maps.processes = bpf_map__fd(session->bpf->maps.interp_processes);
		maps.codes = bpf_map__fd(session->bpf->maps.interp_codes);
		maps.any = &session->bpf->bss->interp_any;
		session->jit_names = jit_names_new(options->log);
		session->interps =
			interp_table_new(options->modules, options->decoder, options->log, &maps);
		code = session_watch_open(session, error);
	}
	if (code) {
		session_close(session);
		return code;
	}
	*ret_session = session;
	return 0;
}

void session_close(struct session *session)
{
	if (!session)
		return;
	session_detach(session);
	session_watch_close(session);
	unwind_loader_close(session->unwind);
	tracer_bpf__destroy(session->bpf);
	site_table_free(&session->sites);
	interp_table_free(session->interps);
	jit_names_free(session->jit_names);
	mapping_set_free(session->mappings);
	plan_free(&session->plan);
	session_free_processes(session);
	session_free_ended(session);
	free(session->files);
	free(session->probed);
	free(session->seen);
	free(session);
}

void session_detach(struct session *session)
{
	struct attachment all = { 0 };
	size_t i;

	session_deactivate(session);
	for (i = 0; i < session->process_count; i++)
		attachment_join(&all, &session->slots[i].attachment);
	attachment_join(&all, &session->attachment);
	attachment_close(&all);
	closer_free(session->closer);
	session->closer = NULL;
}

void session_activate(struct session *session)
{
	session->start_ns = session_now();
	/* Not later: a thread that begins when a process has ended may get its pid. */
	if (!session->closer)
		session->closer = closer_new();
	__atomic_store_n(&session->bpf->bss->recording, 1, __ATOMIC_SEQ_CST);
	session_poll(session);
}

void session_deactivate(struct session *session)
{
	if (session->bpf && session->bpf->bss)
		__atomic_store_n(&session->bpf->bss->recording, 0, __ATOMIC_SEQ_CST);
}

/* glibc's allocator is one object file; at the end of a thread it frees from there what it kept for the thread. */
static bool probe_is_in_allocator(const struct plan *plan, const struct plan_probe *probe)
{
	static const char *const members[] = { "malloc",  "free",     "calloc",
					       "realloc", "memalign", "aligned_alloc",
					       "valloc",  "pvalloc",  "posix_memalign" };
	size_t i;

	if (strcmp(plan->functions[probe->function].allocator, "glibc") != 0)
		return false;
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(probe->symbol, members[i]))
			return true;
	return false;
}

static void session_find_allocator(const struct session *session, struct planned_file *file)
{
	const struct plan_probe *probes = session->plan.probes + file->first;
	uint64_t low = UINT64_MAX, high = 0;
	size_t i;

	for (i = 0; i < file->count; i++) {
		if (!probe_is_in_allocator(&session->plan, &probes[i]))
			continue;
		low = probes[i].entry_offset < low ? probes[i].entry_offset : low;
		high = probes[i].entry_offset > high ? probes[i].entry_offset : high;
	}
	if (low >= high)
		return;
	file->inner_low = low;
	file->inner_high = high;
}

/* Tell the programs which callers of a file's free functions are the allocator itself. */
static void session_set_inner_callers(struct session *session, const struct planned_file *file)
{
	const struct plan_probe *probes = session->plan.probes + file->first;
	uint64_t low = file->inner_low, high = file->inner_high;
	struct inner_callers callers;
	size_t i;

	for (i = 0; i < file->count && low < high; i++) {
		if (SHAPE_OP(probes[i].shape) != CALL_FREE ||
		    probes[i].function >= INNER_CALLERS_MAX)
			continue;
		callers.low = (int64_t)(low - probes[i].site_offset);
		callers.high = (int64_t)(high - probes[i].site_offset);
		bpf_map_update_elem(bpf_map__fd(session->bpf->maps.inner_callers),
				    &probes[i].function, &callers, BPF_ANY);
	}
}

/* Tell the programs which functions give out blocks of one size. */
static void session_set_fixed_sizes(struct session *session, const struct planned_file *file)
{
	const struct plan_probe *probes = session->plan.probes + file->first;
	size_t i;

	for (i = 0; i < file->count; i++)
		if (probes[i].fixed_size)
			bpf_map_update_elem(bpf_map__fd(session->bpf->maps.fixed_sizes),
					    &probes[i].function, &probes[i].fixed_size, BPF_ANY);
}

/* The file's entry in the session's list, planned if it is new. NULL if there is no file. */
static const struct planned_file *session_plan_module(struct session *session,
						      const struct process *process, uint32_t index)
{
	struct module *module = module_list_get(session->options.modules, index);
	struct planned_file *file;
	size_t i;

	if (module && module->fd < 0) {
		plan_add_module(&session->plan, session->options.decoder,
				index); /* to have searched it */
		session_note_unopened(session, module);
	}
	if (!module || module->fd < 0 || !module->file_inode)
		return NULL;
	for (i = 0; i < session->file_count; i++) {
		file = &session->files[i];
		if (file->module != index &&
		    (file->device != module->file_device || file->inode != module->file_inode))
			continue;
		/* It may have been closed meanwhile. */
		file->device = module->file_device;
		file->inode = module->file_inode;
		return file;
	}
	session->files = memory_grow(session->files, session->file_count, &session->file_capacity,
				     sizeof(*session->files));
	file = &session->files[session->file_count++];
	*file = (struct planned_file){ .device = module->file_device,
				       .inode = module->file_inode,
				       .module = index,
				       .first = session->plan.count };
	session_seek_dangers(session, process);
	file->count = plan_add_module(&session->plan, session->options.decoder, index);
	file->allocates = module->allocates;
	session_find_allocator(session, file);
	session_set_inner_callers(session, file);
	session_set_fixed_sizes(session, file);
	session_set_samples(session, file);
	return file;
}

bool session_has_nothing(struct session *session, const struct process *process, uint32_t module)
{
	const struct planned_file *file = session_plan_module(session, process, module);

	return file && !file->count;
}

static bool session_is_probed(const struct session *session, uint32_t module,
			      const struct process *process)
{
	size_t i;

	for (i = 0; i < session->probed_count; i++)
		if (session->probed[i].module == module && session->probed[i].process == process)
			return true;
	return false;
}

uint32_t session_process_index(const struct session *session, const struct process *process)
{
	uint32_t i;

	for (i = 0; i < session->process_count; i++)
		if (session->processes[i] == process)
			break;
	return i;
}

uint32_t session_owner_number(const struct session *session, const struct process *process)
{
	return session_process_index(session, process) + 1;
}

static enum attach_kind session_kind(const struct plan_probe *probe)
{
	switch (SHAPE_OP(probe->shape)) {
	case CALL_FREE:
		return ATTACH_FREE;
	case CALL_THROW:
		return ATTACH_THROW;
	case CALL_LEAVE:
		return ATTACH_LEAVE;
	case CALL_SAMPLE:
		return ATTACH_SAMPLE;
	case CALL_SAMPLE_END:
		return ATTACH_SAMPLE_END;
	default:
		return plan_probe_returns(probe) ? ATTACH_CALL : ATTACH_ENTRY;
	}
}

struct attach_point *session_points(const struct session *session, const struct planned_file *file,
				    const struct process *process)
{
	struct attach_point *points = memory_alloc(file->count, sizeof(*points));
	uint32_t target = process ? session_process_index(session, process) : 0;
	size_t i;

	for (i = 0; i < file->count; i++) {
		const struct plan_probe *probe = &session->plan.probes[file->first + i];

		points[i] = (struct attach_point){
			.offset = probe->site_offset,
			.cookie = SHAPE_WITH_STACK(probe->shape, probe->stack_bytes),
			.semaphore = probe->semaphore,
			.kind = session_kind(probe),
			.symbol = probe->symbol,
		};
		if (process)
			points[i].cookie = SHAPE_WITH_TARGET(points[i].cookie, target);
	}
	return points;
}

struct attach_how session_how(const struct session *session)
{
	const struct tracer_bpf *bpf = session->bpf;
	bool shaped = session->backend == BACKEND_KERNEL_IOCTL;

	return (struct attach_how){
		.backend = session->backend,
		.programs = { .session = bpf->progs.call_session,
			      .entry = shaped ? bpf->progs.call_shape : bpf->progs.call_entry,
			      .exit = bpf->progs.call_exit,
			      .free = shaped ? bpf->progs.free_shape : bpf->progs.free_entry,
			      .throw = bpf->progs.throw_entry,
			      .leave = shaped ? bpf->progs.leave_shape : bpf->progs.leave_entry,
			      .sample = shaped ? bpf->progs.sample_shape
					       : bpf->progs.sample_entry },
		.log = session->options.log,
	};
}

static int session_refuse_copy(const struct session *session, const struct process *process,
			       uint32_t module, struct error *error)
{
	return error_set(error, ERROR_NOTHING, -ESTALE,
			 "probes in %s do not reach process %d: it has mapped an older copy of the "
			 "file than there is now, as when an overlay file system has copied it up "
			 "since; restart the process",
			 module_list_get(session->options.modules, module)->path,
			 process->target.pid);
}

/* A file may be several modules, of which one was planned. */
static void session_mark_allocator(const struct session *session, uint32_t module)
{
	module_list_get(session->options.modules, module)->allocates = true;
	unwind_loader_mark_allocator(session->unwind, module);
}

int session_probe_module(struct session *session, struct process *process, uint32_t module,
			 struct error *error)
{
	const struct planned_file *file = session_plan_module(session, process, module);
	struct attach_how how = session_how(session);
	struct process *in = session_is_machine_wide(session) ? NULL : process;
	struct attachment *attachment = &session->attachment;
	const struct module *probed;
	struct attach_point *points;
	size_t i;
	int code;

	if (file && (file->samples || session->options.usdt == USDT_ONLY))
		interp_table_doubt(session->interps, process);
	session_give_up_returns(session, process);
	if (file && file->allocates)
		session_mark_allocator(session, module);
	if (!file || !file->count || session_is_probed(session, file->module, in))
		return 0;
	if (in)
		attachment = &session->slots[session_process_index(session, in)].attachment;
	session->probed = memory_grow(session->probed, session->probed_count,
				      &session->probed_capacity, sizeof(*session->probed));
	session->probed[session->probed_count++] =
		(struct probed_file){ .module = file->module, .process = in };
	points = session_points(session, file, in);
	probed = module_list_get(session->options.modules, file->module);
	if (session_warm(session, probed, points, file->count)) {
		session->probed[session->probed_count - 1].failed = true;
		free(points);
		return 0;
	}
	code = attach_file(attachment, &how, module_place(probed), in ? in->target.pid : 0, points,
			   file->count, error);
	for (i = 0; i < file->count; i++)
		session->plan.probes[file->first + i].refused |= points[i].refused;
	if (!code && !probes_landed(process, module, probed->fd, points, file->count))
		code = session_refuse_copy(session, process, module, error);
	session->probed[session->probed_count - 1].failed = code != 0;
	free(points);
	if (!code && file->allocates)
		session_late_file(session, process, module);
	if (!code)
		log_write(session->options.log, LOG_VERBOSE,
			  "%zu functions of %s are probed in %s %d (%s)", file->count,
			  module_list_get(session->options.modules, file->module)->path,
			  in ? "process" : "all processes, for", process->target.pid,
			  process->target.comm);
	return code;
}

void session_probe_interpreters(struct session *session)
{
	struct attach_how how = session_how(session);
	struct error error = { 0 };
	const struct module *module;
	struct interp_point point;

	while (interp_table_next_point(session->interps, &point)) {
		struct attach_point end = {
			.offset = point.offset,
			.cookie = SHAPE_WITH_TARGET(SHAPE(CALL_CODE_END, 0, 0, 1, 0, 0),
						    point.owner - 1),
			.kind = ATTACH_FREE,
			.symbol = "the end of the interpreter's code",
		};

		module = module_list_get(session->options.modules, point.module);
		if (!session_warm(session, module, &end, 1) &&
		    !attach_file(&session->slots[point.owner - 1].attachment, &how,
				 module_place(module), point.process->target.pid, &end, 1, &error))
			interp_table_point_set(session->interps, &point);
	}
}

int session_check_probes(const struct session *session, struct error *error)
{
	return plan_check(&session->plan, session->options.log, error);
}

const struct plan *session_plan(const struct session *session)
{
	return &session->plan;
}

enum backend session_backend(const struct session *session)
{
	return session->backend;
}
