/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trigger.h. */
#include "session/trigger.h"

#define PAST_MAX (TRIGGER_STEPS + 2)

const char *const trigger_words[TRIGGER_KINDS] = {
	[TRIGGER_RSS] = "when-rss",
	[TRIGGER_GROWTH] = "when-growth",
	[TRIGGER_OOM] = "on-oom",
	[TRIGGER_SIGNAL] = "signal",
};

static struct trigger_reading *trigger_past(struct trigger *trigger, size_t index)
{
	return &trigger->past[(trigger->first + index) % PAST_MAX];
}

/* A limit of 0 is never reached. */
static void trigger_judge(struct trigger *trigger, enum trigger_kind kind, uint64_t value,
			  uint64_t limit)
{
	bool *holds = &trigger->holds[kind];

	if (!limit)
		return;
	if (!*holds && value >= limit)
		*holds = trigger->fires[kind] = true;
	else if (*holds && value < limit - limit / 4)
		*holds = trigger->fires[kind] = false;
}

/* Keep a reading for each step, and of those that are too old only the last one. */
static void trigger_keep(struct trigger *trigger, struct trigger_reading reading)
{
	uint64_t span = trigger->limits.growth_ns, step = span / TRIGGER_STEPS;

	while (trigger->count > 1 && reading.time_ns - trigger_past(trigger, 1)->time_ns >= span) {
		trigger->first = (trigger->first + 1) % PAST_MAX;
		trigger->count--;
	}
	if (trigger->count &&
	    reading.time_ns - trigger_past(trigger, trigger->count - 1)->time_ns < step)
		return;
	/* There is room: of the kept ones, all but the first are younger than `span`, and a step apart. */
	*trigger_past(trigger, trigger->count++) = reading;
}

void trigger_read(struct trigger *trigger, uint64_t now_ns, uint64_t rss_bytes)
{
	uint64_t before;

	trigger->rss_bytes = rss_bytes;
	trigger_judge(trigger, TRIGGER_RSS, rss_bytes, trigger->limits.rss_bytes);
	if (!trigger->limits.growth_bytes)
		return;
	trigger_keep(trigger, (struct trigger_reading){ now_ns, rss_bytes });
	before = trigger_past(trigger, 0)->rss_bytes;
	trigger->grown_bytes = rss_bytes > before ? rss_bytes - before : 0;
	trigger_judge(trigger, TRIGGER_GROWTH, trigger->grown_bytes, trigger->limits.growth_bytes);
}

void trigger_see_kills(struct trigger *trigger, uint64_t kills)
{
	trigger->fires[TRIGGER_OOM] |= kills && !trigger->holds[TRIGGER_OOM];
	trigger->holds[TRIGGER_OOM] = kills;
}

void trigger_ask(struct trigger *trigger)
{
	trigger->fires[TRIGGER_SIGNAL] = true;
}

bool trigger_take(struct trigger *trigger, enum trigger_kind *ret_kind)
{
	enum trigger_kind kind;

	for (kind = 0; kind < TRIGGER_KINDS; kind++)
		if (trigger->fires[kind]) {
			trigger->fires[kind] = false;
			trigger->fired[kind]++;
			*ret_kind = kind;
			return true;
		}
	return false;
}
