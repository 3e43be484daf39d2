/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See session.h. The session owns its parts and the order in which they are called; they do the work. */
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/seed.h"
#include "base/deadline.h"
#include "base/memory.h"
#include "decode/plan_module.h"
#include "discover/module_finder.h"
#include "discover/translator.h"
#include "kernel/bpf_programs.h"
#include "kernel/trap_meter.h"
#include "windows/budget.h"
#include "follow/busy_threads.h"
#include "session/core.h"
#include "follow/file_limit.h"
#include "follow/guard.h"
#include "follow/hold.h"
#include "session/light_run.h"
#include "windows/meter.h"
#include "follow/module_gc.h"
#include "system/end_signals.h"
#include "system/thread_times.h"

/* Ends of processes that are handled in one turn. */
#define ENDED_AT_ONCE 64

/* On a busy machine, it may take long until it is known what a trap costs; at the end, that is waited for only so long. */
#define TRAPS_LATE_NS 5000000000
#define TRAPS_LAST_MS 300

/* For the PSS of processes, at each snapshot; the last one may take longer. More on slow machines. */
#define PSS_NS 20000000

/* Each part points to those that it needs. */
struct session {
	struct session_options options;
	struct kernel_features features;
	enum backend backend;
	uint64_t id_seed;
	size_t memory_next; /* of the slots: whose PSS is read first at the next snapshot */
	struct bpf_programs *programs;
	struct unwind_loader *unwind; /* NULL = stacks are walked by frame pointers */
	struct interp_table *interps;
	struct jit_names *jit_names;
	struct mapping_set *mappings;
	struct core core;
	struct guard guard;
	struct module_gc gc;
	struct trap_meter traps;
	struct meter meter;
	struct thread_times times; /* when the meter began */
	struct budget budget;
	struct light_run light;
	uint64_t events_dropped; /* by the ring buffer, when that was last looked at */
};

static bool session_has_named(const struct session *session)
{
	return session->options.named && session->options.named->count;
}

static bool session_probes_functions(const struct session *session)
{
	return session->options.usdt != USDT_ONLY || session_has_named(session);
}

/* Does the user want several processes to be traced? Children of one may come in any case. */
static bool session_is_for_several(const struct session *session)
{
	const struct session_options *options = &session->options;

	return options->several || options->selector || options->tree;
}

/* May files be probed for all processes at once? Not where a translator runs one, which a probe would end. */
static bool session_can_be_machine_wide(struct session *session)
{
	const struct selector *selector = session->options.selector;

	return selector && selector->kind == SELECT_ALL && filters_allow(&session->core.filters) &&
	       !translator_is_running() && session->features.task_storage &&
	       session->backend <= BACKEND_KERNEL_MULTI;
}

/* Processes that are expected at a time. */
static uint32_t session_process_room(const struct session *session)
{
	if (session->options.selector)
		return 256;
	return session->options.follow_fork ? 64 : 16;
}

static int session_load(struct session *session, struct error *error)
{
	const struct session_options *options = &session->options;
	struct bpf_settings settings = {
		.features = session->features,
		.backend = session->backend,
		.max_blocks = options->max_blocks,
		.max_stacks = options->max_stacks,
		.stack_depth = options->stack_depth,
		.min_size = options->min_size,
		.max_size = options->max_size,
		.processes = session_process_room(session),
		.functions = session_probes_functions(session),
		.samples = options->usdt != USDT_OFF,
		.only_samples = options->usdt == USDT_ONLY,
		.named = session_has_named(session),
		.light = options->light,
		.machine_wide = session->core.probes.machine_wide,
		.by_thread = options->by_thread,
		.by_frame_pointers = options->by_frame_pointers,
		.stop_process = options->stop_at_end,
	};
	int code = bpf_programs_load(&settings, &session->programs, error);

	if (code || options->by_frame_pointers)
		return code;
	return unwind_loader_open(bpf_programs_skeleton(session->programs), options->modules,
				  options->decoder, options->log, &session->unwind, error);
}

/* Tried on the tracer's own task, which gets no target_id by it. */
static void session_check_task_storage(struct session *session)
{
	uint32_t none = 0;
	int pidfd, code;

	if (!session->core.probes.machine_wide)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	code = maps_set(bpf_programs_maps(session->programs), MAPS_TARGET_IDS, &pidfd, &none);
	if (pidfd >= 0)
		close(pidfd);
	if (!code)
		return;
	session->core.probes.machine_wide = false;
	log_write(session->options.log, LOG_VERBOSE,
		  "attaching per process: cannot write task storage from user space (%s)",
		  strerror(-code));
}

