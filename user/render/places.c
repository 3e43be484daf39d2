/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See places.h. */
#include "render/places.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "render/frame_text.h"

/* Safe text has no line break, so that two places have one key only if they are equal. */
static const char *places_key(struct places *places, const struct place *place)
{
	buffer_clear(&places->key);
	buffer_printf(&places->key, "%" PRIu32 "\n", place->line);
	buffer_append_string(&places->key, place->name);
	buffer_append_string(&places->key, "\n");
	buffer_append_string(&places->key, place->file ? place->file : "");
	buffer_append_string(&places->key, "\n");
	buffer_append_string(&places->key, place->module ? place->module : "");
	return strings_keep(&places->keys, places->key.data);
}

uint32_t places_add(struct places *places, const struct place *place)
{
	const char *key = places_key(places, place);
	uintptr_t number = (uintptr_t)table_get(&places->by_key, (uintptr_t)key);
	const char *name;

	if (number)
		return (uint32_t)(number - 1);
	name = strings_keep(&places->strings, place->name);
	places->items = memory_grow(places->items, places->count, &places->capacity,
				    sizeof(*places->items));
	places->items[places->count++] = (struct place){
		.name = name ? name : "",
		.file = strings_keep(&places->strings, place->file),
		.module = strings_keep(&places->strings, place->module),
		.line = place->line,
	};
	table_put(&places->by_key, (uintptr_t)key, (void *)(uintptr_t)places->count);
	return (uint32_t)(places->count - 1);
}

/* Add the place whose name has been made to the path. */
static void places_push(struct places *places, const char *file, const char *module, uint32_t line)
{
	const struct place place = { places->name.data, file, module, line };
	const uint32_t number = places_add(places, &place);

	if (places->path_length == places->path_capacity)
		places->path = memory_grow(places->path, places->path_length,
					   &places->path_capacity, sizeof(*places->path));
	places->path[places->path_length++] = number;
}

/* Returns the name to fill. */
static struct buffer *places_begin_name(struct places *places)
{
	buffer_clear(&places->name);
	buffer_append_string(&places->name, "");
	return &places->name;
}

static const char *places_safe(struct buffer *buffer, const char *text)
{
	if (!text)
		return NULL;
	buffer_clear(buffer);
	buffer_append_string(buffer, "");
	text_append_safe(buffer, text);
	return buffer->data;
}

/* One process by its pid, too. */
static void places_push_process(struct places *places, const struct report_site *site)
{
	struct buffer *name = places_begin_name(places);

	if (*site->target->comm)
		text_append_safe(name, site->target->comm);
	else
		buffer_append_string(name, "[unknown]");
	if (site->process_count == 1)
		buffer_printf(name, " (%d)", site->pid);
	places_push(places, NULL, NULL, 0);
}

static void places_push_frame(struct places *places, const struct report_frame *frame)
{
	frame_text_append(places_begin_name(places), frame);
	places_push(places, places_safe(&places->file, frame->file),
		    places_safe(&places->module, frame->module), frame->whole ? 0 : frame->line);
}

void places_add_site(struct places *places, const struct report_site *site)
{
	size_t i;

	places->path_length = 0;
	places_push_process(places, site);
	for (i = site->frame_count; i > 0; i--)
		places_push_frame(places, &site->frames[i - 1]);
	if (frame_text_append_leaf(places_begin_name(places), site))
		places_push(places, NULL, NULL, 0);
}

void places_free(struct places *places)
{
	free(places->items);
	free(places->path);
	strings_free(&places->strings);
	strings_free(&places->keys);
	table_free(&places->by_key);
	buffer_free(&places->name);
	buffer_free(&places->file);
	buffer_free(&places->module);
	buffer_free(&places->key);
	*places = (struct places){ 0 };
}
