/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See probe_set.h. */
#include "follow/probe_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/link_task.h"
#include "follow/probes_visible.h"
#include "follow/remote.h"

/* What is attached together, in the order in which it is: a group is attached when one of its parts is. */
static const unsigned int group_parts[PROBE_GROUPS] = {
	PROBES_REALLOCS | PROBES_ALLOCATIONS | PROBES_MAPPINGS, /* exits of functions, exceptions */
	PROBES_FREES,
	PROBES_REALLOCS,
	PROBES_MAPPINGS,
	PROBES_ALLOCATIONS,
	PROBES_INSIDE,
	PROBES_VERIFIED,
};

enum probe_group {
	GROUP_EXITS,
	GROUP_FREES,
	GROUP_REALLOCS,
	GROUP_MAPPINGS,
	GROUP_ALLOCATIONS,
	GROUP_INSIDE,
	GROUP_VERIFIED,
};

/* Groups with functions that free. */
static const bool group_frees[PROBE_GROUPS] = { [GROUP_FREES] = true, [GROUP_REALLOCS] = true };

void probe_set_free(struct probe_set *set)
{
	free(set->probed);
	free(set->points);
	set->probed = NULL;
	set->points = NULL;
	set->count = set->point_count = set->capacity = set->point_capacity = 0;
}

static enum probe_group group_of(const struct plan_probe *probe)
{
	switch (SHAPE_OP(probe->shape)) {
	case CALL_THROW:
	case CALL_LEAVE:
		return GROUP_EXITS;
	case CALL_FREE:
	case CALL_SAMPLE_END:
		return GROUP_FREES;
	case CALL_REALLOC:
		return GROUP_REALLOCS;
	case CALL_INSIDE:
	case CALL_INSIDE_SIZE:
		return GROUP_INSIDE;
	case CALL_ALLOC:
		return SHAPE_RESULT(probe->shape) == RESULT_INSIDE ? GROUP_VERIFIED
								   : GROUP_ALLOCATIONS;
	case CALL_MMAP:
	case CALL_MUNMAP:
	case CALL_MREMAP:
		return GROUP_MAPPINGS;
	default:
		return GROUP_ALLOCATIONS;
	}
}

static enum attach_kind kind_of(const struct plan_probe *probe)
{
	switch (SHAPE_OP(probe->shape)) {
	case CALL_FREE:
	case CALL_PROCESS_END:
		return ATTACH_FREE;
	case CALL_THROW:
		return ATTACH_THROW;
	case CALL_LEAVE:
		return ATTACH_LEAVE;
	case CALL_SAMPLE:
		return ATTACH_SAMPLE;
	case CALL_SAMPLE_END:
		return ATTACH_SAMPLE_END;
	case CALL_INSIDE:
	case CALL_INSIDE_SIZE:
		return ATTACH_INSIDE;
	default:
		return plan_probe_returns(probe) ? ATTACH_CALL : ATTACH_ENTRY;
	}
}

static struct attach_point point_of(const struct plan_probe *probe, const struct process *process)
{
	struct attach_point point = {
		.offset = probe->site_offset,
		.cookie = SHAPE_WITH_STACK(probe->shape, probe->stack_bytes),
		.semaphore = probe->semaphore,
		.kind = kind_of(probe),
		.symbol = probe->symbol,
	};

	if (process)
		point.cookie = SHAPE_WITH_TARGET(point.cookie, process->target_id);
	return point;
}

/* Where a list of points comes from: probes of the plan, by their index. */
struct point_list {
	struct attach_point *points;
	size_t *probes;
	size_t count;
};

static struct point_list point_list_new(size_t capacity)
{
	return (struct point_list){ .points = memory_alloc(capacity, sizeof(struct attach_point)),
				    .probes = memory_alloc(capacity, sizeof(size_t)) };
}

static void point_list_free(struct point_list *list)
{
	free(list->points);
	free(list->probes);
}

/* By how often they are hit. */
enum point_choice { POINTS_ALL, POINTS_SELDOM, POINTS_BUSY };

/* Which probes of a file are attached. */
struct choice_of_probes {
	size_t group;
	size_t skip; /* the first ones that are left out */
	bool again; /* they were attached before: those that the kernel has refused are left out */
	enum point_choice points;
	uint64_t all_hits; /* of all probes */
};

/* A probe that has less than one of so many hits is seldom hit. */
#define SELDOM_SHARE 64

