/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See pprof_writer.h. */
#include "render/pprof_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pprof.pb-c.h"
#include "render/frame_text.h"

#define SECOND_NS 1000000000

/* protobuf-c to gzip. The first member must be what protobuf-c knows. */
struct pprof_sink {
	ProtobufCBuffer base;
	struct gzip *gzip;
};

static void pprof_sink_append(ProtobufCBuffer *base, size_t size, const uint8_t *bytes)
{
	gzip_append(((struct pprof_sink *)base)->gzip, bytes, size);
}

static void pprof_writer_put(struct pprof_writer *writer, const Pprof__Profile *part)
{
	struct pprof_sink sink = { { pprof_sink_append }, &writer->gzip };

	pprof__profile__pack_to_buffer(part, &sink.base);
}

/* The number of what has this key, counted from 1; `count` is raised if it is new. */
static uint64_t pprof_writer_number(struct table *ids, const char *kept, uint64_t *count,
				    bool *ret_is_new)
{
	uintptr_t number = (uintptr_t)table_get(ids, (uintptr_t)kept);

	*ret_is_new = !number;
	if (number)
		return number;
	table_put(ids, (uintptr_t)kept, (void *)(uintptr_t)++ * count);
	return *count;
}

/* The position of a text that is safe; 0 of none. */
static int64_t pprof_writer_text(struct pprof_writer *writer, const char *text)
{
	const char *kept = strings_keep(&writer->texts, text);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *item = (char *)kept;
	int64_t position;
	bool is_new;

	if (!kept)
		return 0;
	position =
		(int64_t)pprof_writer_number(&writer->text_ids, kept, &writer->text_count, &is_new);
	if (is_new) {
		part.strings = &item;
		part.n_strings = 1;
		pprof_writer_put(writer, &part);
	}
	return position;
}

static int64_t pprof_writer_safe_text(struct pprof_writer *writer, const char *text)
{
	if (!text)
		return 0;
	buffer_clear(&writer->text);
	buffer_append_string(&writer->text, "");
	text_append_safe(&writer->text, text);
	return pprof_writer_text(writer, writer->text.data);
}

void pprof_writer_begin(struct pprof_writer *writer, struct buffer *out)
{
	static const char *const values[][2] = {
#define X(type, unit) { #type, unit },
		PPROF_VALUE_LIST(X)
#undef X
	};
	Pprof__ValueType types[PPROF_VALUES], *pointers[PPROF_VALUES];
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char empty[] = "", *first = empty;
	size_t i;

	*writer = (struct pprof_writer){ 0 };
	gzip_begin(&writer->gzip, out);
	part.strings = &first;
	part.n_strings = 1;
	pprof_writer_put(writer, &part);
	part = (Pprof__Profile)PPROF__PROFILE__INIT;
	for (i = 0; i < PPROF_VALUES; i++) {
		types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
		types[i].type = pprof_writer_text(writer, values[i][0]);
		types[i].unit = pprof_writer_text(writer, values[i][1]);
		pointers[i] = &types[i];
	}
	period.type = pprof_writer_text(writer, "space");
	period.unit = pprof_writer_text(writer, "bytes");
	part.sample_types = pointers;
	part.n_sample_types = PPROF_VALUES;
	part.default_sample_type = types[PPROF_inuse_space].type;
	part.period_type = &period;
	part.period = 1;
	pprof_writer_put(writer, &part);
}

void pprof_writer_add_comment(struct pprof_writer *writer, const char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t position = pprof_writer_safe_text(writer, text);

	part.comments = &position;
	part.n_comments = 1;
	pprof_writer_put(writer, &part);
}

void pprof_writer_set_time(struct pprof_writer *writer, int64_t wall_time, uint64_t duration_ns)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (wall_time > 0 && wall_time < INT64_MAX / SECOND_NS)
		part.time_ns = wall_time * SECOND_NS;
	if (duration_ns < INT64_MAX)
		part.duration_ns = (int64_t)duration_ns;
	pprof_writer_put(writer, &part);
}

/* Places */

static uint64_t pprof_writer_key(struct pprof_writer *writer, uint64_t *count, bool *ret_is_new)
{
	const char *kept = strings_keep(&writer->keys, writer->text.data);

	return pprof_writer_number(&writer->key_ids, kept, count, ret_is_new);
}

/* The index of a frame's file, or SIZE_MAX. */
static size_t pprof_writer_file(struct pprof_writer *writer, const struct report_frame *frame)
{
	size_t index = ranges_find(&writer->ranges, frame);

	while (writer->named_count < writer->ranges.count) {
		writer->named = memory_grow(writer->named, writer->named_count,
					    &writer->named_capacity, sizeof(*writer->named));
		writer->named[writer->named_count++] = false;
	}
	return index;
}

