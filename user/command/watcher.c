/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See watcher.h. */
#include "command/watcher.h"

#include "base/clock.h"
#include "base/cpu_delay.h"
#include "memory/memory_look.h"
#include "system/end_signals.h"

/* Between two looks there is so many times what the shorter one of the last two has taken: one that reads many new names is longer. */
#define REST 20
/* A heap is looked at for so long, and again after a rest of so many times that. */
#define HEAP_NS 300000000
#define HEAP_REST 50
/* Heaps of more processes are not. */
#define HEAPS_MAX 4
/* A watch that is sure goes on until it is known whether memory is fragmented, but no longer than that. */
#define MEMORY_NS 120000000000
/* Nothing is written sooner than that after the last time. */
#define WRITE_NS 5000000000

static void watcher_sum(const struct snapshot *snapshot, const struct budget_estimates *estimates,
			struct course_moment *moment)
{
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];

		if (site->ended || site->source != SOURCE_HEAP)
			continue;
		moment->tracked += site_stats_inuse_bytes(&site->stats);
		if (estimates)
			budget_estimate_add_gained(estimates, site->key, &moment->gained);
	}
}

/* The sum of all processes; of windows, what is traced is an estimate. False if one of them cannot be counted. */
static bool watcher_look(const struct snapshot *snapshot, const struct budget_estimates *estimates,
			 struct course_moment *moment)
{
	const uint64_t until_ns = clock_now_ns() + HEAP_NS * end_signals_slowness();
	size_t i;

	if (!snapshot->target_count || snapshot->target_count > HEAPS_MAX)
		return false;
	for (i = 0; i < snapshot->target_count; i++) {
		const struct target *target = snapshot->targets[i];
		struct memory_malloc malloc = { 0 };

		if (target->exited || !target->usage.known ||
		    memory_look_malloc(target->pid, until_ns, &malloc) || !malloc.live)
			return false;
		moment->rss += target->usage.rss_bytes;
		moment->live += malloc.live;
		moment->free += malloc.free;
	}
	watcher_sum(snapshot, estimates, moment);
	return true;
}

uint64_t watcher_own_ns(void)
{
	struct cpu_delay delay = cpu_delay_open(CPU_DELAY_OWN);
	const uint64_t waited_ns = (uint64_t)cpu_delay_read(&delay);

	cpu_delay_close(&delay);
	return clock_now_ns() - waited_ns;
}

void watcher_prepare(struct watcher *watcher, const struct snapshot *snapshot,
		     struct report_options *wanted)
{
	const uint64_t begin_ns = clock_now_ns(), own_ns = watcher_own_ns();
	struct course_moment moment = { .time_ns = begin_ns };

	watcher->settled.windows = snapshot->budget != NULL;
	wanted->settled = &watcher->settled;
	wanted->course = &watcher->course;
	if (begin_ns < watcher->heap_next_ns || end_signals_are_urgent())
		return;
	if (watcher_look(snapshot, wanted->estimates, &moment))
		course_add(&watcher->course, &moment);
	watcher->heap_next_ns = clock_now_ns() + (watcher_own_ns() - own_ns) * HEAP_REST;
}

bool watcher_wants(struct watcher *watcher, bool is_last)
{
	const struct settled *settled = &watcher->settled;

	if (!is_last && !watcher->is_asked &&
	    (watcher->written_changes == settled->changes ||
	     settled->time_ns < watcher->written_ns + WRITE_NS))
		return false;
	watcher->is_asked = false;
	watcher->written_changes = settled->changes;
	watcher->written_ns = settled->time_ns;
	return true;
}

void watcher_rest(struct watcher *watcher, uint64_t own_ns)
{
	const uint64_t now_ns = clock_now_ns(), look_ns = watcher_own_ns() - own_ns;

	watcher->next_ns =
		now_ns + (look_ns < watcher->look_ns ? look_ns : watcher->look_ns) * REST;
	watcher->look_ns = look_ns;
}

/* Is the memory of the processes judged, as far as it can be looked at, or has that taken too long? */
static bool watcher_knows_memory(const struct watcher *watcher)
{
	const struct settled *settled = &watcher->settled;

	return !watcher->course.count || course_judge(&watcher->course).word != COURSE_UNKNOWN ||
	       settled->time_ns - settled->start_ns >= MEMORY_NS;
}

bool watcher_is_over(const struct watcher *watcher)
{
	return settled_is_sure(&watcher->settled) && watcher_knows_memory(watcher);
}

void watcher_free(struct watcher *watcher)
{
	settled_free(&watcher->settled);
}
