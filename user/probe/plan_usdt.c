/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the plan for files that publish samples: by the USDT probes otel_memory:alloc (pointer, size,
 * bytes that it represents) and otel_memory:free (pointer). Their producers fire them for a few blocks, chosen at random by
 * their bytes, so that they cost nearly nothing.
 */
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "probe/choice.h"
#include "probe/plan_private.h"
#include "probe/usdt_argument.h"
#include "elf/elf_usdt.h"
#include "tracer_abi.h"

#define PROVIDER "otel_memory"
/* More places than any honest file has; each is a probe. */
#define SITES_MAX 4096
/* Enough to decode the instruction. */
#define SITE_BYTES 16

struct usdt_site {
	bool begins; /* a sample; otherwise its end */
	uint64_t offset, semaphore;
	struct sample_site sample;
	struct choice choice; /* what is there and what it costs */
	char arguments[64]; /* as in the note, for a person */
};

struct usdt_sites {
	struct plan *plan;
	struct elf_file *file;
	struct usdt_site *items;
	size_t count, capacity;
	size_t begins, ends; /* that can be probed */
	const char *dropped; /* why some are not there at all; NULL = all are */
	size_t refused; /* of those that are there */
	const char *refusal; /* of the first of them */
};

static bool usdt_has(const struct usdt_sites *sites, uint64_t offset)
{
	size_t i;

	for (i = 0; i < sites->count; i++)
		if (sites->items[i].offset == offset)
			return true;
	return false;
}

/*
 * Compilers put a nop where a probe is to be. Linkers leave notes of code that they have dropped, with addresses near 0,
 * where the headers are; and a breakpoint within another instruction would change what the program does.
 */
static bool usdt_is_nop(const uint8_t *code, size_t size, const struct choice *choice)
{
#if defined(__x86_64__)
	(void)code;
	(void)size;
	return !strncmp(choice->instruction, "nop", 3);
#else
	static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };

	(void)choice;
	return size >= sizeof(nop) && !memcmp(code, nop, sizeof(nop));
#endif
}

/* The instruction that the probe will be on. False if none was meant to. */
static bool usdt_choose(const struct usdt_sites *sites, struct usdt_site *site)
{
	struct choice_needs needs = { .at_entry = true, .features = sites->plan->options.features };
	uint8_t code[SITE_BYTES];
	size_t size = elf_file_read(sites->file, site->offset, code, sizeof(code));
	uint64_t address;

	if (!elf_file_offset_to_address(sites->file, site->offset, &address))
		address = site->offset;
	choice_make(code, size, false, address, &needs, &site->choice);
	return usdt_is_nop(code, size, &site->choice);
}

/* NULL, or why a site that is there cannot be probed. */
static const char *usdt_judge(const struct usdt_sites *sites, const struct elf_usdt *probe,
			      struct usdt_site *site)
{
	const char *refusal = probe->refusal;

	if (sites->count == SITES_MAX)
		return "there are too many";
	if (!refusal)
		refusal = usdt_arguments_parse(probe->arguments, USDT_MACHINE_NATIVE,
					       site->sample.arguments,
					       site->begins ? SAMPLE_ARGUMENTS : 1);
	if (refusal)
		return refusal;
	/* A call writes where the function may keep something without having moved its stack pointer. */
	if (site->choice.cost == COST_OPTIMIZED)
		return "the kernel would put a call in its place";
	return NULL;
}

