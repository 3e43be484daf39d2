/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See otlp_dictionary.h. */
#include "render/otlp_dictionary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "otlp.pb-c.h"
#include "render/frame_text.h"

/* Append a part of the tables. */
static void otlp_dictionary_put(struct otlp_dictionary *dictionary, const Otlp__Dictionary *part)
{
	const size_t size = otlp__dictionary__get_packed_size(part);
	uint8_t *bytes = memory_alloc(size ? size : 1, 1);

	otlp__dictionary__pack(part, bytes);
	buffer_append(&dictionary->out, bytes, size);
	free(bytes);
}

void otlp_dictionary_begin(struct otlp_dictionary *dictionary)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT, *mappings = &mapping;
	Otlp__Location location = OTLP__LOCATION__INIT, *locations = &location;
	Otlp__Function function = OTLP__FUNCTION__INIT, *functions = &function;
	Otlp__Link link = OTLP__LINK__INIT, *links = &link;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT, *attributes = &attribute;
	Otlp__Stack stack = OTLP__STACK__INIT, *stacks = &stack;
	char empty[] = "", *texts = empty;

	*dictionary = (struct otlp_dictionary){ 0 };
	part.n_mapping_table = part.n_location_table = part.n_function_table = 1;
	part.n_link_table = part.n_string_table = part.n_attribute_table = part.n_stack_table = 1;
	part.mapping_table = &mappings;
	part.location_table = &locations;
	part.function_table = &functions;
	part.link_table = &links;
	part.string_table = &texts;
	part.attribute_table = &attributes;
	part.stack_table = &stacks;
	otlp_dictionary_put(dictionary, &part);
}

/* The number of what has this key. */
static int32_t otlp_numbers_find(struct otlp_numbers *numbers, const char *key, bool *ret_is_new)
{
	const char *kept = strings_keep(&numbers->keys, key);
	const uintptr_t number = (uintptr_t)table_get(&numbers->by_key, (uintptr_t)kept);

	*ret_is_new = !number;
	if (number)
		return (int32_t)number;
	table_put(&numbers->by_key, (uintptr_t)kept, (void *)(uintptr_t)++numbers->count);
	return numbers->count;
}

static void otlp_numbers_free(struct otlp_numbers *numbers)
{
	strings_free(&numbers->keys);
	table_free(&numbers->by_key);
}

static const char *otlp_dictionary_safe(struct otlp_dictionary *dictionary, const char *text)
{
	buffer_clear(&dictionary->text);
	buffer_append_string(&dictionary->text, "");
	text_append_safe(&dictionary->text, text);
	return dictionary->text.data;
}

int32_t otlp_dictionary_text(struct otlp_dictionary *dictionary, const char *text)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	char *safe;
	int32_t number;
	bool is_new;

	if (!text || !*text)
		return 0;
	safe = (char *)(uintptr_t)otlp_dictionary_safe(dictionary, text);
	number = otlp_numbers_find(&dictionary->texts, safe, &is_new);
	part.string_table = &safe;
	part.n_string_table = 1;
	if (is_new)
		otlp_dictionary_put(dictionary, &part);
	return number;
}

int32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
				  const char *text)
{
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT, *pointer = &attribute;
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	int32_t number;
	bool is_new;

	attribute.key_strindex = otlp_dictionary_text(dictionary, key);
	attribute.value = &value;
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value = (char *)(uintptr_t)otlp_dictionary_safe(dictionary, text);
	buffer_clear(&dictionary->key);
	buffer_printf(&dictionary->key, "%" PRId32 " ", attribute.key_strindex);
	buffer_append_string(&dictionary->key, value.string_value);
	number = otlp_numbers_find(&dictionary->attributes, dictionary->key.data, &is_new);
	part.attribute_table = &pointer;
	part.n_attribute_table = 1;
	if (is_new)
		otlp_dictionary_put(dictionary, &part);
	return number;
}

/* Readers take a system's name for one of C++ or the like, which they make readable. */
static int32_t otlp_dictionary_function(struct otlp_dictionary *dictionary, const char *name,
					const char *file, bool is_symbol)
{
	Otlp__Function function = OTLP__FUNCTION__INIT, *pointer = &function;
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	int32_t number;
	bool is_new;

	function.name_strindex = otlp_dictionary_text(dictionary, name);
	function.system_name_strindex = is_symbol ? function.name_strindex : 0;
	function.filename_strindex = otlp_dictionary_text(dictionary, file);
	buffer_clear(&dictionary->key);
	buffer_printf(&dictionary->key, "%" PRId32 " %" PRId32 " %d", function.name_strindex,
		      function.filename_strindex, is_symbol);
	number = otlp_numbers_find(&dictionary->functions, dictionary->key.data, &is_new);
	part.function_table = &pointer;
	part.n_function_table = 1;
	if (is_new)
		otlp_dictionary_put(dictionary, &part);
	return number;
}

static int32_t otlp_dictionary_put_location(struct otlp_dictionary *dictionary,
					    Otlp__Location *location)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	int32_t number;
	bool is_new;
	size_t i;

	buffer_clear(&dictionary->key);
	buffer_printf(&dictionary->key, "%" PRId32 " %" PRIu64, location->mapping_index,
		      location->address);
	for (i = 0; i < location->n_lines; i++)
		buffer_printf(&dictionary->key, " %" PRId32 ":%" PRId64,
			      location->lines[i]->function_index, location->lines[i]->line);
	number = otlp_numbers_find(&dictionary->locations, dictionary->key.data, &is_new);
	part.location_table = &location;
	part.n_location_table = 1;
	if (is_new)
		otlp_dictionary_put(dictionary, &part);
	return number;
}