/* As long as no hit was counted, it is taken for what programs mostly call. */
static bool probe_is_busy(const struct plan_probe *probe, uint64_t all_hits)
{
	if (all_hits)
		return probe->hits >= all_hits / SELDOM_SHARE;
	return !strcmp(probe->symbol, "malloc") || !strcmp(probe->symbol, "free") ||
	       !strncmp(probe->symbol, "_Zn", 3) || !strncmp(probe->symbol, "_Zd", 3);
}

static void point_list_fill(struct point_list *list, const struct probe_set *set,
			    const struct planned_file *file, const struct process *process,
			    const struct choice_of_probes *choice)
{
	size_t i;

	list->count = 0;
	for (i = file->first + choice->skip; i < file->first + file->count; i++) {
		const struct plan_probe *probe = &set->files->plan.probes[i];

		if ((set->divided && group_of(probe) != choice->group) ||
		    (choice->again && probe->refused) ||
		    (choice->points != POINTS_ALL &&
		     probe_is_busy(probe, choice->all_hits) != (choice->points == POINTS_BUSY)))
			continue;
		list->probes[list->count] = i;
		list->points[list->count++] = point_of(probe, process);
	}
}

static size_t probe_set_groups(const struct probe_set *set)
{
	return set->divided ? PROBE_GROUPS : 1;
}

static bool probe_set_has_group(const struct probe_set *set, unsigned int parts, size_t group)
{
	return parts & (set->divided ? group_parts[group] : PROBES_ALL);
}

/* Returns how many the kernel cannot probe; they are left out from now on. */
static uint64_t probe_set_note_refused(struct probe_set *set, const struct point_list *list)
{
	uint64_t refused = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		set->files->plan.probes[list->probes[i]].refused |= list->points[i].refused;
		refused += list->points[i].refused;
	}
	return refused;
}

/* Is a file left out in windows, for a function that frees and cannot be probed? */
static bool probe_set_is_blind(const struct probe_set *set, const struct planned_file *file)
{
	size_t i;

	for (i = file->first; i < file->first + file->count && set->in_windows; i++)
		if (set->files->plan.probes[i].refused &&
		    group_frees[group_of(&set->files->plan.probes[i])])
			return true;
	return false;
}

/*
 * What has come of attaching points in a window. Probes that the kernel refuses, be it all of them, are left out from now on, and it
 * goes on; other errors are of this window, which is lost, and counted as such.
 */
static int probe_set_judge_window(struct probe_set *set, const struct planned_file *file,
				  struct point_list *list, int code, struct error *error)
{
	const char *path = module_list_get(set->modules, file->module)->path;
	size_t i;

	if (attach_is_refusal(code)) {
		log_write(set->how.log, LOG_NOTICE, "%s", error->text);
		for (i = 0; i < list->count; i++)
			list->points[i].refused = true;
		code = 0;
	}
	set->refused += probe_set_note_refused(set, list);
	if (code || !probe_set_is_blind(set, file))
		return code;
	log_write(set->how.log, LOG_NOTICE,
		  "%s is not traced: without the probe of a function that frees, windows would "
		  "take blocks for blocks in use that are not",
		  path);
	return error_set(error, ERROR_NOTHING, -ENOTSUP,
			 "the kernel refuses the probe of a function that frees, in %s", path);
}

/* Attach probes of a file, all of one group. */
static int probe_set_attach_group(struct probe_set *set, struct probed_file *probed,
				  const struct planned_file *file,
				  const struct choice_of_probes *choice, struct error *error)
{
	struct point_list list = point_list_new(file->count);
	int fd = module_probe_fd(module_list_get(set->modules, file->module)), code = 0;
	pid_t pid = probed->process ? probed->process->target.pid : 0;
	uint64_t refused;

	point_list_fill(&list, set, file, probed->process, choice);
	if (list.count)
		code = attach_file(&probed->links[choice->group], &set->how, fd, pid, list.points,
				   list.count, error);
	if (set->in_windows) {
		code = probe_set_judge_window(set, file, &list, code, error);
	} else {
		refused = probe_set_note_refused(set, &list);
		if (code != -ESRCH)
			set->refused += code ? list.count : refused;
	}
	point_list_free(&list);
	return code;
}

