/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See jit_names.h. */
#include "interp/jit_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "interp/perf_map.h"
#include "model/name_pool.h"
#include "system/proc.h"
#include "system/regular_file.h"

/* A process without a map is checked again after so long: it may get one. */
#define RETRY_NS 200000000ull

/* Lines of all maps that are kept: 128 MB. Each map may have half of what the others have left. */
#define LINES_MAX ((size_t)4 << 20)

struct jit_process {
	const struct target *target;
	uint64_t exec_ns; /* of the program whose map it is */
	uint64_t tried_ns;
	struct perf_map *map; /* NULL = none */
	size_t lines; /* that it may have */
	bool warned_cut;
};

struct jit_names {
	const struct log *log;
	struct name_pool *pool;
	struct jit_process *processes;
	size_t count, capacity;
};

struct jit_names *jit_names_new(const struct log *log)
{
	struct jit_names *names = memory_alloc(1, sizeof(*names));

	names->log = log;
	names->pool = name_pool_new();
	return names;
}

struct name_pool *jit_names_pool(const struct jit_names *names)
{
	return names->pool;
}

void jit_names_free(struct jit_names *names)
{
	size_t i;

	if (!names)
		return;
	name_pool_free(names->pool);
	for (i = 0; i < names->count; i++)
		perf_map_free(names->processes[i].map);
	free(names->processes);
	free(names);
}

void jit_names_drop(struct jit_names *names, const struct target *target)
{
	size_t i;

	for (i = 0; i < names->count; i++) {
		if (names->processes[i].target != target)
			continue;
		perf_map_free(names->processes[i].map);
		names->processes[i] = names->processes[--names->count];
		return;
	}
}

/* Open the map of a process; NULL if it has none that can be trusted to be its own. */
static struct perf_map *jit_open(pid_t pid, size_t lines)
{
	struct proc_status process;
	struct stat status;
	char path[64];
	int fd;

	if (proc_read_status("/proc", pid, &process))
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)process.namespace_pid);
	fd = regular_file_reopen(proc_open_in_root("/proc", pid, path, 0), pid);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && (status.st_uid == process.uid || !status.st_uid))
		return perf_map_new(fd, lines);
	close(fd);
	return NULL;
}

static struct jit_process *names_process(struct jit_names *names, const struct target *target)
{
	struct jit_process *jit;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (names->processes[i].target == target)
			return &names->processes[i];
	names->processes = memory_grow(names->processes, names->count, &names->capacity,
				       sizeof(*names->processes));
	jit = &names->processes[names->count++];
	*jit = (struct jit_process){ .target = target };
	return jit;
}

/* How many lines one more map may have. */
static size_t names_share(const struct jit_names *names)
{
	size_t left = LINES_MAX, i;

	for (i = 0; i < names->count; i++)
		if (names->processes[i].map)
			left -= names->processes[i].lines;
	return left / 2;
}

/* The map of a process, NULL if it has none. */
static struct perf_map *names_map(struct jit_names *names, const struct target *target)
{
	struct jit_process *jit = names_process(names, target);
	uint64_t now = clock_now_ns();

	if (jit->map && jit->exec_ns == target->exec_ns)
		return jit->map;
	if (!jit->map && jit->tried_ns && now - jit->tried_ns < RETRY_NS)
		return NULL;
	perf_map_free(jit->map);
	jit->map = NULL;
	jit->lines = names_share(names);
	jit->map = jit_open(target->pid, jit->lines);
	jit->warned_cut = false;
	jit->exec_ns = target->exec_ns;
	jit->tried_ns = now;
	return jit->map;
}

/* Report once that the tail of a map is ignored. */
static void names_warn_cut(struct jit_names *names, const struct target *target)
{
	struct jit_process *jit = names_process(names, target);

	if (jit->warned_cut || !perf_map_is_cut(jit->map))
		return;
	jit->warned_cut = true;
	log_write(names->log, LOG_NOTICE,
		  "process %d: its map of generated code is too large; its tail is ignored",
		  target->pid);
}

void jit_names_fill(struct jit_names *names, const struct target *target, struct stack *stack)
{
	char text[PERF_MAP_NAME_MAX];
	struct perf_map *map;
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		struct frame *frame = &stack->frames[i];

		if (frame->kind != FRAME_JIT || frame->name)
			continue;
		map = names_map(names, target);
		if (!map)
			return;
		if (perf_map_find(map, frame->address - 1, text))
			frame->name = name_pool_keep(names->pool,
						     &(struct frame_name){ .function = text });
		names_warn_cut(names, target);
	}
}
