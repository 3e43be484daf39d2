/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles of OTLP: what is in use, of each process or program a resource, which has a profile of blocks and one of bytes. A site that
 * holds something is a sample in both; its stack begins with the caller of the allocator function, as in a file for pprof.
 */
#include "render/otlp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/report_verdict.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/source.h"
#include "otlp.pb-c.h"
#include "render/frame_text.h"
#include "render/otlp_dictionary.h"

#define SECOND_NS 1000000000
#define HOST_NAME_MAX_BYTES 256
#define ATTRIBUTES_MAX 8
#define RESOURCE_ATTRIBUTES_MAX 4

enum otlp_value {
	OTLP_INUSE_OBJECTS,
	OTLP_INUSE_SPACE,
	OTLP_VALUES,
};

/* A process, or a program whose processes are added up. */
struct otlp_resource {
	const struct target *target;
	bool is_process; /* one */
	struct buffer profiles[OTLP_VALUES]; /* packed */
};

struct otlp {
	const struct report *report;
	struct otlp_dictionary dictionary;
	struct otlp_resource *resources; /* owned */
	size_t count, capacity;
};

static int64_t otlp_limit(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

/* Append a part of a profile. */
static void otlp_put(struct buffer *out, const Otlp__Profile *part)
{
	const size_t size = otlp__profile__get_packed_size(part);
	uint8_t *bytes = memory_alloc(size ? size : 1, 1);

	otlp__profile__pack(part, bytes);
	buffer_append(out, bytes, size);
	free(bytes);
}

static void otlp_begin_profile(struct otlp *otlp, enum otlp_value value, struct buffer *out)
{
	const struct report *report = otlp->report;
	Otlp__Profile part = OTLP__PROFILE__INIT;
	Otlp__ValueType type = OTLP__VALUE_TYPE__INIT;
	const bool is_space = value == OTLP_INUSE_SPACE;

	type.type_strindex =
		otlp_dictionary_text(&otlp->dictionary, is_space ? "inuse_space" : "inuse_objects");
	type.unit_strindex = otlp_dictionary_text(&otlp->dictionary, is_space ? "bytes" : "count");
	part.sample_type = &type;
	if (report->wall_time > 0 && report->wall_time < INT64_MAX / SECOND_NS)
		part.time_unix_nano = (uint64_t)report->wall_time * SECOND_NS;
	part.duration_nano = report->duration_ns;
	otlp_put(out, &part);
}

static struct otlp_resource *otlp_resource(struct otlp *otlp, const struct report_site *site)
{
	const bool is_process = site->process_count <= 1;
	struct otlp_resource *resource;
	size_t i;

	/* Sites of one process often follow each other. */
	for (i = otlp->count; i > 0; i--)
		if (otlp->resources[i - 1].target == site->target &&
		    otlp->resources[i - 1].is_process == is_process)
			return &otlp->resources[i - 1];
	otlp->resources = memory_grow(otlp->resources, otlp->count, &otlp->capacity,
				      sizeof(*otlp->resources));
	resource = &otlp->resources[otlp->count++];
	*resource = (struct otlp_resource){ .target = site->target, .is_process = is_process };
	for (i = 0; i < OTLP_VALUES; i++)
		otlp_begin_profile(otlp, (enum otlp_value)i, &resource->profiles[i]);
	return resource;
}

static size_t otlp_attributes(struct otlp *otlp, const struct report_site *site,
			      int32_t attributes[ATTRIBUTES_MAX])
{
	const bool has_verdict = report_verdict_is_known(&otlp->report->options) &&
				 site->verdict.word != VERDICT_NONE;
	const struct {
		const char *key, *text;
	} all[ATTRIBUTES_MAX] = {
		{ "tracer.source", source_name(site->source) },
		{ "tracer.allocator", site->allocator },
		{ "tracer.function", site->function },
		{ "tracer.region", region_name(site->region) },
		{ "tracer.verdict", has_verdict ? verdict_name(site->verdict.word) : NULL },
		{ "tracer.estimated", site->sampled || site->estimate.known ? "true" : NULL },
	};
	size_t count = 0, i;

	for (i = 0; i < ATTRIBUTES_MAX; i++)
		if (all[i].text && *all[i].text)
			attributes[count++] = otlp_dictionary_attribute(&otlp->dictionary,
									all[i].key, all[i].text);
	return count;
}

static void otlp_add_site(struct otlp *otlp, const struct report_site *site)
{
	int64_t values[OTLP_VALUES] = { otlp_limit(site_stats_inuse_objects(&site->stats)),
					otlp_limit(site_stats_inuse_bytes(&site->stats)) };
	struct otlp_resource *resource = otlp_resource(otlp, site);
	Otlp__Sample sample = OTLP__SAMPLE__INIT, *pointer = &sample;
	Otlp__Profile part = OTLP__PROFILE__INIT;
	int32_t attributes[ATTRIBUTES_MAX];
	struct buffer leaf = { 0 };
	const bool has_leaf = frame_text_append_leaf(&leaf, site);
	size_t i;

	sample.stack_index = otlp_dictionary_stack(&otlp->dictionary, site->frames,
						   site->frame_count, has_leaf ? leaf.data : NULL);
	sample.attribute_indices = attributes;
	sample.n_attribute_indices = otlp_attributes(otlp, site, attributes);
	sample.n_values = 1;
	part.samples = &pointer;
	part.n_samples = 1;
	for (i = 0; i < OTLP_VALUES; i++) {
		sample.values = &values[i];
		otlp_put(&resource->profiles[i], &part);
	}
	buffer_free(&leaf);
}

/* The request */

/* An attribute of a resource, whose texts are its own. */
struct otlp_pair {
	Otlp__KeyValue pair;
	Otlp__AnyValue value;
	struct buffer text;
};

static void otlp_set_text(struct otlp_pair *pair, const char *key, const char *text)
{
	*pair = (struct otlp_pair){ .pair = OTLP__KEY_VALUE__INIT, .value = OTLP__ANY_VALUE__INIT };
	buffer_append_string(&pair->text, "");
	text_append_safe(&pair->text, text);
	pair->pair.key = (char *)(uintptr_t)key;
	pair->pair.value = &pair->value;
	pair->value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	pair->value.string_value = pair->text.data;
}

static void otlp_set_number(struct otlp_pair *pair, const char *key, int64_t number)
{
	otlp_set_text(pair, key, "");
	pair->value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	pair->value.int_value = number;
}

static size_t otlp_describe(const struct otlp_resource *resource,
			    struct otlp_pair pairs[RESOURCE_ATTRIBUTES_MAX])
{
	const struct target *target = resource->target;
	char host[HOST_NAME_MAX_BYTES] = "";
	size_t count = 0;

	gethostname(host, sizeof(host) - 1);
	otlp_set_text(&pairs[count++], "service.name", *target->comm ? target->comm : "unknown");
	otlp_set_text(&pairs[count++], "host.name", host);
	if (target->exe)
		otlp_set_text(&pairs[count++], "process.executable.name",
			      frame_text_base(target->exe));
	if (resource->is_process)
		otlp_set_number(&pairs[count++], "process.pid", target->pid);
	return count;
}

/* Append a field of a request. */
static void otlp_put_request(struct buffer *out, const Otlp__PackedRequest *part)
{
	const size_t size = otlp__packed_request__get_packed_size(part);
	uint8_t *bytes = memory_alloc(size ? size : 1, 1);

	otlp__packed_request__pack(part, bytes);
	buffer_append(out, bytes, size);
	free(bytes);
}

static void otlp_put_resource(const struct otlp_resource *resource, struct buffer *out)
{
	char name[] = "tracer", version[] = TRACER_VERSION;
	Otlp__Scope who = OTLP__SCOPE__INIT;
	Otlp__PackedScopeProfiles scope = OTLP__PACKED_SCOPE_PROFILES__INIT, *scopes = &scope;
	Otlp__PackedResourceProfiles profiles = OTLP__PACKED_RESOURCE_PROFILES__INIT;
	Otlp__PackedResourceProfiles *pointer = &profiles;
	Otlp__PackedRequest part = OTLP__PACKED_REQUEST__INIT;
	Otlp__Resource description = OTLP__RESOURCE__INIT;
	ProtobufCBinaryData packed[OTLP_VALUES];
	struct otlp_pair pairs[RESOURCE_ATTRIBUTES_MAX];
	Otlp__KeyValue *attributes[RESOURCE_ATTRIBUTES_MAX];
	size_t i;

	description.n_attributes = otlp_describe(resource, pairs);
	description.attributes = attributes;
	for (i = 0; i < description.n_attributes; i++)
		attributes[i] = &pairs[i].pair;
	for (i = 0; i < OTLP_VALUES; i++)
		packed[i] = (ProtobufCBinaryData){ resource->profiles[i].length,
						   (uint8_t *)resource->profiles[i].data };
	who.name = name;
	who.version = version;
	scope.scope = &who;
	scope.profiles = packed;
	scope.n_profiles = OTLP_VALUES;
	profiles.resource = &description;
	profiles.scope_profiles = &scopes;
	profiles.n_scope_profiles = 1;
	part.resource_profiles = &pointer;
	part.n_resource_profiles = 1;
	otlp_put_request(out, &part);
	for (i = 0; i < description.n_attributes; i++)
		buffer_free(&pairs[i].text);
}

static void otlp_end(struct otlp *otlp, struct buffer *out)
{
	Otlp__PackedRequest part = OTLP__PACKED_REQUEST__INIT;
	size_t i, n;

	otlp_dictionary_end(&otlp->dictionary);
	part.dictionary = (ProtobufCBinaryData){ otlp->dictionary.out.length,
						 (uint8_t *)otlp->dictionary.out.data };
	for (i = 0; i < otlp->count; i++) {
		otlp_put_resource(&otlp->resources[i], out);
		for (n = 0; n < OTLP_VALUES; n++)
			buffer_free(&otlp->resources[i].profiles[n]);
	}
	otlp_put_request(out, &part);
	otlp_dictionary_free(&otlp->dictionary);
	free(otlp->resources);
}

static void otlp_render(const struct report *report, const struct render_options *options,
			struct buffer *out)
{
	struct otlp otlp = { .report = report };
	struct report_site site;
	size_t i;

	(void)options;
	otlp_dictionary_begin(&otlp.dictionary);
	for (i = 0; i < report->site_count; i++) {
		if (report->sites[i].ended || !(site_stats_inuse_objects(&report->sites[i].stats) |
						site_stats_inuse_bytes(&report->sites[i].stats)))
			continue;
		site = report_open_site(report, i);
		otlp_add_site(&otlp, &site);
		report_close_site(&site);
	}
	otlp_end(&otlp, out);
}

const struct render_format otlp_format = {
	.name = "otlp",
	.description = "profiles of OTLP",
	.all_sites = true,
	.binary = true,
	.render = otlp_render,
};
