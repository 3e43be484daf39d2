/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of a session. Totals are the counters of the sites; the blocks are only read for their ages. So the
 * target runs on while they are read, and totals hold whatever it does meanwhile.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "kernel/map_reader.h"
#include "session/parts.h"
#include "tracer.skel.h"

/* A program that runs for so long has mapped its C library. */
#define LOADING_NS 1000000000

/* Keys of a map that are of no use any more: they are removed when it has been read. */
struct key_list {
	unsigned char *keys;
	size_t key_size, count, capacity;
};

/* All blocks are read to find those of ended programs: after that, this many times as long is for other things. */
#define BURY_REST 20
#define BURY_MIN_NS 50000000

/* State of one pass over a map. */
struct pass {
	struct session *session;
	struct snapshot *snapshot;
	struct key_list dead;
};

static void key_list_add(struct key_list *list, const void *key)
{
	list->keys = memory_grow(list->keys, list->count, &list->capacity, list->key_size);
	memcpy(list->keys + list->count++ * list->key_size, key, list->key_size);
}

static void key_list_remove(struct key_list *list, const struct bpf_map *map)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		bpf_map_delete_elem(bpf_map__fd(map), list->keys + i * list->key_size);
	free(list->keys);
	*list = (struct key_list){ 0 };
}

/* The programs that a process no longer runs leave the totals; so does what they held. */
static void pass_see_site(void *context, const void *key, const void *value)
{
	struct pass *pass = context;
	const struct site *record = value;
	struct known_site *site;
	uint64_t number;

	memcpy(&number, key, sizeof(number));
	/* A site that is newer than this report. */
	if (!site_table_get(&pass->session->sites, number) &&
	    !session_has_heard(pass->session, record->first_ns))
		return;
	site = session_learn_record(pass->session, number, value);
	if (!site)
		return;
	if (!session_site_is_current(site))
		key_list_add(&pass->dead, key);
	site_table_reset_ages(site);
}

/* A block, or a sample that stands for `objects` of together its size. */
static void pass_add_block(struct pass *pass, const void *key, const struct block *block,
			   uint64_t objects)
{
	struct known_site *site = site_table_get(&pass->session->sites, block->site);
	uint64_t now = pass->snapshot->time_ns;
	uint64_t age = now > block->born_ns ? now - block->born_ns : 0;

	if (!site)
		return;
	if (!session_site_is_current(site))
		key_list_add(&pass->dead, key);
	site_stats_add_age(&site->stats, age, block->size, objects,
			   pass->session->options.min_age_ns);
}

static void pass_see_block(void *context, const void *key, const void *value)
{
	pass_add_block(context, key, value, 1);
}

static void pass_see_sample(void *context, const void *key, const void *value)
{
	const struct sampled_block *sample = value;

	pass_add_block(context, key, &sample->block, sample->objects);
}

/* The row of a site, as of `time_ns`. False if it has none. */
static bool session_make_row(const struct session *session, const struct known_site *site,
			     uint64_t time_ns, struct snapshot_site *ret_row)
{
	const struct plan *plan = &session->plan;
	const struct site *record = &site->record;

	if (record->function >= plan->function_count)
		return false;
	*ret_row = (struct snapshot_site){
		.key = site->key,
		.target = &site->process->target,
		.function = &plan->functions[record->function],
		.source = (enum memory_source)record->source,
		.stack = site->stack,
		.stats = site->stats,
		.sampled = plan->functions[record->function].sampled,
	};
	if (record->source == SOURCE_MMAP)
		mapping_set_site(session->mappings, site->key, time_ns, session->options.min_age_ns,
				 &ret_row->stats);
	return true;
}