/* Can the kernel read the probed pages of a file? If not, it is not probed. */
static bool probe_set_is_readable(struct probe_set *set, const struct planned_file *file)
{
	struct point_list list = point_list_new(file->count);
	size_t i;
	int code;

	for (i = file->first; i < file->first + file->count; i++)
		list.points[list.count++] = point_of(&set->files->plan.probes[i], NULL);
	code = remote_warm(module_list_get(set->modules, file->module), list.points, list.count,
			   set->how.log);
	point_list_free(&list);
	set->unprobed += code != 0;
	return !code;
}

/* Do the probes of a file change the code that the process runs? */
static bool probe_set_is_visible(const struct probe_set *set, const struct process *process,
				 const struct planned_file *file, uint32_t module)
{
	struct point_list list = point_list_new(file->count);
	size_t i;
	bool visible;

	for (i = file->first; i < file->first + file->count; i++)
		if (probe_set_expects(set, &set->files->plan.probes[i]))
			list.points[list.count++] = point_of(&set->files->plan.probes[i], NULL);
	visible = probes_visible(process, module, module_list_get(set->modules, file->module)->fd,
				 list.points, list.count);
	point_list_free(&list);
	return visible;
}

static int probe_set_refuse_copy(const struct probe_set *set, const struct process *process,
				 uint32_t module, struct error *error)
{
	return error_set(error, ERROR_NOTHING, -ESTALE,
			 "probes in %s do not reach process %d: it has mapped an older copy of the "
			 "file than there is now, as when an overlay file system has copied it up "
			 "since; restart the process",
			 module_list_get(set->modules, module)->path, process->target.pid);
}

static struct probed_file *probe_set_find(const struct probe_set *set, uint32_t module,
					  const struct process *process)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->probed[i].module == module && set->probed[i].process == process)
			return &set->probed[i];
	return NULL;
}

/* Attach all probes of a file whose parts are attached, or none. */
static int probe_set_attach_whole(struct probe_set *set, struct probed_file *probed,
				  const struct planned_file *file, struct error *error)
{
	struct choice_of_probes choice = { 0 };
	struct attachment all = { 0 };
	uint64_t refused = set->refused;
	size_t group;
	int code = 0;

	for (; choice.group < probe_set_groups(set) && !code; choice.group++)
		if (probe_set_has_group(set, set->parts, choice.group))
			code = probe_set_attach_group(set, probed, file, &choice, error);
	if (!code)
		return 0;
	/* Of the groups before and after it, too. */
	set->refused = refused + (code == -ESRCH ? 0 : file->count);
	for (group = 0; group < PROBE_GROUPS; group++)
		attachment_join(&all, &probed->links[group]);
	attachment_close(&all);
	return code;
}

int probe_set_probe(struct probe_set *set, struct process *process, const struct planned_file *file,
		    uint32_t module, struct error *error)
{
	struct process *in = set->machine_wide ? NULL : process;
	struct probed_file *probed;
	int code;

	if (!file->count || probe_set_find(set, file->module, in))
		return 0;
	set->probed = memory_grow(set->probed, set->count, &set->capacity, sizeof(*set->probed));
	probed = &set->probed[set->count++];
	*probed = (struct probed_file){ .module = file->module, .process = in };
	probed->failed = !probe_set_is_readable(set, file);
	if (probed->failed)
		return 0;
	code = probe_set_attach_whole(set, probed, file, error);
	if (!code && !probe_set_is_visible(set, process, file, module))
		code = probe_set_refuse_copy(set, process, module, error);
	probed->failed = code != 0;
	return code ? code : 1;
}

void probe_set_add_planned(struct probe_set *set, const struct planned_file *file, size_t kept)
{
	struct choice_of_probes choice = { .skip = kept };
	struct error error = { 0 };
	size_t i;
	int code;

	for (i = 0; i < set->count && file->count > kept; i++) {
		struct probed_file *probed = &set->probed[i];

		if (probed->module != file->module || probed->failed ||
		    (probed->process && probed->process->target.exited))
			continue;
		for (choice.group = 0; choice.group < probe_set_groups(set); choice.group++) {
			if (!probe_set_has_group(set, set->parts, choice.group))
				continue;
			code = probe_set_attach_group(set, probed, file, &choice, &error);
			if (code && code != -ESRCH)
				log_write(set->how.log, LOG_NOTICE, "%s", error.text);
		}
	}
}

void probe_set_close_calls(struct probe_set *set)
{
	struct attachment all = { 0 };
	size_t i, group;

	for (i = 0; i < set->count; i++) {
		for (group = 0; group < PROBE_GROUPS; group++) {
			struct attachment calls = { .calls = set->probed[i].links[group].calls };

			set->probed[i].links[group].calls = (struct links){ 0 };
			attachment_join(&all, &calls);
		}
	}
	attachment_close(&all);
	detach_queue_wait(set->detach_queue);
}