/* What can be set up without a kernel. */
static void session_prepare(struct session *session)
{
	const struct session_options *options = &session->options;
	struct core *core = &session->core;

	core_init(core);
	core->filters = (struct filters){ .features = &session->features,
					  .known = options->returns,
					  .force = options->force,
					  .functions = session_probes_functions(session) };
	core->ended.keeps = options->keep_exited;
	core->files.decoder = options->decoder;
	core->probes.divided = options->divided;
	/* Windows attach them. */
	if (options->budget)
		core->probes.parts = 0;
	if (options->light)
		core->probes.parts = PROBES_ALL & ~PROBES_FREES;
	core->scan.only_samples = options->usdt == USDT_ONLY;
	core->scan.in_windows = options->budget || options->light;
	core->probes.in_windows = options->budget != 0;
	core->follow.selector = options->selector;
	core->follow.select_once = options->select_once;
	core->follow.children = options->follow_fork;
	core->follow.tree = options->tree;
	session->id_seed = seed_new();
	core->collect.min_age_ns = options->min_age_ns;
	core->collect.survived = options->survived;
	core->collect.marks = options->marks;
	session->mappings = mapping_set_new((uint64_t)sysconf(_SC_PAGESIZE), options->max_blocks);
}

static void session_connect_core(struct session *session)
{
	const struct session_options *options = &session->options;
	struct core *core = &session->core;
	const struct core_base base = { .modules = options->modules,
					.maps = bpf_programs_maps(session->programs),
					.shares = bpf_programs_shares(session->programs),
					.mappings = session->mappings,
					.jit_names = session->jit_names,
					.log = options->log };

	core->probes.how =
		(struct attach_how){ .backend = session->backend,
				     .programs = bpf_programs_to_attach(session->programs),
				     .log = options->log };
	core->late.by_process = session->backend <= BACKEND_KERNEL_MULTI;
	core->scan.unwind = session->unwind;
	core->scan.interps = session->interps;
	core_connect(core, &base);
}

static void session_plan_nothing(struct session *session)
{
	struct plan_options options = { .features = session->features.traps,
					.free_without_stack = true,
					.at_entry = session->options.probe_at_entry,
					.no_return_probes = session->options.no_return_probes,
					.seek_walkers = !session->core.probes.machine_wide,
					.named = session->options.named,
					.light = session->options.light,
					.ends = session->options.stop_at_end != 0,
					.inside = session->options.light &&
						  session->backend == BACKEND_KERNEL_SESSION,
					.usdt = session->options.usdt };

	planned_files_init(&session->core.files, &options);
}

/* What reads the names that processes have in memory and files of their own. */
static void session_start_names(struct session *session)
{
	const struct session_options *options = &session->options;
	const struct interp_maps maps = {
		.processes = bpf_programs_interp_processes(session->programs),
		.codes = bpf_programs_interp_codes(session->programs),
		.any = bpf_programs_interp_any(session->programs),
	};

	session->jit_names = jit_names_new(options->log);
	session->interps =
		interp_table_new(options->modules, options->decoder, options->log, &maps);
}

static void session_connect(struct session *session)
{
	struct core *core = &session->core;

	session_start_names(session);
	session_connect_core(session);
	session_plan_nothing(session);
	session->guard = (struct guard){ .processes = &core->processes,
					 .scan = &core->scan,
					 .programs = session->programs };
	session->meter = (struct meter){ .maps = bpf_programs_maps(session->programs),
					 .plan = &core->files.plan };
	session->budget = (struct budget){ .programs = session->programs,
					   .maps = bpf_programs_maps(session->programs),
					   .probes = &core->probes,
					   .meter = &session->meter,
					   .traps = &session->traps,
					   .targets.processes = &core->processes,
					   .sites = &core->sites,
					   .log = session->options.log,
					   .percent = session->options.budget,
					   .idle_part = session->options.idle_part,
					   .most_blocks = session->options.max_blocks,
					   .pace.max_window_ns = session->options.max_window_ns };
	session->light.light.on = session->options.light;
	session->light.light.most_blocks = session->options.max_blocks;
	light_run_connect(&session->light, core, session->programs,
			  bpf_programs_maps(session->programs), session->options.log);
	session->gc = (struct module_gc){ .processes = &core->processes,
					  .scan = &core->scan,
					  .sites = &core->sites,
					  .ended = &core->ended,
					  .notices = &core->notices,
					  .names = session->options.names };
}

