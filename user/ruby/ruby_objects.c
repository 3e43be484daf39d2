/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_objects.h. */
#include "ruby/ruby_objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "objects/object_table.h"
#include "ruby/ruby_class.h"
#include "ruby/ruby_code.h"
#include "ruby/ruby_heap.h"
#include "ruby/ruby_native.h"
#include "ruby/ruby_samples.h"
#include "ruby/ruby_sizes.h"

/* Classes that have rows of their own; a program that makes classes of single objects may have very many. */
#define CLASSES_MAX (1u << 18)

/* Of a page that is sparse, at most one slot in so many is in use. */
#define SPARSE 50

/* Rows whose holders are searched. */
#define HELD_CLASSES 40

#define POLL_NS 2000000
/* Marking in steps is waited for this long, also by who does not want to wait. */
#define MARKING_NS 100000000ull

/* Numbers of what has no class, which no address is. */
#define ID_TYPE 0x100u /* and the type */
#define ID_INTERNAL 0x200u /* and the kind */
#define ID_DATA 1u /* added to the address of the type of hidden data */

#define INTERNAL_SHIFT 12
#define INTERNAL_MASK 15u

struct ruby_objects {
	struct ruby_heap heap;
	struct ruby_names names;
};

/* A census while it is made. */
struct census {
	struct ruby_objects *objects;
	struct ruby_counts counts;
	struct object_table table;
	struct table data_types; /* class -> address of the type of its native objects */
	struct ruby_sizes sizes;
	struct ruby_longest longest;
	struct ruby_code code;
	struct ruby_keep *keep; /* NULL = nothing is kept */
	struct ruby_native *native; /* NULL = blocks are not known */
};

struct ruby_objects *ruby_objects_new(const struct ruby_heap *heap)
{
	struct ruby_objects *objects = memory_alloc(1, sizeof(*objects));

	objects->heap = *heap;
	ruby_class_open(&objects->heap, &objects->names);
	return objects;
}

int ruby_objects_open(struct image *image, struct ruby_objects **ret_objects, struct error *reason)
{
	struct ruby_heap heap;
	int code = ruby_heap_find(image, &heap, reason);

	if (!code)
		*ret_objects = ruby_objects_new(&heap);
	return code;
}

void ruby_objects_free(struct ruby_objects *objects)
{
	if (!objects)
		return;
	ruby_class_close(&objects->names);
	ruby_heap_free(&objects->heap);
	free(objects);
}

/* The type of native data: its word that is a small number has a pointer to the type before it. */
static uint64_t objects_data_type(const struct ruby_slot *slot)
{
	uint64_t typed = ruby_slots_word(slot, 24);

	return slot->type == RUBY_T_DATA && typed >= 1 && typed <= 3 ? ruby_slots_word(slot, 16)
								     : 0;
}

static uint64_t objects_id(struct census *census, const struct ruby_slot *slot)
{
	uint64_t type = objects_data_type(slot);

	if (slot->type == RUBY_T_IMEMO)
		return ID_INTERNAL + (slot->flags >> INTERNAL_SHIFT & INTERNAL_MASK);
	if (!slot->class || slot->class & 7)
		return type && !(type & 7) ? type + ID_DATA : ID_TYPE + slot->type;
	if (type && !table_get(&census->data_types, slot->class))
		table_put(&census->data_types, slot->class, (void *)(uintptr_t)type);
	return slot->class;
}

static void objects_count(struct census *census, uint32_t index, const struct ruby_slot *slot)
{
	struct object_class *class = object_table_get(&census->table, objects_id(census, slot));
	struct ruby_want want;
	uint64_t bytes;

	census->counts.types[slot->type]++;
	if (slot->type == RUBY_T_IMEMO)
		census->counts.internal[slot->flags >> INTERNAL_SHIFT & INTERNAL_MASK]++;
	class->live += slot->state == RUBY_LIVE;
	class->newborn += slot->state == RUBY_NEWBORN;
	class->garbage += slot->state == RUBY_GARBAGE;
	class->old += slot->old;
	if (census->keep && slot->state == RUBY_LIVE)
		class->retained += ruby_keep_put(census->keep, index, slot);
	if (slot->state == RUBY_GARBAGE)
		return;
	class->slot_bytes += slot->size;
	bytes = ruby_sizes_of(census->objects->heap.layout, slot, &want);
	class->other_bytes += bytes;
	ruby_longest_put_slot(&census->longest, census->objects->heap.layout, slot, bytes);
	ruby_code_put(&census->code, slot);
	if (census->native)
		ruby_native_put(census->native, census->objects->heap.layout, slot,
				(size_t)(class - census->table.items));
	if (!census->native || slot->type != RUBY_T_DATA)
		ruby_sizes_want(&census->sizes, &want, (size_t)(class - census->table.items));
}

