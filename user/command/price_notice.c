/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See price_notice.h. */
#include "command/price_notice.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

#define PERCENT 1000 /* shares are in thousandths of it */

/* Above this, tracing takes more of a thread's time than its own work. */
#define TOO_MUCH 2000 /* thousandths */

/* Below this of a core, a thread does so little that nobody waits for it. */
#define LITTLE PERCENT

static void notice_share(uint64_t share, struct buffer *out)
{
	uint64_t tenths = (share + PERCENT / 20) / (PERCENT / 10);

	if (!tenths)
		buffer_append_string(out, "less than 0.1 %");
	else if (tenths < 100)
		buffer_printf(out, "about %" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
	else
		buffer_printf(out, "about %" PRIu64 " %%", (share + PERCENT / 2) / PERCENT);
}

/* To two digits: more of them would not be the same the next time. */
static uint64_t notice_round(uint64_t number)
{
	uint64_t unit = 1;

	while (number / unit >= 100)
		unit *= 10;
	return (number + unit / 2) / unit * unit;
}

void price_notice(const struct price *price, int reason, struct buffer *out)
{
	char count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	buffer_append_string(out, "price: ");
	if (price->calls)
		buffer_printf(
			out, "%s call%s a second",
			units_format_count(notice_round(price_calls_per_second(price)), count),
			units_s(notice_round(price_calls_per_second(price))));
	else
		buffer_printf(out, "no call in the first %s",
			      units_format_time(price->window_ns, time));
	if (!price->measured) {
		buffer_printf(out, "; what a trap costs here could not be measured: %s",
			      strerror(-reason));
		return;
	}
	units_format_time(price->call_ns, time);
	if (!price->calls) {
		buffer_printf(out, "; one takes %s here", time);
		return;
	}
	buffer_printf(out, " at %s: ", time);
	notice_share(price_share(price), out);
	buffer_append_string(out, " of one core");
	if (price->threads > 1)
		buffer_printf(out, ", in %" PRIu64 " threads", price->threads);
}

/* How many times slower, in whole numbers from 10 on: it is mostly more, since costs are measured in loops that have all they need in the caches. */
static void notice_factor(uint64_t slowdown, struct buffer *out)
{
	uint64_t tenths = (slowdown + 50) / 100;

	if (slowdown >= PRICE_SLOWDOWN_MAX)
		buffer_append_string(out, "100 times or more");
	else if (tenths < 100)
		buffer_printf(out, "about %" PRIu64 ".%" PRIu64 " times or more", tenths / 10,
			      tenths % 10);
	else
		buffer_printf(out, "about %" PRIu64 " times or more", (slowdown + 500) / 1000);
}

bool price_notice_warning(const struct price *price, bool light, struct buffer *out)
{
	uint64_t slowdown = price_slowdown(price);

	if (!price->measured || slowdown <= TOO_MUCH || price_busiest_share(price) < LITTLE)
		return false;
	buffer_printf(out, "warning: %s slows ", light ? "tracing with --light" : "exact tracing");
	if (price->busiest_pid)
		buffer_printf(out, "process %" PRIu32 " ", price->busiest_pid);
	else
		buffer_append_string(out, "it ");
	notice_factor(slowdown, out);
	buffer_append_string(out, "; ");
	if (price->threads > 1)
		buffer_append_string(out, "of the threads that allocate, the busiest spends ");
	else
		buffer_append_string(out, "the thread that allocates spends ");
	notice_share(100 * PERCENT - 100 * PERCENT * 1000 / slowdown, out);
	buffer_append_string(out, " of its CPU time on being traced: trace it for a short time "
				  "only, such as -d 2s; --budget 1% finds leaks at 1 % of its CPU "
				  "time");
	return true;
}

void price_notice_log(const struct price *price, int reason, bool light, const struct log *log)
{
	struct buffer text = { 0 };

	price_notice(price, reason, &text);
	log_write(log, LOG_NOTICE, "%s", text.data);
	buffer_clear(&text);
	if (price_notice_warning(price, light, &text))
		log_write(log, LOG_NOTICE, "%s", text.data);
	buffer_free(&text);
}

static void notice_trap(const char *what, uint32_t ns, struct buffer *out)
{
	char count[UNITS_TEXT_MAX];

	if (ns)
		buffer_printf(out, "  %-40s%8s ns\n", what, units_format_count(ns, count));
}

void price_notice_traps(const struct trap_costs *costs, const char *backend, struct buffer *out)
{
	buffer_printf(out, "What a trap costs here (%s probes), without what is recorded\n",
		      backend);
	notice_trap("at an emulated instruction", costs->emulated_ns, out);
	notice_trap("at a single-stepped one", costs->stepped_ns, out);
	notice_trap("at an optimized one", costs->optimized_ns, out);
	notice_trap("at the return, where that is probed", costs->return_ns, out);
}

void price_notice_budget(const struct budget_report *report, const struct log *log)
{
	uint64_t share = report->cpu_ns ? report->cost_ns * 10000 / report->cpu_ns : 0;

	log_write(log, LOG_VERBOSE,
		  "budget: %" PRIu64 ".%02" PRIu64 " %% of the CPU time of the target in %" PRIu64
		  " windows: %.3f ms of %.3f ms%s",
		  share / 100, share % 100, report->window_count, (double)report->cost_ns / 1e6,
		  (double)report->cpu_ns / 1e6,
		  report->cost_unknown ? ", if a trap costs 6 us: that could not be measured" : "");
}