static int session_start(struct session *session, struct error *error)
{
	const struct session_options *options = &session->options;
	int code = file_limit_raise(options->modules, session_is_for_several(session), error);

	if (!code)
		code = kernel_features_probe(&session->features, error);
	if (!code)
		code = backend_choose(&session->features,
				      options->backend_chosen ? &options->backend : NULL,
				      &session->backend, error);
	if (!code)
		session->core.probes.machine_wide = session_can_be_machine_wide(session);
	/* It measures while BPF programs are loaded. */
	if (!code)
		trap_meter_start(&session->traps, session->backend, &session->features.traps);
	if (!code)
		code = session_load(session, error);
	if (code)
		return code;
	session_check_task_storage(session);
	session_connect(session);
	code = process_table_open(&session->core.processes);
	if (code)
		return error_set(error, ERROR_PERMISSION, code, "cannot wait for processes: %s",
				 strerror(-code));
	return events_open(&session->core.events, session->programs, error);
}

int session_open(const struct session_options *options, struct session **ret_session,
		 struct error *error)
{
	struct session *session = memory_alloc(1, sizeof(*session));
	int code;

	session->options = *options;
	session_prepare(session);
	code = session_start(session, error);
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
	budget_free(&session->budget);
	light_free(&session->light.light);
	events_close(&session->core.events);
	unwind_loader_close(session->unwind);
	bpf_programs_free(session->programs);
	core_free(&session->core);
	interp_table_free(session->interps);
	jit_names_free(session->jit_names);
	mapping_set_free(session->mappings);
	guard_free(&session->guard);
	trap_meter_close(&session->traps);
	thread_times_free(&session->times);
	free(session);
}

/* What is due, and when the next is */

static void session_reap(struct session *session)
{
	if (!collect_reap(&session->core.collect))
		follow_release(&session->core.follow);
}

static uint64_t session_next_deadline(struct session *session, uint64_t next)
{
	const struct process_table *processes = &session->core.processes;
	size_t i;

	if (session->core.ended.needs_reap)
		deadline_add(&next, session->core.collect.reap_ns);
	if (follow_selects(&session->core.follow))
		deadline_add(&next, session->core.follow.select_ns);
	deadline_add(&next, session->core.events.look_ns);
	deadline_add(&next, session->budget.next_ns);
	light_run_add_deadlines(&session->light, &next);
	for (i = 0; i < processes->count; i++)
		if (processes->slots[i].process->needs_scan &&
		    !processes->slots[i].process->target.exited)
			deadline_add(&next, scan_due(processes->slots[i].process));
	if (session->core.late.start_ns)
		deadline_add(&next, module_gc_deadline(&session->gc));
	return next;
}

static void session_poll(struct session *session)
{
	uint64_t now = clock_now_ns(), next = interp_table_poll(session->interps, now);

	if (session->core.ended.needs_reap && session->core.collect.reap_ns <= now)
		session_reap(session);
	next = session_next_deadline(session, next);
	bpf_programs_share(session->programs,
			   session_is_for_several(session) ||
				   process_table_running(&session->core.processes) > 1);
	scan_probe_interpreters(&session->core.scan);
	trap_meter_reap(&session->traps);
	events_set_timer(&session->core.events,
			 events_are_unhandled(&session->core.events) ? 1 : next);
}

/* Events have been read, and handled, since `read_ns`. */
static void session_collect_modules(struct session *session, uint64_t read_ns)
{
	bool due = module_gc_is_due(&session->gc, read_ns);
	uint64_t dropped;

	if (!due || !session->core.late.start_ns || session->core.events.seen_count)
		return;
	/* Sites that BPF programs could not announce are in their maps. */
	dropped = bpf_programs_loss(session->programs, LOSS_EVENTS_DROPPED);
	if (dropped != session->events_dropped) {
		session->events_dropped = dropped;
		session_reap(session);
	}
	module_gc_run(&session->gc, read_ns);
}

/*
 * Mappings come before the stacks that run through them, and the end of a process after all that it has reported: it had
 * ended before the rest was read.
 */