/* The kernel's copy of a site and its stack are given up. */
static void session_forget_sites(struct session *session, struct key_list *dead, uint64_t time_ns)
{
	struct snapshot_site row;
	size_t i;

	for (i = 0; i < dead->count; i++) {
		struct known_site *site;
		uint64_t key;

		memcpy(&key, dead->keys + i * dead->key_size, sizeof(key));
		site = site_table_get(&session->sites, key);
		if (!site)
			continue;
		bpf_map_delete_elem(bpf_map__fd(session->bpf->maps.stacks), &site->record.stack);
		bpf_map_delete_elem(bpf_map__fd(session->bpf->maps.interp_stacks),
				    &site->record.stack);
		if (session_make_row(session, site, time_ns, &row))
			session_keep_site(session, site, &row);
	}
	for (i = 0; i < dead->count; i++) {
		struct known_site *site;
		uint64_t key;

		memcpy(&key, dead->keys + i * dead->key_size, sizeof(key));
		site = site_table_get(&session->sites, key);
		if (site)
			mapping_set_drop(session->mappings, site->record.owner, site->record.image);
		site_table_remove(&session->sites, key);
	}
	key_list_remove(dead, session->bpf->maps.sites);
}

static void pass_add_rows(struct pass *pass)
{
	const struct session *session = pass->session;
	const struct table_slot *slot;
	struct snapshot_site row;
	size_t cursor = 0, i;

	while ((slot = table_next(&session->sites.sites, &cursor)))
		if (session_make_row(session, slot->value, pass->snapshot->time_ns, &row))
			snapshot_add_site(pass->snapshot, &row);
	for (i = 0; i < session->ended_site_count; i++) {
		row = session_ended_row(session, i);
		snapshot_add_site(pass->snapshot, &row);
	}
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

uint64_t session_loss(const struct session *session, enum loss loss)
{
	int cpus = libbpf_num_possible_cpus(), cpu;
	uint64_t *values = memory_alloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*values)), sum = 0;
	uint32_t key = loss;

	if (!bpf_map_lookup_elem(bpf_map__fd(session->bpf->maps.losses), &key, values))
		for (cpu = 0; cpu < cpus; cpu++)
			sum += values[cpu];
	free(values);
	return sum;
}

static void session_read_losses(const struct session *session, uint64_t loss[LOSS_COUNT])
{
	struct mapping_losses mappings = mapping_set_losses(session->mappings);
	struct bpf_program *program;
	uint32_t i;

	for (i = 0; i < LOSS_COUNT; i++)
		loss[i] = session_loss(session, (enum loss)i);
	loss[LOSS_RETURNS_UNMATCHED] += mappings.returns_unmatched;
	loss[LOSS_CHILDREN_MISSED] += session->children_missed;
	loss[LOSS_FILES_WITHOUT_ROWS] += unwind_loader_refused(session->unwind);
	loss[LOSS_FILES_UNOPENED] += session->options.modules->starved_ever +
				     session->options.modules->unopened_ever +
				     session->files_unprobed;
	if (session->options.follow_fork)
		loss[LOSS_RECORDS_DROPPED] += session->records_lost;
	loss[LOSS_EXECS_LATE] += session->late_execs;
	loss[LOSS_FILES_LATE] += session->files_late;
	loss[LOSS_CHILDREN_LATE] += session->children_late;
	loss[LOSS_MEMORY_SHARED] += session->memory_shared;
	loss[LOSS_PROBES_MISSING] += session->probes_missing;
	loss[LOSS_ADDRESS_REUSED] += mappings.address_reused;
	loss[LOSS_BLOCKS_FULL] += mappings.blocks_full;
	loss[LOSS_BYTES_UNATTRIBUTED] += mappings.bytes_unattributed;
	bpf_object__for_each_program(program, session->bpf->obj)
		loss[LOSS_PROGRAMS_MISSED] += program_missed(program);
}

static int session_read_maps(struct session *session, struct pass *pass)
{
	struct key_list dead_sites;
	int code;

	pass->dead = (struct key_list){ .key_size = sizeof(uint64_t) };
	session->has_dead = false;
	code = map_read(session->bpf->maps.sites, pass_see_site, pass);
	dead_sites = pass->dead;
	pass->dead = (struct key_list){ .key_size = sizeof(struct block_key) };
	if (!code)
		code = map_read(session->bpf->maps.blocks, pass_see_block, pass);
	key_list_remove(&pass->dead, session->bpf->maps.blocks);
	if (!code && bpf_map__autocreate(session->bpf->maps.samples)) {
		pass->dead = (struct key_list){ .key_size = sizeof(struct block_key) };
		code = map_read(session->bpf->maps.samples, pass_see_sample, pass);
		key_list_remove(&pass->dead, session->bpf->maps.samples);
	}
	session_forget_sites(session, &dead_sites, pass->snapshot->time_ns);
	if (!code)
		session_reuse_slots(session);
	return code;
}

