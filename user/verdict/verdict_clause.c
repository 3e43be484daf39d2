/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See verdict_clause.h. */
#include "verdict/verdict_clause.h"

#include <inttypes.h>
#include <math.h>

#include "verdict/verdict_leak.h"
#include "base/units.h"

const char *verdict_clause_title(enum verdict_word word)
{
	static const char *const titles[VERDICT_WORDS] = {
		[VERDICT_NONE] = "-",	       [VERDICT_TEMPORARY] = "TEMPORARY",
		[VERDICT_STEADY] = "STEADY",   [VERDICT_WARM_UP] = "WARM-UP",
		[VERDICT_CACHE] = "CACHE",     [VERDICT_UNKNOWN] = "UNCLEAR",
		[VERDICT_FILLING] = "FILLING", [VERDICT_GROWING] = "GROWING",
		[VERDICT_LEAK] = "LEAK",
	};

	return titles[word];
}

static uint64_t clause_bytes(double bytes)
{
	return bytes > 0 ? bytes < 1e18 ? (uint64_t)(bytes + 0.5) : (uint64_t)1e18 : 0;
}

/* "4.1 MiB/min" */
static void clause_rate(struct buffer *text, double bytes_per_s)
{
	char size[UNITS_TEXT_MAX];

	buffer_printf(text, "%s%s/min", bytes_per_s < 0 ? "-" : "",
		      units_format_size(clause_bytes(fabs(bytes_per_s) * 60), size));
}

static void clause_growth(struct buffer *text, const struct verdict *verdict)
{
	clause_rate(text, verdict->growth.value);
	if (verdict->r2 >= 0)
		buffer_printf(text, ", R2 %.2f", verdict->r2);
}

/* As many digits as a share needs, with its limits rounded outwards: "12", "1.2", "0.12". */
static void clause_percent(struct buffer *text, double share, int digits,
			   double (*round_to)(double number))
{
	const double scale = digits == 2 ? 100 : digits == 1 ? 10 : 1;

	buffer_printf(text, "%.*f", digits, round_to(share * 100 * scale) / scale);
}

/* Windows follow the blocks that are in use at their end. */
static void clause_share(struct buffer *text, const struct estimate *share, bool in_windows)
{
	const int digits = share->value >= 0.1 ? 0 : share->value >= 0.01 ? 1 : 2;

	clause_percent(text, share->value, digits, round);
	buffer_printf(text, " %% of blocks%s never freed (95 %%: ",
		      in_windows ? " that outlive a window" : "");
	clause_percent(text, share->low, digits, floor);
	buffer_append_string(text, " to ");
	clause_percent(text, share->high, digits, ceil);
	buffer_append_string(text, "), ");
}

static void clause_wait(struct buffer *text, const struct verdict *verdict, const char *before)
{
	const uint64_t second = 1000000000;
	char time[UNITS_TEXT_MAX];

	/* An estimate has no fractions. */
	if (verdict->wait_ns)
		buffer_printf(
			text, "%slook for about %s more", before,
			units_format_time((verdict->wait_ns + second - 1) / second * second, time));
}

static void clause_leak(struct buffer *text, const struct verdict *verdict)
{
	if (verdict->never_freed_known)
		clause_share(text, &verdict->never_freed, verdict->estimated);
	clause_growth(text, verdict);
	if (verdict->gcs_known)
		buffer_printf(text, ", %" PRIu64 " GC%s", verdict->gcs, units_s(verdict->gcs));
}

/* "; what stays may be garbage: needs 2 major collections, seen 1" */
static void clause_garbage(struct buffer *text, const struct verdict *verdict)
{
	buffer_printf(text,
		      "; what stays may be garbage: needs %d major collections, seen %" PRIu64,
		      VERDICT_COLLECTIONS_MIN, verdict->gcs);
}

static void clause_growing(struct buffer *text, const struct verdict *verdict)
{
	clause_growth(text, verdict);
	if (verdict->kept) {
		buffer_append_string(text,
				     "; nothing freed yet: a leak, or a cache that is not full");
		return;
	}
	if (verdict->may_be_garbage) {
		clause_garbage(text, verdict);
		return;
	}
	buffer_append_string(text, "; whether what stays is freed is not known yet");
	clause_wait(text, verdict, ": ");
}

static void clause_filling(struct buffer *text, const struct verdict *verdict)
{
	const uint64_t second = 1000000000;
	char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	clause_rate(text, verdict->growth.value);
	buffer_append_string(text, ", was ");
	clause_rate(text, verdict->growth_before);
	if (verdict->level_ns)
		buffer_printf(text, "; levels out near %s in about %s",
			      units_format_size(clause_bytes(verdict->level_bytes), size),
			      units_format_time((verdict->level_ns + second - 1) / second * second,
						time));
	if (verdict->may_be_garbage)
		clause_garbage(text, verdict);
}

static void clause_cache(struct buffer *text, const struct verdict *verdict)
{
	char count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	buffer_printf(text, "births and deaths balance at %s block%s",
		      units_format_count(verdict->inuse_objects, count),
		      units_s(verdict->inuse_objects));
	if (verdict->mean_life_ns)
		buffer_printf(text, ", which live %s on average",
			      units_format_time(verdict->mean_life_ns, time));
}

static void clause_temporary(struct buffer *text, const struct verdict *verdict)
{
	char time[UNITS_TEXT_MAX];

	buffer_printf(text, "blocks live %s on average",
		      units_format_time(verdict->mean_life_ns, time));
	if (verdict->temporary >= 0.01)
		buffer_printf(text, ", %.0f %% are freed by the next call",
			      verdict->temporary * 100);
}

static void clause_warm_up(struct buffer *text, const struct verdict *verdict)
{
	char first[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	buffer_printf(text, "all growth came in the first %s of %s",
		      units_format_time(verdict->grown_ns, first),
		      units_format_time(verdict->time_ns, all));
}

void verdict_clause_append(const struct verdict *verdict, struct buffer *text)
{
	char size[UNITS_TEXT_MAX];

	switch (verdict->word) {
	case VERDICT_LEAK:
		clause_leak(text, verdict);
		break;
	case VERDICT_GROWING:
		clause_growing(text, verdict);
		break;
	case VERDICT_FILLING:
		clause_filling(text, verdict);
		break;
	case VERDICT_UNKNOWN:
		if (verdict->wait_ns)
			clause_wait(text, verdict, "");
		else
			buffer_append_string(text, "not enough is known yet");
		break;
	case VERDICT_CACHE:
		if (verdict->estimated)
			buffer_append_string(text, "blocks are freed, some late");
		else
			clause_cache(text, verdict);
		break;
	case VERDICT_WARM_UP:
		clause_warm_up(text, verdict);
		break;
	case VERDICT_STEADY:
		if (verdict->estimated)
			buffer_append_string(
				text, "what it has gained came before; it does not grow now");
		else
			buffer_printf(text, "%s, not growing",
				      units_format_size(verdict->inuse_bytes, size));
		break;
	case VERDICT_TEMPORARY:
		clause_temporary(text, verdict);
		break;
	case VERDICT_NONE:
	case VERDICT_WORDS:
		break;
	}
}