void session_drain(struct session *session)
{
	struct process *ended[ENDED_AT_ONCE];
	size_t i, count = process_table_find_ended(&session->core.processes, ended, ENDED_AT_ONCE);
	uint64_t now;

	budget_poll(&session->budget);
	light_run_poll(&session->light);
	events_catch_up(&session->core.events);
	events_look(&session->core.events);
	if (session->core.follow.children_unknown)
		follow_find_children(&session->core.follow);
	follow_new_processes(&session->core.follow);
	follow_select_due(&session->core.follow);
	for (i = 0; i < session->core.processes.count; i++)
		if (session->core.processes.slots[i].process->needs_scan)
			scan_process(&session->core.scan, session->core.processes.slots[i].process,
				     clock_now_ns());
	events_drain_ring(&session->core.events);
	follow_end(&session->core.follow, ended, count);
	/* Stacks that were taken in files that are unmapped by now are read before those files are closed. */
	now = clock_now_ns();
	events_drain_ring(&session->core.events);
	session_collect_modules(session, now);
	session_poll(session);
}

int session_fd(const struct session *session)
{
	return session->core.events.epoll;
}

/* Phases */

int session_add_process(struct session *session, struct process *process, char *const *paths,
			struct error *error)
{
	int code = follow_add(&session->core.follow, process, paths, error);

	if (!code)
		session_drain(session);
	return code;
}

void session_select(struct session *session)
{
	follow_select(&session->core.follow);
	if (session->options.tree)
		follow_descendants(&session->core.follow);
}

bool session_has_matched(const struct session *session)
{
	return session->core.follow.has_matched;
}

int session_check_probes(const struct session *session, struct error *error)
{
	return plan_check(&session->core.files.plan, session->options.log, error);
}

int session_check_light(const struct session *session, struct error *error)
{
	return light_run_check(&session->light, error);
}

void session_activate(struct session *session)
{
	session->core.late.start_ns = clock_now_ns();
	/* Not later: a thread that begins when a process has ended may get its pid. */
	probe_set_start_detach_queue(&session->core.probes);
	if (session->options.budget)
		budget_start(&session->budget);
	else
		bpf_programs_record(session->programs, RECORD_ALL);
	light_run_start(&session->light);
	session_poll(session);
}

void session_deactivate(struct session *session)
{
	bpf_programs_record(session->programs, RECORD_NOTHING);
	session->budget.next_ns = 0;
	light_run_stop(&session->light);
}

void session_measure(struct session *session)
{
	busy_threads_read(&session->times, &session->core.processes);
	meter_begin(&session->meter, clock_now_ns());
	bpf_programs_measure(session->programs, true);
}

const struct price *session_end_measure(struct session *session, bool last, int *ret_reason)
{
	const uint64_t begin_ns = session->meter.begin_ns;
	struct trap_costs costs;

	if (!begin_ns)
		return NULL;
	if (!last && !light_run_is_settled(&session->light, begin_ns)) {
		meter_restart(&session->meter, clock_now_ns());
		busy_threads_read(&session->times, &session->core.processes);
		return NULL;
	}
	*ret_reason = trap_meter_read(&session->traps, last ? TRAPS_LAST_MS : 0, &costs);
	if (*ret_reason == -EINPROGRESS && !last && clock_now_ns() - begin_ns <= TRAPS_LATE_NS)
		return NULL;
	bpf_programs_measure(session->programs, false);
	meter_end(&session->meter, clock_now_ns(), *ret_reason ? NULL : &costs);
	busy_threads_find(&session->times, &session->core.processes, &session->meter.price);
	thread_times_free(&session->times);
	return &session->meter.price;
}

int session_attach_probes(struct session *session, unsigned int parts, struct error *error)
{
	return probe_set_attach(&session->core.probes, parts, error);
}

int session_detach_probes(struct session *session, unsigned int parts)
{
	return probe_set_detach(&session->core.probes, parts);
}

void session_detach_begin(struct session *session)
{
	session_deactivate(session);
	probe_set_close_begin(&session->core.probes);
}

void session_detach(struct session *session)
{
	session_detach_begin(session);
	probe_set_close(&session->core.probes);
}

bool session_see_open(struct session *session, pid_t pid, int fd, bool exec)
{
	uint32_t module = module_find_open(session->options.modules, pid, fd);

	if (module == MODULE_NONE)
		return true;
	events_catch_up(&session->core.events);
	return hold_see_open(&session->core.follow, pid, module, exec);
}

/* Reports */