/* Readers cut the arguments and the parts in <> off a name that is the system's, too: C++ is meant. */
static bool pprof_writer_is_symbol(const struct report_frame *frame, const char *name)
{
	return frame->kind == FRAME_NATIVE && *name != '<';
}

static uint64_t pprof_writer_function(struct pprof_writer *writer, const char *name,
				      const char *file, bool is_symbol)
{
	Pprof__Function function = PPROF__FUNCTION__INIT, *pointer = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	bool is_new;

	function.name = pprof_writer_text(writer, name);
	function.system_name = is_symbol ? function.name : 0;
	function.file = pprof_writer_safe_text(writer, file);
	buffer_clear(&writer->text);
	buffer_printf(&writer->text, "f %" PRId64 " %" PRId64 " %d", function.name, function.file,
		      is_symbol);
	function.id = pprof_writer_key(writer, &writer->function_count, &is_new);
	if (is_new) {
		part.functions = &pointer;
		part.n_functions = 1;
		pprof_writer_put(writer, &part);
	}
	return function.id;
}

/* Code of a file without a name has no function: whoever has the file may name it by its build ID and the address. */
static bool pprof_writer_has_function(const struct report_frame *frame, bool has_address)
{
	return !has_address || frame_text_is_named(frame);
}

static uint64_t pprof_writer_line(struct pprof_writer *writer, const struct report_frame *frame)
{
	struct buffer name = { 0 };
	uint64_t id;

	buffer_append_string(&name, "");
	frame_text_append(&name, frame);
	id = pprof_writer_function(writer, name.data, frame->file,
				   pprof_writer_is_symbol(frame, name.data));
	buffer_free(&name);
	return id;
}

/* A location with its lines, which must be in `location`, unless it is written already. */
static uint64_t pprof_writer_put_location(struct pprof_writer *writer, Pprof__Location *location)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	bool is_new;
	size_t i;

	buffer_clear(&writer->text);
	buffer_printf(&writer->text, "l %" PRIu64 " %" PRIu64, location->mapping_id,
		      location->address);
	for (i = 0; i < location->n_lines; i++)
		buffer_printf(&writer->text, " %" PRIu64 ":%" PRId64,
			      location->lines[i]->function_id, location->lines[i]->line);
	location->id = pprof_writer_key(writer, &writer->location_count, &is_new);
	if (is_new) {
		part.locations = &location;
		part.n_locations = 1;
		pprof_writer_put(writer, &part);
	}
	return location->id;
}

/* Frames that were captured as one. */
static uint64_t pprof_writer_location(struct pprof_writer *writer,
				      const struct report_frame *frames, size_t count)
{
	Pprof__Line *lines = memory_alloc(count, sizeof(*lines));
	Pprof__Line **pointers = memory_alloc(count, sizeof(*pointers));
	Pprof__Location location = PPROF__LOCATION__INIT;
	size_t file = pprof_writer_file(writer, &frames[0]), i;
	uint64_t id;

	if (file != SIZE_MAX) {
		location.mapping_id = file + 1;
		location.address = ranges_address(&writer->ranges, file, &frames[0]);
	}
	for (i = 0; i < count; i++) {
		if (!pprof_writer_has_function(&frames[i], location.address))
			continue;
		if (file != SIZE_MAX)
			writer->named[file] = true;
		lines[i] = (Pprof__Line)PPROF__LINE__INIT;
		lines[i].function_id = pprof_writer_line(writer, &frames[i]);
		lines[i].line = frames[i].whole ? 0 : frames[i].line;
		pointers[location.n_lines++] = &lines[i];
	}
	location.lines = pointers;
	id = pprof_writer_put_location(writer, &location);
	free(pointers);
	free(lines);
	return id;
}

static uint64_t pprof_writer_leaf(struct pprof_writer *writer, const char *name)
{
	Pprof__Line line = PPROF__LINE__INIT, *pointer = &line;
	Pprof__Location location = PPROF__LOCATION__INIT;

	line.function_id = pprof_writer_function(writer, name, NULL, false);
	location.lines = &pointer;
	location.n_lines = 1;
	return pprof_writer_put_location(writer, &location);
}

/* Samples */

static struct pprof_label *pprof_sample_new_label(struct pprof_sample *sample, const char *key)
{
	struct pprof_label *label = &sample->labels[sample->label_count];

