/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See retained.h. */
#include "verdict/retained.h"

#define NS_PER_SECOND 1000000000ll

enum { A, B, C };

/* By births */

bool retained_has_births(const struct profile *const profiles[3])
{
	const struct profile *a = profiles[A], *b = profiles[B], *c = profiles[C];

	return c->run && a->run == c->run && b->run == c->run && c->births_known &&
	       a->time_ns <= b->time_ns && b->time_ns <= c->time_ns &&
	       marks_have(&c->marks, a->time_ns) &&
	       (b->time_ns == c->time_ns || marks_have(&c->marks, b->time_ns));
}

void retained_add_births(struct retained *retained, const struct profile *const profiles[3],
			 const struct profile_row *row)
{
	const struct generation born =
		generations_between(&row->births, profiles[A]->time_ns, profiles[B]->time_ns);
	const struct retained more = { true, born.bytes, born.bytes, born.objects, born.objects };

	retained_add(retained, &more);
}

/* By limits */

/* Times of reports are whole seconds. */
static bool retained_began_together(const struct profile *a, const struct profile *b)
{
	const __int128 begin_a = (__int128)a->wall_time * NS_PER_SECOND - a->duration_ns;
	const __int128 begin_b = (__int128)b->wall_time * NS_PER_SECOND - b->duration_ns;

	return begin_a - begin_b <= NS_PER_SECOND && begin_b - begin_a <= NS_PER_SECOND;
}

static bool retained_share_process(const struct profile *a, const struct profile *b)
{
	size_t i, n;

	for (i = 0; i < a->pid_count; i++)
		for (n = 0; n < b->pid_count; n++)
			if (a->pids[i] == b->pids[n])
				return true;
	return false;
}

static bool retained_is_one_run(const struct profile *a, const struct profile *b)
{
	if (a->run && b->run)
		return a->run == b->run;
	return retained_began_together(a, b) && retained_share_process(a, b);
}

static uint64_t retained_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t retained_less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* What is in use at the three moments, and had been allocated until then. */
struct limit {
	uint64_t inuse[3], allocated[3];
	bool allocated_known[3];
};

static bool limit_has_allocated(const struct limit *limit, int from, int to)
{
	return limit->allocated_known[from] && limit->allocated_known[to] &&
	       limit->allocated[from] <= limit->allocated[to];
}

static uint64_t limit_low(const struct limit *limit)
{
	if (!limit_has_allocated(limit, B, C))
		return 0;
	return retained_less(retained_less(limit->inuse[C], limit->inuse[A]),
			     limit->allocated[C] - limit->allocated[B]);
}

static uint64_t limit_high(const struct limit *limit)
{
	uint64_t most = retained_min(limit->inuse[B], limit->inuse[C]);

	if (!limit_has_allocated(limit, A, B))
		return most;
	return retained_min(most, limit->allocated[B] - limit->allocated[A]);
}

struct retained retained_limit(const struct profile *const profiles[3],
			       const struct profile_figures figures[3], const bool listed[3],
			       const bool known[3])
{
	const bool one_run = retained_is_one_run(profiles[A], profiles[B]) &&
			     retained_is_one_run(profiles[B], profiles[C]);
	struct limit bytes = { 0 }, objects = { 0 };
	int i;

	if (!known[A] || !known[B] || !known[C])
		return (struct retained){ 0 };
	for (i = A; i <= C; i++) {
		bytes.inuse[i] = profile_inuse_bytes(&figures[i]);
		objects.inuse[i] = profile_inuse_objects(&figures[i]);
		bytes.allocated[i] = figures[i].alloc_bytes;
		objects.allocated[i] = figures[i].alloc_objects;
		bytes.allocated_known[i] = objects.allocated_known[i] = one_run && listed[i];
	}
	return (struct retained){ true, limit_low(&bytes), limit_high(&bytes), limit_low(&objects),
				  limit_high(&objects) };
}

static void retained_sum(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

void retained_add(struct retained *sum, const struct retained *more)
{
	if (!more->known)
		return;
	sum->known = true;
	retained_sum(&sum->low_bytes, more->low_bytes);
	retained_sum(&sum->high_bytes, more->high_bytes);
	retained_sum(&sum->low_objects, more->low_objects);
	retained_sum(&sum->high_objects, more->high_objects);
}