static void session_read_losses(const struct session *session, uint64_t loss[LOSS_COUNT])
{
	const struct module_list *modules = session->options.modules;
	struct mapping_losses mappings = mapping_set_losses(session->mappings);
	uint32_t i;

	for (i = 0; i < LOSS_COUNT; i++)
		loss[i] = bpf_programs_loss(session->programs, (enum loss)i);
	loss[LOSS_RETURNS_UNMATCHED] += mappings.returns_unmatched;
	loss[LOSS_CHILDREN_MISSED] += session->core.follow.children_missed;
	loss[LOSS_FILES_WITHOUT_ROWS] += unwind_loader_refused(session->unwind);
	loss[LOSS_FILES_UNOPENED] +=
		modules->no_fd_ever + modules->unopened_ever + session->core.probes.unprobed;
	if (session->options.follow_fork)
		loss[LOSS_RECORDS_DROPPED] += session->core.events.records_lost;
	loss[LOSS_EXECS_LATE] += session->core.events.late_execs;
	loss[LOSS_FILES_LATE] += session->core.late.files;
	loss[LOSS_CHILDREN_LATE] += session->core.late.children;
	loss[LOSS_FILES_MISSED] += session->core.late.missed;
	loss[LOSS_MEMORY_SHARED] += session->core.late.shared;
	loss[LOSS_PROBES_REFUSED] += session->core.probes.refused;
	loss[LOSS_PROBES_MISSING] += session->guard.missing;
	loss[LOSS_ADDRESS_REUSED] += mappings.address_reused;
	loss[LOSS_BLOCKS_FULL] += mappings.blocks_full;
	loss[LOSS_BYTES_UNATTRIBUTED] += mappings.bytes_unattributed;
	loss[LOSS_PROGRAMS_MISSED] += bpf_programs_missed(session->programs);
}

/* PSS takes long: of many processes, some have theirs read at a snapshot, the others at the next ones. */
static void session_read_memory(struct session *session)
{
	const struct process_table *processes = &session->core.processes;
	uint64_t begin = clock_now_ns(), limit = (uint64_t)PSS_NS * end_signals_slowness();
	size_t first = session->memory_next, i;
	bool in_time = true;

	for (i = 0; i < processes->count; i++) {
		struct process *process = processes->slots[(first + i) % processes->count].process;

		in_time = in_time && clock_now_ns() - begin < limit;
		session->memory_next += in_time;
		process_read_memory(process, in_time);
	}
	if (processes->count)
		session->memory_next %= processes->count;
}

int session_snapshot(struct session *session, struct snapshot **ret_snapshot)
{
	struct snapshot *snapshot = snapshot_new();
	int code;

	session_drain(session);
	snapshot->time_ns = clock_now_ns();
	snapshot->start_ns = session->core.late.start_ns;
	snapshot->wall_time = time(NULL);
	snapshot->id_seed = session->id_seed;
	code = collect_read(&session->core.collect, snapshot->time_ns);
	if (code) {
		snapshot_free(snapshot);
		return code;
	}
	follow_release(&session->core.follow);
	follow_warn(&session->core.follow, snapshot->time_ns);
	guard_check(&session->guard);
	session_poll(session);
	process_table_count_files(&session->core.processes);
	regions_look(&session->core.regions);
	session_read_memory(session);
	collect_fill(&session->core.collect, snapshot);
	session_read_losses(session, snapshot->loss);
	if (session->options.budget)
		budget_fill(&session->budget, snapshot);
	else
		snapshot->price = session->meter.price;
	snapshot->light = light_run_report(&session->light);
	*ret_snapshot = snapshot;
	return 0;
}

int session_refuse_snapshot(int code, struct error *error)
{
	return error_set(error, ERROR_PERMISSION, code,
			 "cannot read the counters from the kernel: %s", strerror(-code));
}

uint64_t session_find_site(const struct session *session, pid_t pid, uint64_t address,
			   uint64_t size)
{
	return collect_find_site(&session->core.collect, pid, address, size);
}

void session_keep_history(struct session *session, struct history *history)
{
	uint64_t now_ns = clock_now_ns();

	session_drain(session);
	collect_keep(&session->core.collect, now_ns, history);
}

bool session_is_over(const struct session *session)
{
	return follow_is_over(&session->core.follow);
}

bool session_is_stopped(const struct session *session)
{
	return session->core.events.is_stopped;
}

bool session_traces(const struct session *session, pid_t pid)
{
	return process_table_find(&session->core.processes, (uint32_t)pid) != NULL;
}

bool session_covers(const struct session *session, pid_t pid)
{
	const struct process *process = process_table_find(&session->core.processes, (uint32_t)pid);

	return process && probe_set_covers(&session->core.probes, process);
}

size_t session_running(const struct session *session)
{
	return process_table_running(&session->core.processes);
}

void session_list(const struct session *session, struct pid_list *list)
{
	process_table_list(&session->core.processes, list);
}

const struct plan *session_plan(const struct session *session)
{
	return &session->core.files.plan;
}

enum backend session_backend(const struct session *session)
{
	return session->backend;
}