void session_bury(struct session *session)
{
	struct snapshot unused = { .time_ns = session_now() };
	struct pass pass = { .session = session, .snapshot = &unused };
	uint64_t end;

	session_read_maps(session, &pass);
	end = session_now();
	session->bury_ns = end + BURY_MIN_NS + BURY_REST * (end - unused.time_ns);
}

/* A named process is listed after its end, too. */
static bool session_lists(const struct session *session, size_t position)
{
	return !session->processes[position]->buried ||
	       (session->slots[position].root && !session->options.keep_exited);
}

static void session_list_targets(const struct session *session, struct snapshot *snapshot)
{
	size_t i;

	for (i = 0; i < session->process_count; i++)
		if (session_lists(session, i))
			snapshot_add_target(snapshot, &session->processes[i]->target);
	for (i = 0; i < session->ended_count; i++)
		if (session->ended[i].has_sites || session->ended[i].until_ns == UINT64_MAX)
			snapshot_add_target(snapshot, session->ended[i].target);
}

/* Does the process map a file that is probed in it? */
static bool session_probes(const struct session *session, const struct process *process)
{
	size_t i, j, count = address_space_count(process->space);

	for (i = 0; i < session->probed_count; i++)
		for (j = 0; j < count && session->probed[i].process == process; j++)
			if (address_space_get(process->space, j).module ==
			    session->probed[i].module)
				return true;
	return false;
}

/* Probes that are tied to a thread which has ended may go when another tracer comes or goes, and nobody tells. */
static void session_doubt_probes(const struct session *session, struct process *process)
{
	if (!process->first_thread_ended || process->said_so || !process_alive(process))
		return;
	process->said_so = true;
	log_write(session->options.log, LOG_NOTICE,
		  "the first thread of process %d has ended: the kernel may take the probes out "
		  "when another tracer comes or goes",
		  process->target.pid);
}

void session_tell_unprobed(const struct session *session, size_t position, uint64_t time_ns)
{
	struct process *process = session->processes[position];
	const struct target *target = &process->target;
	bool settled = target->exited || time_ns > target->image_ns + LOADING_NS;

	if (process->said_unprobed || !settled || session_probes(session, process))
		return;
	process->said_unprobed = true;
	log_write(session->options.log, session->slots[position].root ? LOG_NOTICE : LOG_VERBOSE,
		  "nothing is probed in process %d: %s maps %s", target->pid,
		  target->exe ? target->exe : target->comm,
		  session->options.usdt == USDT_ONLY ? "no file that tells of samples (--usdt only)"
						     : "no allocator that is known");
}

static void session_tell_doubts(const struct session *session, uint64_t time_ns)
{
	size_t i;

	for (i = 0; i < session->process_count; i++) {
		session_doubt_probes(session, session->processes[i]);
		session_tell_unprobed(session, i, time_ns);
	}
}

int session_snapshot(struct session *session, struct snapshot **ret_snapshot)
{
	struct snapshot *snapshot = snapshot_new();
	struct pass pass = { .session = session, .snapshot = snapshot };
	int code;

	session_drain(session);
	snapshot->time_ns = session_now();
	snapshot->start_ns = session->start_ns;
	snapshot->wall_time = time(NULL);
	code = session_read_maps(session, &pass);
	if (code) {
		snapshot_free(snapshot);
		return code;
	}
	session_tell_doubts(session, snapshot->time_ns);
	session_check_code(session);
	session_poll(session);
	snapshot_set_modules(snapshot, session->options.modules);
	snapshot_hold_names(snapshot, jit_names_pool(session->jit_names));
	snapshot_hold_names(snapshot, interp_table_pool(session->interps));
	session_list_targets(session, snapshot);
	pass_add_rows(&pass);
	session_read_losses(session, snapshot->loss);
	*ret_snapshot = snapshot;
	return 0;
}