static void objects_count_page(struct census *census, const struct ruby_page *page)
{
	struct ruby_counts *counts = &census->counts;
	struct ruby_slot slot;
	uint32_t used = 0, i;

	if (census->keep)
		ruby_keep_page(census->keep, page);
	if (census->native)
		ruby_native_keep(census->native, page->body);
	for (i = 0; i < page->total_slots; i++) {
		ruby_slots_get(page, i, &slot);
		counts->states[slot.state]++;
		if (slot.state == RUBY_MISSING)
			continue;
		if (slot.state == RUBY_FREE) {
			counts->types[slot.type]++;
			continue;
		}
		objects_count(census, i, &slot);
		used += slot.state != RUBY_GARBAGE;
	}
	counts->pages++;
	counts->slots += page->total_slots;
	counts->sparse_pages += used * SPARSE <= page->total_slots;
}

/* Pages that could not be read are lost if they are listed still; the others were freed meanwhile. */
static void objects_count_lost(struct census *census, const uint64_t *pages, size_t count)
{
	struct ruby_heap *heap = &census->objects->heap;
	size_t i;

	if (count && !ruby_heap_list(heap))
		census->counts.lost_pages += count;
	else
		for (i = 0; i < count; i++)
			census->counts.lost_pages += ruby_heap_has(heap, pages[i]);
}

static void objects_count_all(struct census *census)
{
	struct ruby_heap *heap = &census->objects->heap;
	uint64_t *unread = memory_alloc(heap->page_count + 1, sizeof(unread[0]));
	struct ruby_page page;
	size_t count = 0, i;

	ruby_sizes_open(&census->sizes, heap->image, &census->table);
	census->sizes.longest = &census->longest;
	for (i = 0; i < heap->page_count; i++) {
		if (ruby_heap_read(heap, i, &page))
			objects_count_page(census, &page);
		else
			unread[count++] = heap->pages[i];
		if (census->native)
			ruby_native_keep(census->native, heap->pages[i]);
	}
	ruby_sizes_close(&census->sizes);
	objects_count_lost(census, unread, count);
	free(unread);
	census->counts.page_bytes = census->counts.pages * heap->layout->page_size;
	census->counts.free_slots = census->counts.states[RUBY_FREE];
	census->counts.missing_slots = census->counts.states[RUBY_MISSING];
	if (census->native)
		ruby_native_count(census->native, &census->table);
}

/* " {xmlDoc}": what the extension calls its objects. */
static void objects_name_data(struct image *image, uint64_t type, char *ret_name, size_t size)
{
	char name[64] = "";
	size_t length = image_read_part(image, image_word(image, type), name, sizeof(name) - 1);

	name[length] = '\0';
	if (name[0])
		snprintf(ret_name, size, "{%s}", name);
}

static void objects_name(void *context, uint64_t id, char *ret_name, size_t size)
{
	struct census *census = context;
	struct image *image = census->objects->heap.image;
	uint64_t type = (uintptr_t)table_get(&census->data_types, id);
	const char *kind;
	size_t length;

	if (id >= ID_INTERNAL && id <= ID_INTERNAL + INTERNAL_MASK) {
		kind = ruby_slots_internal_name(id - ID_INTERNAL);
		snprintf(ret_name, size, "internal: %s", kind ? kind : "other");
	} else if (id >= ID_TYPE && id < ID_TYPE + RUBY_TYPES) {
		kind = ruby_slots_type_name((enum ruby_type)(id - ID_TYPE));
		snprintf(ret_name, size, "internal: %s", kind ? kind : "other");
	} else if (!id) {
		snprintf(ret_name, size, "(other classes)");
	} else if (id & 7) {
		objects_name_data(image, id - ID_DATA, ret_name, size);
	} else {
		length = ruby_class_name(&census->objects->names, id, ret_name, size);
		if (!length)
			length = (size_t)snprintf(ret_name, size, "(class without a name)");
		if (type && length + 2 < size) {
			ret_name[length] = ' ';
			objects_name_data(image, type, ret_name + length + 1, size - length - 1);
			if (!ret_name[length + 1])
				ret_name[length] = '\0';
		}
	}
}