static void otlp_dictionary_line(struct otlp_dictionary *dictionary,
				 const struct report_frame *frame, Otlp__Line *line)
{
	struct buffer name = { 0 };

	buffer_append_string(&name, "");
	frame_text_append(&name, frame);
	*line = (Otlp__Line)OTLP__LINE__INIT;
	line->function_index =
		otlp_dictionary_function(dictionary, name.data, frame->file,
					 frame->kind == FRAME_NATIVE && *name.data != '<');
	line->line = frame->whole ? 0 : frame->line;
	buffer_free(&name);
}

/* Frames that were captured as one. Code of a file without a name has no function: its address is there. */
static int32_t otlp_dictionary_location(struct otlp_dictionary *dictionary,
					const struct report_frame *frames, size_t count)
{
	Otlp__Line *lines = memory_alloc(count, sizeof(*lines));
	Otlp__Line **pointers = memory_alloc(count, sizeof(*pointers));
	Otlp__Location location = OTLP__LOCATION__INIT;
	const size_t file = ranges_find(&dictionary->ranges, &frames[0]);
	int32_t number;
	size_t i;

	if (file != SIZE_MAX) {
		location.mapping_index = (int32_t)file + 1;
		location.address = ranges_address(&dictionary->ranges, file, &frames[0]);
	}
	location.lines = pointers;
	for (i = 0; i < count; i++) {
		if (location.address && !frame_text_is_named(&frames[i]))
			continue;
		otlp_dictionary_line(dictionary, &frames[i], &lines[i]);
		pointers[location.n_lines++] = &lines[i];
	}
	number = otlp_dictionary_put_location(dictionary, &location);
	free(pointers);
	free(lines);
	return number;
}

static int32_t otlp_dictionary_leaf(struct otlp_dictionary *dictionary, const char *name)
{
	Otlp__Line line = OTLP__LINE__INIT, *pointer = &line;
	Otlp__Location location = OTLP__LOCATION__INIT;

	line.function_index = otlp_dictionary_function(dictionary, name, NULL, false);
	location.lines = &pointer;
	location.n_lines = 1;
	return otlp_dictionary_put_location(dictionary, &location);
}

/* The places of a stack in `path`. Returns how many there are. */
static size_t otlp_dictionary_path(struct otlp_dictionary *dictionary,
				   const struct report_frame *frames, size_t count,
				   const char *leaf)
{
	size_t length = 0, i, span;

	if (count >= dictionary->path_capacity) {
		dictionary->path_capacity = count + 1;
		dictionary->path = memory_resize(dictionary->path, dictionary->path_capacity,
						 sizeof(*dictionary->path));
	}
	if (leaf)
		dictionary->path[length++] = otlp_dictionary_leaf(dictionary, leaf);
	for (i = 0; i < count; i += span) {
		span = frame_text_span(frames + i, count - i);
		dictionary->path[length++] = otlp_dictionary_location(dictionary, frames + i, span);
	}
	return length;
}

int32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, const struct report_frame *frames,
			      size_t count, const char *leaf)
{
	Otlp__Stack stack = OTLP__STACK__INIT, *pointer = &stack;
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	int32_t number;
	bool is_new;
	size_t i;

	stack.n_location_indices = otlp_dictionary_path(dictionary, frames, count, leaf);
	stack.location_indices = dictionary->path;
	buffer_clear(&dictionary->key);
	buffer_append_string(&dictionary->key, "s");
	for (i = 0; i < stack.n_location_indices; i++)
		buffer_printf(&dictionary->key, " %" PRId32, stack.location_indices[i]);
	number = otlp_numbers_find(&dictionary->stacks, dictionary->key.data, &is_new);
	part.stack_table = &pointer;
	part.n_stack_table = 1;
	if (is_new)
		otlp_dictionary_put(dictionary, &part);
	return number;
}

static void otlp_dictionary_mapping(struct otlp_dictionary *dictionary, size_t index)
{
	const struct range *range = &dictionary->ranges.items[index];
	const struct range_pages pages = ranges_pages(&dictionary->ranges, index);
	Otlp__Mapping mapping = OTLP__MAPPING__INIT, *pointer = &mapping;
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	int32_t build_id;

	mapping.memory_start = pages.start;
	mapping.memory_limit = pages.limit;
	mapping.file_offset = pages.offset;
	mapping.filename_strindex = otlp_dictionary_text(dictionary, range->path);
	if (range->build_id) {
		build_id = otlp_dictionary_attribute(dictionary, "process.executable.build_id.gnu",
						     range->build_id);
		mapping.attribute_indices = &build_id;
		mapping.n_attribute_indices = 1;
	}
	part.mapping_table = &pointer;
	part.n_mapping_table = 1;
	otlp_dictionary_put(dictionary, &part);
}

void otlp_dictionary_end(struct otlp_dictionary *dictionary)
{
	size_t i;

	for (i = 0; i < dictionary->ranges.count; i++)
		otlp_dictionary_mapping(dictionary, i);
}

void otlp_dictionary_free(struct otlp_dictionary *dictionary)
{
	buffer_free(&dictionary->out);
	otlp_numbers_free(&dictionary->texts);
	otlp_numbers_free(&dictionary->functions);
	otlp_numbers_free(&dictionary->locations);
	otlp_numbers_free(&dictionary->stacks);
	otlp_numbers_free(&dictionary->attributes);
	ranges_free(&dictionary->ranges);
	free(dictionary->path);
	buffer_free(&dictionary->key);
	buffer_free(&dictionary->text);
}