static int probe_set_attach_point(struct probe_set *set, struct probed_point *point,
				  struct error *error)
{
	struct attach_point end = {
		.offset = point->offset,
		.cookie = point->cookie,
		.kind = ATTACH_FREE,
		.symbol = point->symbol,
	};

	const struct module *module = module_list_get(set->modules, point->module);
	int code = remote_warm(module, &end, 1, set->how.log);

	set->unprobed += code != 0;
	return code ? code
		    : attach_file(&point->link, &set->how, module_probe_fd(module),
				  point->process->target.pid, &end, 1, error);
}

int probe_set_probe_point(struct probe_set *set, const struct probed_point *point,
			  struct error *error)
{
	struct probed_point *added;
	int code = 0;

	set->points = memory_grow(set->points, set->point_count, &set->point_capacity,
				  sizeof(*set->points));
	added = &set->points[set->point_count++];
	*added = *point;
	if (set->parts & PROBES_FREES)
		code = probe_set_attach_point(set, added, error);
	if (code)
		set->point_count--;
	return code;
}

/* The plan's entry of a file that is probed, which may have been closed and forgotten meanwhile. */
static const struct planned_file *probe_set_file(const struct probe_set *set, uint32_t module)
{
	const struct module *opened = module_list_get(set->modules, module);
	size_t i;

	for (i = 0; i < set->files->count && opened && opened->fd >= 0; i++)
		if (set->files->items[i].module == module && set->files->items[i].count)
			return &set->files->items[i];
	return NULL;
}

/* Of all files, those of one group. */
static int probe_set_attach_files(struct probe_set *set, const struct choice_of_probes *choice,
				  struct error *error)
{
	const struct planned_file *file;
	int code, first = 0;
	size_t i;

	for (i = 0; i < set->count; i++) {
		struct probed_file *probed = &set->probed[i];

		if (probed->failed || (probed->process && probed->process->target.exited))
			continue;
		file = probe_set_file(set, probed->module);
		if (!file || probe_set_is_blind(set, file))
			continue;
		code = probe_set_attach_group(set, probed, file, choice,
					      first ? &(struct error){ 0 } : error);
		if (code && code != -ESRCH && !first)
			first = code;
	}
	return first;
}

static int probe_set_attach_points(struct probe_set *set, struct error *error)
{
	int code, first = 0;
	size_t i;

	for (i = 0; i < set->point_count; i++) {
		if (set->points[i].process->target.exited)
			continue;
		code = probe_set_attach_point(set, &set->points[i],
					      first ? &(struct error){ 0 } : error);
		if (code && code != -ESRCH && !first)
			first = code;
	}
	return first;
}

/* Is that a change that the set can make? */
static bool probe_set_allows(const struct probe_set *set, unsigned int parts)
{
	return set->divided || parts == PROBES_ALL || !parts;
}

/* Of those that were detached `before`, the probes of the parts that are attached now. */
static int probe_set_attach_chosen(struct probe_set *set, unsigned int before,
				   enum point_choice points, struct error *error)
{
	struct choice_of_probes choice = { .again = true, .points = points };
	int code, first = 0;
	size_t i;

	for (i = 0; i < set->files->plan.count; i++)
		choice.all_hits += set->files->plan.probes[i].hits;
	for (; choice.group < probe_set_groups(set) && !(first && set->in_windows);
	     choice.group++) {
		if (probe_set_has_group(set, before, choice.group) ||
		    !probe_set_has_group(set, set->parts, choice.group))
			continue;
		code = probe_set_attach_files(set, &choice, first ? &(struct error){ 0 } : error);
		first = first ? first : code;
	}
	return first;
}

int probe_set_attach(struct probe_set *set, unsigned int parts, struct error *error)
{
	unsigned int before = set->parts, after = before | parts;
	int code, first;

	if (!probe_set_allows(set, after))
		return error_set(error, ERROR_USAGE, -EINVAL, "the probes are not divided");
	set->parts = after;
	if (set->in_windows) {
		first = probe_set_attach_chosen(set, before, POINTS_SELDOM, error);
		if (!first)
			first = probe_set_attach_chosen(set, before, POINTS_BUSY, error);
	} else {
		first = probe_set_attach_chosen(set, before, POINTS_ALL, error);
	}
	if (after & ~before & PROBES_FREES) {
		code = probe_set_attach_points(set, first ? &(struct error){ 0 } : error);
		first = first ? first : code;
	}
	return first;
}