/* A note's text for a terminal. */
static void usdt_copy_text(char *to, size_t size, const char *text)
{
	size_t i;

	for (i = 0; i + 1 < size && text[i]; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	to[i] = '\0';
}

static bool usdt_see(void *context, const struct elf_usdt *probe)
{
	struct usdt_sites *sites = context;
	struct usdt_site site = { .begins = !strcmp(probe->name, "alloc"),
				  .offset = probe->offset,
				  .semaphore = probe->semaphore };
	const char *refusal;

	if (strcmp(probe->provider, PROVIDER) != 0 ||
	    (!site.begins && strcmp(probe->name, "free") != 0))
		return true;
	if (!probe->offset || !usdt_choose(sites, &site)) {
		sites->dropped = probe->offset ? "no nop stands at its place" : probe->refusal;
		return true;
	}
	refusal = usdt_judge(sites, probe, &site);
	if (refusal) {
		if (!sites->refused++)
			sites->refusal = refusal;
		return true;
	}
	if (usdt_has(sites, site.offset))
		return true;
	usdt_copy_text(site.arguments, sizeof(site.arguments), probe->arguments);
	sites->items =
		memory_grow(sites->items, sites->count, &sites->capacity, sizeof(*sites->items));
	sites->items[sites->count++] = site;
	sites->begins += site.begins;
	sites->ends += !site.begins;
	return true;
}

static void plan_add_sample(struct plan *plan, uint32_t module, const struct usdt_site *site,
			    const char *allocator)
{
	const char *symbol = site->begins ? PROVIDER ":alloc" : PROVIDER ":free";
	uint32_t function = plan_function(plan, allocator, symbol);
	struct plan_probe *probe;
	uint64_t shape;

	if (!function || plan->sample_count == SAMPLE_SITES_MAX) {
		plan_skip(plan, module, true, "%s: too many sample probes", symbol);
		return;
	}
	plan->functions[function].sampled = true;
	shape = SHAPE_OF_SAMPLE(site->begins ? CALL_SAMPLE : CALL_SAMPLE_END, ++plan->sample_count);
	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	probe = &plan->probes[plan->count++];
	*probe = (struct plan_probe){
		.module = module,
		.function = function,
		.symbol = symbol,
		.shape = SHAPE_WITH_FUNCTION(shape, function),
		.entry_offset = site->offset,
		.site_offset = site->offset,
		.semaphore = site->semaphore,
		.sample = site->sample,
		.cost = site->choice.cost,
	};
	memcpy(probe->instruction, site->choice.instruction, sizeof(probe->instruction));
	snprintf(probe->reason, sizeof(probe->reason), "arguments %.60s%s", site->arguments,
		 site->semaphore ? ", semaphore" : "");
}

/* Half of a file's places would give wrong figures: blocks that never end, or ends of unknown blocks. */
static void plan_skip_incomplete(struct plan *plan, uint32_t module, const struct usdt_sites *sites)
{
	const char *missing = sites->begins ? PROVIDER ":free" : PROVIDER ":alloc";
	const char *instead = plan->options.usdt == USDT_ONLY ? "nothing is" : "its functions are";

	if (sites->refused)
		plan_skip(plan, module, true,
			  "%zu of %zu sample probes cannot be attached (%s), so %s probed",
			  sites->refused, sites->refused + sites->count, sites->refusal, instead);
	else if (sites->dropped)
		plan_skip(plan, module, true, "no %s can be probed (%s), so %s probed", missing,
			  sites->dropped, instead);
	else
		plan_skip(plan, module, true, "it has no %s, so %s probed", missing, instead);
}

bool plan_add_samples(struct plan *plan, uint32_t module, struct elf_file *file,
		      const char *allocator)
{
	struct usdt_sites sites = { .plan = plan, .file = file };
	bool complete;
	size_t i;

	elf_usdt_visit(file, usdt_see, &sites);
	complete = sites.begins && sites.ends && !sites.refused;
	if (!strcmp(allocator, "unknown"))
		allocator = PROVIDER;
	for (i = 0; i < sites.count && complete; i++)
		plan_add_sample(plan, module, &sites.items[i], allocator);
	if (!complete && (sites.count || sites.refused || sites.dropped))
		plan_skip_incomplete(plan, module, &sites);
	if (complete)
		plan_find_ranges(plan, module, file);
	free(sites.items);
	return complete;
}

/* Only whether there are any */

static bool sampler_see(void *context, const struct elf_usdt *probe)
{
	bool *has = context;

	if (!strcmp(probe->provider, PROVIDER)) {
		has[0] |= !strcmp(probe->name, "alloc");
		has[1] |= !strcmp(probe->name, "free");
	}
	return !(has[0] && has[1]);
}

void plan_seek_samples(struct plan *plan, struct elf_file *file)
{
	bool has[2] = { false, false };

	elf_usdt_visit(file, sampler_see, has);
	plan->has_samplers |= has[0] && has[1];
}

bool plan_may_forward(const struct plan *plan, const struct allocator_function *row)
{
	if (row->scope == SCOPE_OPERATOR || !plan->has_samplers)
		return row->scope == SCOPE_OPERATOR;
	return row->scope == SCOPE_OPERATOR_SIZE ||
	       (SHAPE_OP(row->shape) == CALL_REALLOC && SHAPE_COUNT_ARG(row->shape));
}

/* The allocator's own functions */

struct range_search {
	struct plan *plan;
	uint32_t module;
	size_t before; /* ranges that were there */
};

/* Compilers split functions: parts have the name with something behind a dot. */
static bool range_is_wanted(const char *name)
{
	size_t length = strcspn(name, ".");
	char whole[64];

	if (!length || length >= sizeof(whole))
		return false;
	memcpy(whole, name, length);
	whole[length] = '\0';
	return allocator_has_function(whole);
}

static bool range_see(void *context, const struct elf_function *function)
{
	const struct range_search *search = context;
	struct plan *plan = search->plan;

	if (!function->size || !range_is_wanted(function->name))
		return true;
	plan_add_range(plan, search->module, function->file_offset,
		       function->file_offset + function->size);
	return plan->range_count - search->before < SITES_MAX;
}

bool plan_find_ranges(struct plan *plan, uint32_t module, struct elf_file *file)
{
	struct range_search search = { .plan = plan,
				       .module = module,
				       .before = plan->range_count };

	elf_file_functions(file, range_see, &search);
	return plan->range_count > search.before;
}
