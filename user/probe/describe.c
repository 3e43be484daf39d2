/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe plan as text for a person: plan_describe of plan.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "probe/plan.h"

/* Widths of the columns of a file's table. */
struct widths {
	int symbol, site, instruction, cost;
};

static void width_raise(int *width, const char *text)
{
	if ((int)strlen(text) > *width)
		*width = (int)strlen(text);
}

static const char *probe_site(const struct plan_probe *probe, char text[48])
{
	uint64_t beyond = probe->site_offset - probe->entry_offset;

	if (beyond)
		snprintf(text, 48, "0x%" PRIx64 "+%" PRIu64, probe->entry_offset, beyond);
	else
		snprintf(text, 48, "0x%" PRIx64, probe->entry_offset);
	return text;
}

static struct widths plan_widths(const struct plan *plan, uint32_t module)
{
	struct widths widths = {
		.symbol = (int)strlen("FUNCTION"),
		.site = (int)strlen("SITE"),
		.instruction = (int)strlen("INSTRUCTION"),
		.cost = (int)strlen("COST"),
	};
	char site[48];
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct plan_probe *probe = &plan->probes[i];

		if (probe->module != module)
			continue;
		width_raise(&widths.symbol, probe->symbol);
		width_raise(&widths.site, probe_site(probe, site));
		width_raise(&widths.instruction, probe->instruction);
		width_raise(&widths.cost, probe_cost_name(probe->cost));
	}
	return widths;
}

static void describe_row(const struct widths *widths, const char *symbol, const char *site,
			 const char *instruction, const char *cost, const char *why,
			 struct buffer *out)
{
	buffer_printf(out, "  %-*s  %-*s  %-*s  %-*s  %s\n", widths->symbol, symbol, widths->site,
		      site, widths->instruction, instruction, widths->cost, cost, why);
}

static void describe_probe(const struct plan_probe *probe, const struct widths *widths,
			   struct buffer *out)
{
	char site[48];

	describe_row(widths, probe->symbol, probe_site(probe, site),
		     *probe->instruction ? probe->instruction : "?", probe_cost_name(probe->cost),
		     probe->reason, out);
	if (*probe->aliases)
		buffer_printf(out, "  %-*s  also %s\n", widths->symbol, "", probe->aliases);
}

static void describe_file(const struct plan *plan, uint32_t module, struct buffer *out)
{
	const struct module *found = plan->modules ? module_list_get(plan->modules, module) : NULL;
	struct widths widths = plan_widths(plan, module);
	size_t i;

	text_append_safe(out, found && found->path ? found->path : "unknown file");
	buffer_append_string(out, "\n");
	describe_row(&widths, "FUNCTION", "SITE", "INSTRUCTION", "COST", "WHY", out);
	for (i = 0; i < plan->count; i++)
		if (plan->probes[i].module == module)
			describe_probe(&plan->probes[i], &widths, out);
}

/* Is this the first probe of its file? Each file is described once, where its first probe is. */
static bool probe_opens_file(const struct plan *plan, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (plan->probes[i].module == plan->probes[index].module)
			return false;
	return true;
}

/* Is this the first function of its file that allocates or frees? Exceptions and returns may come before it. */
static bool probe_opens_calls(const struct plan *plan, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (plan->probes[i].module == plan->probes[index].module &&
		    plan_count_calls(plan, i, 1))
			return false;
	return plan_count_calls(plan, index, 1);
}

static const char *plan_file_name(const struct plan *plan, uint32_t module)
{
	const struct module *found = plan->modules ? module_list_get(plan->modules, module) : NULL;
	const char *slash = found && found->path ? strrchr(found->path, '/') : NULL;

	if (!found || !found->path)
		return "unknown file";
	return slash ? slash + 1 : found->path;
}

static bool is_libc(const char *allocator)
{
	return !strcmp(allocator, "glibc") || !strcmp(allocator, "musl");
}

/*
 * Is there a malloc besides the C library's? Then that may be the one that is used. Two C libraries are those of two
 * processes.
 */
static bool plan_replaces_malloc(const struct plan *plan, uint32_t module)
{
	bool own = false, other = false;
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct plan_probe *probe = &plan->probes[i];

		if (strcmp(probe->symbol, "malloc") != 0)
			continue;
		own = own || probe->module == module;
		other = other || !is_libc(plan->functions[probe->function].allocator);
	}
	return own && other;
}

/* "otel_memory, 2 sites (sampled by the program)" */
static void summarize_samples(size_t count, size_t functions, struct buffer *out)
{
	if (!count)
		return;
	buffer_printf(out, "otel_memory, %zu site%s (sampled by the program)%s", count,
		      units_s(count), functions ? ", " : "");
}

static void summarize_file(const struct plan *plan, size_t first, struct buffer *out)
{
	const struct plan_probe *probe = &plan->probes[first];
	const char *allocator = "unknown";
	size_t i, count = 0, samples = 0;

	for (i = first; i < plan->count; i++) {
		const struct plan_probe *one = &plan->probes[i];

		if (one->module != probe->module || !plan_count_calls(plan, i, 1))
			continue;
		samples += plan_probe_is_sample(one);
		if (!plan_probe_is_sample(one) && !count++)
			allocator = plan->functions[one->function].allocator;
	}
	buffer_append_string(out, out->length ? "; " : "");
	text_append_safe(out, plan_file_name(plan, probe->module));
	buffer_append_string(out, ": ");
	summarize_samples(samples, count, out);
	if (count)
		buffer_printf(out, "%zu function%s", count, units_s(count));
	if (strcmp(allocator, "unknown") != 0)
		buffer_printf(out, " (%s)", allocator);
	if (is_libc(allocator) && plan_replaces_malloc(plan, probe->module))
		buffer_append_string(out, ", malloc present but perhaps unused");
}

void plan_summarize(const struct plan *plan, size_t first, struct buffer *out)
{
	size_t i;

	for (i = first; i < plan->count; i++)
		if (!(first && plan->probes[i].turned) && probe_opens_calls(plan, i))
			summarize_file(plan, i, out);
}

bool plan_describe_switching(const struct plan *plan, struct buffer *out)
{
	if (!plan->switching)
		return false;
	text_append_safe(out, plan->switching);
	buffer_printf(out, " may switch stacks (%s): results are read at return instructions",
		      plan->switches_by);
	if (!plan_avoids_returns(plan))
		buffer_append_string(out, " where the kernel has no session probes, or more than "
					  "one process is traced");
	return true;
}

void plan_describe(const struct plan *plan, struct buffer *out)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (probe_opens_file(plan, i)) {
			if (i)
				buffer_append_string(out, "\n");
			describe_file(plan, plan->probes[i].module, out);
		}
	if (plan->skipped_count)
		buffer_append_string(out, plan->count ? "\nSkipped\n" : "Skipped\n");
	for (i = 0; i < plan->skipped_count; i++) {
		buffer_append_string(out, "  ");
		text_append_safe(out, plan->skipped[i].sentence);
		buffer_append_string(out, "\n");
	}
}
