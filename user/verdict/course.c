/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See course.h. */
#include "verdict/course.h"

#include "verdict/growth_rate.h"

/* Nothing is judged before. */
#define MOMENTS_MIN 6
/* Less is free in any heap: this part of malloc's memory, and so many bytes. */
#define FREE_PART 4
#define FREE_BYTES (1 << 20)
/* What is free grows if it is more by this part of itself in half of the time. */
#define FREE_GROWS 0.1

void course_add(struct course *course, const struct course_moment *moment)
{
	size_t i;

	if (course->count &&
	    moment->time_ns < course->moments[course->count - 1].time_ns + course->spacing_ns)
		return;
	if (course->count == COURSE_MOMENTS) {
		/* The first one stays. */
		for (i = 0; 2 * i < COURSE_MOMENTS; i++)
			course->moments[i] = course->moments[2 * i];
		course->count = i;
		course->spacing_ns =
			course->moments[i - 1].time_ns - course->moments[i - 2].time_ns;
	}
	course->moments[course->count++] = *moment;
}

static struct estimate course_growth(const struct course *course, size_t offset)
{
	struct growth_rate_point points[COURSE_MOMENTS];
	size_t first = course->count / 2, i;

	for (i = first; i < course->count; i++) {
		const struct course_moment *moment = &course->moments[i];
		const uint64_t *bytes = (const void *)((const char *)moment + offset);

		points[i - first] = (struct growth_rate_point){
			(double)(moment->time_ns - course->moments[first].time_ns) / 1e9,
			(double)*bytes
		};
	}
	return growth_rate_of(points, course->count - first, 0);
}

/* Is it certain that what is free grows, by what matters, and faster than what is in use? */
static bool course_free_grows(const struct course *course, const struct course_verdict *verdict)
{
	const struct course_moment *half = &course->moments[course->count / 2];
	const struct course_moment *last = &course->moments[course->count - 1];

	return verdict->free_growth.low > 0 && verdict->free_growth.value > verdict->live.value &&
	       (double)last->free > (double)half->free * (1 + FREE_GROWS);
}

struct course_verdict course_judge(const struct course *course)
{
	const struct course_moment *last;
	struct course_verdict verdict = { 0 };

	if (course->count < MOMENTS_MIN)
		return verdict;
	last = &course->moments[course->count - 1];
	verdict.free = last->free;
	verdict.rss = course_growth(course, offsetof(struct course_moment, rss));
	verdict.live = course_growth(course, offsetof(struct course_moment, live));
	verdict.free_growth = course_growth(course, offsetof(struct course_moment, free));
	if (last->free < FREE_BYTES || last->free < (last->free + last->live) / FREE_PART)
		verdict.word = COURSE_PLAIN;
	else if (course_free_grows(course, &verdict))
		verdict.word = COURSE_FRAGMENTING;
	else
		verdict.word = COURSE_FRAGMENTED;
	return verdict;
}

const char *course_name(enum course_word word)
{
	static const char *const names[] = { [COURSE_PLAIN] = "plain",
					     [COURSE_FRAGMENTED] = "fragmented",
					     [COURSE_FRAGMENTING] = "fragmenting" };

	return names[word];
}