static bool objects_poll(uint64_t until_ns)
{
	struct timespec pause = { .tv_nsec = POLL_NS };

	if (clock_now_ns() >= until_ns)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/*
 * Wait until a major collection has marked, as long as is wanted, or until a marking that is under way is over. False if the process's counters
 * cannot be read.
 */
static bool objects_wait(struct ruby_heap *heap, const struct ruby_objects_wanted *wanted,
			 struct ruby_gcs *ret_gcs, bool *ret_after_major)
{
	uint64_t now = clock_now_ns(), wait_ns = wanted->classes ? wanted->wait_ns : 0, begun;

	*ret_after_major = false;
	if (!ruby_heap_gcs(heap, ret_gcs))
		return false;
	begun = ret_gcs->major;
	while (wait_ns && ret_gcs->major == begun && objects_poll(now + wait_ns))
		if (!ruby_heap_gcs(heap, ret_gcs))
			return false;
	*ret_after_major = ret_gcs->major != begun;
	now = clock_now_ns();
	while (wanted->classes && ret_gcs->mode == RUBY_MODE_MARKING &&
	       objects_poll(now + MARKING_NS))
		if (!ruby_heap_gcs(heap, ret_gcs))
			return false;
	return true;
}

/* The list may be in a mapping that is younger than the image's list of them. */
static bool objects_list(struct ruby_heap *heap, const struct ruby_objects_wanted *wanted)
{
	if (wanted->classes && wanted->wait_ns && !image_refresh(heap->image) &&
	    !image_is_alive(heap->image))
		return false;
	return ruby_heap_list(heap) || (image_refresh(heap->image) && ruby_heap_list(heap));
}

/* A minor collection takes old objects for live, so that these are more than what is in use. */
static void objects_remark_wait(const struct ruby_objects_wanted *wanted,
				struct memory_runtime *runtime)
{
	if (wanted->classes && wanted->wait_ns && !runtime->after_major)
		buffer_append_string(&runtime->remarks,
				     "no major collection came within the wait: old objects that "
				     "nothing uses count as live\n");
}

static void objects_remark(const struct census *census, struct memory_runtime *runtime)
{
	const struct ruby_counts *counts = &census->counts;

	if (counts->marking)
		buffer_append_string(&runtime->remarks, "a collection was marking: objects that it "
							"had not reached are among the newborn\n");
	if (counts->lost_pages)
		buffer_printf(&runtime->remarks, "%llu page%s could not be read\n",
			      (unsigned long long)counts->lost_pages, units_s(counts->lost_pages));
	if (counts->missing_slots)
		buffer_printf(&runtime->remarks,
			      "not in memory (swapped out?) and not counted: %llu slot%s\n",
			      (unsigned long long)counts->missing_slots,
			      units_s(counts->missing_slots));
}

static void objects_report(struct census *census, const struct ruby_gcs *gcs, bool samples,
			   struct strings *names, struct memory_runtime *runtime)
{
	struct ruby_names *classes = &census->objects->names;
	struct object_namer namer = { objects_name, census };
	const struct ruby_counts *counts = &census->counts;

	runtime->name = "ruby";
	memcpy(runtime->version, census->objects->heap.version, sizeof(runtime->version));
	runtime->pages = counts->pages;
	runtime->page_bytes = counts->page_bytes;
	runtime->sparse_pages = counts->sparse_pages;
	runtime->slots = counts->slots;
	runtime->free_slots = counts->free_slots;
	runtime->minor_gcs = gcs->minor;
	runtime->major_gcs = gcs->major;
	runtime->gc_ns = gcs->ns;
	object_table_report(&census->table, &namer, names, runtime);
	ruby_longest_report(&census->longest, classes, samples, runtime);
	ruby_code_report(&census->code, classes, names, runtime);
	objects_remark(census, runtime);
}

/* Holders */

struct objects_rows {
	struct census *census;
	struct memory_runtime *runtime;
	struct table by_name; /* of the rows that are wanted: name -> position + 1 */
	struct table by_id; /* class -> position + 1, or rows + 1 if it is none of them */
	struct strings *names;
	size_t count;
};

static size_t objects_find_row(void *context, const struct ruby_slot *slot)
{
	struct objects_rows *rows = context;
	uint64_t id = objects_id(rows->census, slot);
	uintptr_t place = (uintptr_t)table_get(&rows->by_id, id);
	struct buffer safe = { 0 };
	char name[OBJECT_NAME_MAX] = "";

	if (!place) {
		objects_name(rows->census, id, name, sizeof(name));
		text_append_safe(&safe, name[0] ? name : "-");
		place = (uintptr_t)table_get(&rows->by_name,
					     (uintptr_t)strings_keep(rows->names, safe.data));
		place = place ? place : rows->count + 1;
		table_put(&rows->by_id, id, (void *)place);
		buffer_free(&safe);
	}
	return place - 1;
}

static void objects_hold(struct census *census, const struct ruby_objects_wanted *wanted,
			 struct strings *names, struct memory_runtime *runtime)
{
	struct objects_rows rows = { .census = census, .runtime = runtime, .names = names };
	struct ruby_rows found = { .find = objects_find_row, .context = &rows };
	struct ruby_holders holders;
	struct ruby_graph graph;
	size_t i;

	if (!ruby_graph_load(&graph, &census->objects->heap, &census->objects->names,
			     wanted->max_bytes / 4)) {
		buffer_append_string(
			&runtime->remarks,
			"who holds objects is not known: the heap is too large to copy\n");
		ruby_graph_free(&graph);
		return;
	}
	rows.count = runtime->class_count < HELD_CLASSES ? runtime->class_count : HELD_CLASSES;
	found.count = rows.count;
	for (i = 0; i < rows.count; i++)
		table_put(&rows.by_name, (uintptr_t)runtime->classes[i].name,
			  (void *)(uintptr_t)(i + 1));
	ruby_holders_find(&graph, wanted->max_bytes, &holders);
	found.keep = wanted->keep;
	ruby_samples_hold(&holders, &found, wanted->samples, runtime);
	ruby_longest_hold(&holders, wanted->samples, runtime);
	ruby_holders_free(&holders);
	ruby_graph_free(&graph);
	table_free(&rows.by_name);
	table_free(&rows.by_id);
}

/* What blocks there are, where that is wanted and known; `native` stays open until it is freed. */
static void objects_walk_blocks(struct census *census, const struct ruby_objects_wanted *wanted,
				struct ruby_native *native)
{
	struct ruby_heap *heap = &census->objects->heap;
	struct census_sink sink;

	ruby_native_open(heap->image, wanted->max_bytes, native);
	sink = ruby_native_sink(native);
	if (!wanted->classes || !wanted->walk_blocks)
		return;
	native->unknown = !wanted->walk_blocks(wanted->walk_context, &sink);
	if (!native->unknown && ruby_native_begin(native, heap))
		census->native = native;
}

/* By the structs of the pages: all slots that are not free may hold objects. */
static void objects_count_structs(struct census *census)
{
	struct ruby_heap *heap = &census->objects->heap;
	struct ruby_counts *counts = &census->counts;
	struct ruby_page page;
	size_t i;

	for (i = 0; i < heap->page_count; i++) {
		if (!ruby_heap_read_struct(heap, i, &page)) {
			counts->lost_pages++;
			continue;
		}
		counts->pages++;
		counts->slots += page.total_slots;
		counts->free_slots += page.free_slots;
		counts->sparse_pages += (page.total_slots - page.free_slots) * SPARSE <=
					page.total_slots;
	}
	counts->page_bytes = counts->pages * heap->layout->page_size;
}

int ruby_objects_census(struct ruby_objects *objects, const struct ruby_objects_wanted *wanted,
			struct strings *names, struct memory_runtime *ret_runtime,
			struct ruby_counts *ret_counts)
{
	struct memory_runtime runtime = { 0 };
	struct census census = { .objects = objects,
				 .keep = wanted->keep,
				 .table.max_classes = CLASSES_MAX };
	struct ruby_native native;
	struct ruby_gcs gcs;

	/* First, since it takes long: what the collector has marked is read right after it was asked. */
	objects_walk_blocks(&census, wanted, &native);
	if (!objects_wait(&objects->heap, wanted, &gcs, &runtime.after_major) ||
	    !objects_list(&objects->heap, wanted)) {
		ruby_native_free(&native);
		return -ESRCH;
	}
	census.counts.marking = gcs.mode == RUBY_MODE_MARKING;
	ruby_class_forget(&objects->names);
	if (wanted->keep && wanted->classes)
		ruby_keep_begin(wanted->keep);
	if (wanted->classes)
		objects_count_all(&census);
	else
		objects_count_structs(&census);
	runtime.blocks_unknown = native.unknown || native.too_many || native.cut;
	ruby_native_remark(&native, &runtime.remarks);
	ruby_native_free(&native);
	census.native = NULL;
	objects_remark_wait(wanted, &runtime);
	objects_report(&census, &gcs, wanted->samples, names, &runtime);
	if (wanted->classes && wanted->holders)
		objects_hold(&census, wanted, names, &runtime);
	*ret_runtime = runtime;
	if (ret_counts)
		*ret_counts = census.counts;
	object_table_free(&census.table);
	table_free(&census.data_types);
	return 0;
}

void ruby_objects_each_page(struct ruby_objects *objects,
			    void (*page)(void *context, uint64_t start, uint64_t end),
			    void *context)
{
	struct ruby_heap *heap = &objects->heap;
	struct ruby_page found;
	size_t i;

	for (i = 0; i < heap->page_count; i++)
		if (ruby_heap_read_struct(heap, i, &found))
			page(context, found.body, found.body + heap->layout->page_size);
}

uint64_t ruby_objects_transient(const struct ruby_objects *objects)
{
	return ruby_transient_find(&objects->heap);
}