	if (sample->label_count == PPROF_LABELS_MAX)
		return NULL;
	sample->label_count++;
	*label = (struct pprof_label){ .key = key };
	return label;
}

void pprof_sample_label(struct pprof_sample *sample, const char *key, const char *text)
{
	struct pprof_label *label = text && *text ? pprof_sample_new_label(sample, key) : NULL;

	if (label)
		label->text = text;
}

void pprof_sample_number(struct pprof_sample *sample, const char *key, uint64_t number,
			 const char *unit)
{
	struct pprof_label *label = pprof_sample_new_label(sample, key);

	if (label) {
		label->number = number < INT64_MAX ? (int64_t)number : INT64_MAX;
		label->unit = unit;
	}
}

static size_t pprof_writer_locations(struct pprof_writer *writer, const struct pprof_sample *sample)
{
	size_t count = 0, i, span;

	if (sample->frame_count >= writer->location_capacity) {
		writer->location_capacity = sample->frame_count + 1;
		writer->locations = memory_resize(writer->locations, writer->location_capacity,
						  sizeof(*writer->locations));
	}
	if (sample->leaf)
		writer->locations[count++] = pprof_writer_leaf(writer, sample->leaf);
	for (i = 0; i < sample->frame_count; i += span) {
		span = frame_text_span(sample->frames + i, sample->frame_count - i);
		writer->locations[count++] =
			pprof_writer_location(writer, sample->frames + i, span);
	}
	return count;
}

static void pprof_writer_label(struct pprof_writer *writer, const struct pprof_label *from,
			       Pprof__Label *to)
{
	*to = (Pprof__Label)PPROF__LABEL__INIT;
	to->key = pprof_writer_text(writer, from->key);
	if (from->text) {
		to->text = pprof_writer_safe_text(writer, from->text);
	} else {
		to->number = from->number;
		to->unit = pprof_writer_text(writer, from->unit);
	}
}

void pprof_writer_add(struct pprof_writer *writer, const struct pprof_sample *sample)
{
	Pprof__Label labels[PPROF_LABELS_MAX], *pointers[PPROF_LABELS_MAX];
	Pprof__Sample out = PPROF__SAMPLE__INIT, *pointer = &out;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	size_t i;

	for (i = 0; i < sample->label_count; i++) {
		pprof_writer_label(writer, &sample->labels[i], &labels[i]);
		pointers[i] = &labels[i];
	}
	out.n_location_ids = pprof_writer_locations(writer, sample);
	out.location_ids = writer->locations;
	out.values = (int64_t *)sample->values;
	out.n_values = PPROF_VALUES;
	out.labels = pointers;
	out.n_labels = sample->label_count;
	part.samples = &pointer;
	part.n_samples = 1;
	pprof_writer_put(writer, &part);
}

/* The end */

static void pprof_writer_put_mapping(struct pprof_writer *writer, size_t index)
{
	const struct range *range = &writer->ranges.items[index];
	const struct range_pages pages = ranges_pages(&writer->ranges, index);
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *pointer = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	mapping.id = index + 1;
	mapping.start = pages.start;
	mapping.limit = pages.limit;
	mapping.offset = pages.offset;
	mapping.file = pprof_writer_safe_text(writer, range->path);
	mapping.build_id = pprof_writer_safe_text(writer, range->build_id);
	/* All that is known is here: pprof would look into files of its own machine for more. */
	mapping.has_functions = mapping.has_files = writer->named[index];
	mapping.has_lines = mapping.has_inlined = writer->named[index];
	part.mappings = &pointer;
	part.n_mappings = 1;
	pprof_writer_put(writer, &part);
}

void pprof_writer_end(struct pprof_writer *writer, const char *main_path)
{
	const struct ranges *ranges = &writer->ranges;
	size_t main_index = SIZE_MAX, i;

	for (i = 0; main_path && i < ranges->count && main_index == SIZE_MAX; i++)
		if (ranges->items[i].path && !strcmp(ranges->items[i].path, main_path))
			main_index = i;
	if (main_index != SIZE_MAX)
		pprof_writer_put_mapping(writer, main_index);
	for (i = 0; i < ranges->count; i++)
		if (i != main_index)
			pprof_writer_put_mapping(writer, i);
	gzip_end(&writer->gzip);
	free(writer->named);
	free(writer->locations);
	ranges_free(&writer->ranges);
	strings_free(&writer->texts);
	strings_free(&writer->keys);
	table_free(&writer->text_ids);
	table_free(&writer->key_ids);
	buffer_free(&writer->text);
}