/* Take the links of parts out of the lists. */
static struct attachment probe_set_take_parts(struct probe_set *set, unsigned int parts)
{
	unsigned int after = set->parts & ~parts;
	struct attachment all = { 0 };
	size_t group, i;

	set->parts = after;
	for (group = 0; group < probe_set_groups(set); group++)
		if (!probe_set_has_group(set, after, group))
			for (i = 0; i < set->count; i++)
				attachment_join(&all, &set->probed[i].links[group]);
	for (i = 0; i < set->point_count && !(after & PROBES_FREES); i++)
		attachment_join(&all, &set->points[i].link);
	return all;
}

struct link_closing *probe_set_detach_begin(struct probe_set *set, unsigned int parts)
{
	struct attachment links;

	if (!probe_set_allows(set, set->parts & ~parts))
		return NULL;
	links = probe_set_take_parts(set, parts);
	return attachment_close_begin(&links);
}

int probe_set_detach(struct probe_set *set, unsigned int parts)
{
	if (!probe_set_allows(set, set->parts & ~parts))
		return -EINVAL;
	link_task_close_end(probe_set_detach_begin(set, parts));
	return 0;
}

bool probe_set_has(const struct probe_set *set, uint32_t module, const struct process *process)
{
	const struct probed_file *probed =
		probe_set_find(set, module, set->machine_wide ? NULL : process);

	return probed && !probed->failed;
}

bool probe_set_expects(const struct probe_set *set, const struct plan_probe *probe)
{
	return !probe->refused &&
	       probe_set_has_group(set, set->parts, set->divided ? group_of(probe) : 0);
}

bool probe_set_has_any(const struct probe_set *set, const struct process *process)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (!set->probed[i].process || set->probed[i].process == process)
			return true;
	return false;
}

bool probe_set_covers(const struct probe_set *set, const struct process *process)
{
	const struct process *in = set->machine_wide ? NULL : process;
	size_t i, j, count = address_space_count(process->space);

	for (i = 0; i < set->count; i++)
		for (j = 0; j < count && set->probed[i].process == in; j++)
			if (address_space_get(process->space, j).module == set->probed[i].module)
				return true;
	return false;
}

void probe_set_start_detach_queue(struct probe_set *set)
{
	if (!set->detach_queue)
		set->detach_queue = detach_queue_new();
}

size_t probe_set_closing(const struct probe_set *set)
{
	return detach_queue_pending(set->detach_queue);
}

/* Take the links of a process out of the lists. */
static struct attachment probe_set_take_links(struct probe_set *set, const struct process *process)
{
	struct attachment all = { 0 };
	size_t i, group;

	for (i = 0; i < set->count; i++)
		for (group = 0; group < PROBE_GROUPS && set->probed[i].process == process; group++)
			attachment_join(&all, &set->probed[i].links[group]);
	for (i = 0; i < set->point_count; i++)
		if (set->points[i].process == process)
			attachment_join(&all, &set->points[i].link);
	return all;
}

void probe_set_end(struct probe_set *set, const struct process *process)
{
	struct attachment links = probe_set_take_links(set, process);

	probe_set_start_detach_queue(set);
	detach_queue_add(set->detach_queue, &links);
}

void probe_set_forget(struct probe_set *set, const struct process *process, bool now)
{
	struct attachment links = probe_set_take_links(set, process);
	size_t i, kept = 0;

	if (now)
		attachment_close(&links);
	else if (attachment_count(&links))
		detach_queue_add(set->detach_queue, &links);
	for (i = 0; i < set->count; i++)
		if (set->probed[i].process != process)
			set->probed[kept++] = set->probed[i];
	set->count = kept;
	for (i = kept = 0; i < set->point_count; i++)
		if (set->points[i].process != process)
			set->points[kept++] = set->points[i];
	set->point_count = kept;
}

void probe_set_close_begin(struct probe_set *set)
{
	struct attachment links = probe_set_take_parts(set, PROBES_ALL);

	detach_queue_add(set->detach_queue, &links);
}

void probe_set_close(struct probe_set *set)
{
	probe_set_close_begin(set);
	detach_queue_free(set->detach_queue);
	set->detach_queue = NULL;
}
