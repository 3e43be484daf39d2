/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_heap.h. */
#include "ruby/ruby_heap.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "model/heap_totals.h"
#include "objects/exports.h"

/* A heap of more pages has more memory than a machine of today. */
#define PAGES_MAX (1ull << 24)
/* The struct of the virtual machine, in bytes that are searched for the object space. */
#define VM_SIZE 4096u
#define LIST_STEP 4096u /* entries of the list that are read at once */
#define PART 4096u
#define STATIC_STEP 512u /* words of it that are read at once */
#define STATIC_MAX (1u << 20) /* bytes of static data on either side of the anchor */
#define MODE_MASK 3u
/* Before each of them but the first, mappings are listed again. */
#define FIND_TRIES 3

static uint64_t heap_mask(const struct ruby_release *layout)
{
	return layout->page_size - 1;
}

/* The list of pages of what may be an object space. */
static bool heap_list_of(struct image *image, const struct ruby_release *layout, uint64_t space,
			 uint64_t *ret_list, uint64_t *ret_count)
{
	uint64_t list = space & 3 ? 0 : image_word(image, space + layout->pages);

	if (!list || list & 7)
		return false;
	*ret_count = image_word(image, layout->page_count ? space + layout->page_count : list);
	*ret_list = layout->page_count ? list : list + 16;
	return *ret_count && *ret_count <= PAGES_MAX && image_holds(image, list, *ret_count * 8);
}

/* Is the page in the list, at the place where it belongs by its address? */
static bool heap_lists_page(struct image *image, const struct ruby_release *layout, uint64_t space,
			    uint64_t page, uint64_t start)
{
	uint64_t list, low = 0, high, middle, found;

	if (!heap_list_of(image, layout, space, &list, &high))
		return false;
	while (low < high) {
		middle = low + (high - low) / 2;
		found = image_word(image, list + middle * 8);
		if (!found || found == page)
			return found;
		if (image_word(image, found + layout->start) < start)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The page's pool is one of five inside of the object space. */
static uint64_t heap_space_by_pool(struct image *image, const struct ruby_release *layout,
				   uint64_t page, uint64_t start)
{
	uint64_t pool = image_word(image, page + layout->pool), space;
	uint64_t i;

	for (i = 0; pool && i < RUBY_POOLS; i++) {
		space = pool - layout->pools - i * layout->pool_size;
		if (heap_lists_page(image, layout, space, page, start))
			return space;
	}
	return 0;
}

/* The virtual machine has a pointer to it. */
static uint64_t heap_space_by_vm(struct image *image, const struct ruby_release *layout,
				 const struct ruby_exports *exports, uint64_t page, uint64_t start)
{
	uint64_t vm = exports->vm ? image_word(image, exports->vm) : 0, words[VM_SIZE / 8];
	size_t size = image_read_part(image, vm, words, sizeof(words)), i;

	for (i = 0; vm && i < size / 8; i++)
		if (words[i] && heap_lists_page(image, layout, words[i], page, start))
			return words[i];
	return 0;
}

/* The list of its pages may be in a mapping that is younger than the image's list of them: the program moves it as it grows. */
static uint64_t heap_find_space(struct image *image, const struct ruby_release *layout,
				const struct ruby_exports *exports, uint64_t page, uint64_t start)
{
	uint64_t space = 0;
	int i;

	for (i = 0; i < FIND_TRIES && !space && (!i || image_refresh(image)); i++)
		space = layout->pools ? heap_space_by_pool(image, layout, page, start)
				      : heap_space_by_vm(image, layout, exports, page, start);
	return space;
}

/* A pointer in static data to what has the address of the object space at its place. */
static uint64_t image_search_vm(const struct ruby_heap *heap)
{
	uint64_t words[STATIC_STEP], start, end;
	size_t count, i;

	ruby_heap_static_range(heap, &start, &end);
	for (; start < end; start += sizeof(words)) {
		count = image_read_part(heap->image, start, words, sizeof(words)) / 8;
		for (i = 0; i < count; i++)
			if (words[i] > PART && !(words[i] & 15) &&
			    (words[i] < start || words[i] >= end) &&
			    image_word(heap->image, words[i] + heap->layout->vm_space) ==
				    heap->space)
				return words[i];
	}
	return 0;
}

int ruby_heap_find_as(struct image *image, const struct ruby_release *layout,
		      const struct ruby_exports *exports, struct ruby_heap *ret_heap,
		      struct error *reason)
{
	uint64_t object = image_word(image, exports->object), page, start;
	struct ruby_heap heap = { .image = image,
				  .layout = layout,
				  .anchor = exports->object,
				  .object_class = object,
				  .vm = exports->vm ? image_word(image, exports->vm) : 0 };

	page = image_word(image, object & ~heap_mask(layout));
	start = page & 7 ? 0 : image_word(image, page + layout->start);
	if (!object || object & 7 || !page || !start || (start ^ object) & ~heap_mask(layout))
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "the first object of Ruby is in no page of this version");
	heap.space = heap_find_space(image, layout, exports, page, start);
	if (!heap.space)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "the object space of Ruby is not as it is in this version");
	if (!heap.vm && layout->vm_space)
		heap.vm = image_search_vm(&heap);
	heap.bytes = memory_alloc(1, RUBY_PAGE_MAX);
	heap.page_struct = memory_alloc(1, RUBY_PAGE_STRUCT_MAX);
	if (!ruby_heap_list(&heap)) {
		ruby_heap_free(&heap);
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "the pages of Ruby's heap are not listed");
	}
	*ret_heap = heap;
	return 0;
}

static void heap_read_version(struct image *image, uint64_t address, char version[16])
{
	size_t size = image_read_part(image, address, version, 15), i;

	for (i = 0; i < size && isgraph((unsigned char)version[i]);)
		i++;
	version[i] = '\0';
}

int ruby_heap_find(struct image *image, struct ruby_heap *ret_heap, struct error *reason)
{
	uint64_t version = exports_find(image, "ruby_version");
	const struct ruby_release *layout;
	struct ruby_exports exports;
	char text[16];
	int code;

	if (!version)
		return -ENOENT;
	heap_read_version(image, version, text);
	exports.object = exports_find(image, "rb_cObject");
	if (!exports.object || !image_word(image, exports.object))
		return -ENOENT;
	exports.vm = exports_find(image, "ruby_current_vm_ptr");
	layout = ruby_release_find(text);
	if (!ruby_release_has_heap(layout))
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "objects of Ruby %s cannot be counted, those of 2.7 to 3.4 can",
				 text);
	code = ruby_heap_find_as(image, layout, &exports, ret_heap, reason);
	if (!code)
		memcpy(ret_heap->version, text, sizeof(text));
	return code;
}

void ruby_heap_free(struct ruby_heap *heap)
{
	free(heap->pages);
	free(heap->bytes);
	free(heap->page_struct);
	*heap = (struct ruby_heap){ 0 };
}

static int heap_compare_pages(const void *left, const void *right)
{
	return compare_numbers(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* While the program inserts a page, others move, and may be read twice. */
static size_t heap_drop_doubles(uint64_t *pages, size_t count)
{
	size_t kept = 0, i;

	qsort(pages, count, sizeof(pages[0]), heap_compare_pages);
	for (i = 0; i < count; i++)
		if (pages[i] && !(pages[i] & 7) && (!kept || pages[kept - 1] != pages[i]))
			pages[kept++] = pages[i];
	return kept;
}

bool ruby_heap_list(struct ruby_heap *heap)
{
	uint64_t list, count, done = 0, step, *pages = NULL;

	if (!heap_list_of(heap->image, heap->layout, heap->space, &list, &count))
		return false;
	for (; done < count; done += step) {
		step = count - done < LIST_STEP ? count - done : LIST_STEP;
		pages = memory_resize(pages, done + step, sizeof(pages[0]));
		if (!image_read(heap->image, list + done * 8, pages + done, step * 8)) {
			free(pages);
			return false;
		}
	}
	free(heap->pages);
	heap->page_count = heap_drop_doubles(pages, count);
	heap->pages = pages;
	heap->mapped_again = false;
	return heap->page_count;
}

bool ruby_heap_has(const struct ruby_heap *heap, uint64_t page)
{
	return bsearch(&page, heap->pages, heap->page_count, sizeof(page), heap_compare_pages);
}

/* A page may be in a mapping that is younger than the image's list of them: list these again, once for a list of pages. */
static bool heap_map_again(struct ruby_heap *heap)
{
	if (heap->mapped_again)
		return false;
	heap->mapped_again = true;
	return image_refresh(heap->image);
}

/* What is there of the page, by parts; the others are marked as missing. */
static void heap_read_parts(struct image *image, struct ruby_page *page, unsigned char *bytes,
			    uint32_t end)
{
	uint32_t offset, size;

	for (offset = 0; offset < end; offset += PART) {
		size = end - offset < PART ? end - offset : PART;
		if (!image_read(image, page->body + offset, bytes + offset, size))
			page->missing |= 1u << offset / PART;
	}
}

static bool heap_read_page(struct ruby_heap *heap, size_t index, struct ruby_page *ret_page)
{
	struct ruby_page page;
	uint64_t owner;
	uint32_t end;

	if (!image_read(heap->image, heap->pages[index], heap->page_struct,
			heap->layout->page_struct) ||
	    !ruby_slots_open(heap->layout, heap->page_struct, &page))
		return false;
	end = ruby_slots_end(&page);
	if (!image_read(heap->image, page.body, heap->bytes, end))
		heap_read_parts(heap->image, &page, heap->bytes, end);
	memcpy(&owner, heap->bytes, sizeof(owner));
	page.bytes = heap->bytes;
	*ret_page = page;
	return !(page.missing & 1) && owner == heap->pages[index];
}

static bool heap_read_struct(struct ruby_heap *heap, size_t index, struct ruby_page *ret_page)
{
	return image_read(heap->image, heap->pages[index], heap->page_struct,
			  heap->layout->page_struct) &&
	       ruby_slots_open(heap->layout, heap->page_struct, ret_page) &&
	       image_word(heap->image, ret_page->body) == heap->pages[index];
}

bool ruby_heap_read(struct ruby_heap *heap, size_t index, struct ruby_page *ret_page)
{
	return heap_read_page(heap, index, ret_page) ||
	       (heap_map_again(heap) && heap_read_page(heap, index, ret_page));
}

bool ruby_heap_read_struct(struct ruby_heap *heap, size_t index, struct ruby_page *ret_page)
{
	return heap_read_struct(heap, index, ret_page) ||
	       (heap_map_again(heap) && heap_read_struct(heap, index, ret_page));
}

bool ruby_heap_gcs(struct ruby_heap *heap, struct ruby_gcs *ret_gcs)
{
	const struct ruby_release *layout = heap->layout;
	struct ruby_gcs gcs = { .ns = layout->times[0] ? 0 : HEAP_UNKNOWN };
	uint64_t ns;
	uint32_t mode;
	size_t i;

	if (!image_read(heap->image, heap->space + layout->minor_gcs, &gcs.minor, 8) ||
	    !image_read(heap->image, heap->space + layout->major_gcs, &gcs.major, 8) ||
	    !image_read(heap->image, heap->space + layout->mode, &mode, sizeof(mode)))
		return false;
	gcs.mode = mode & MODE_MASK;
	for (i = 0; i < 2 && layout->times[i]; i++) {
		if (!image_read(heap->image, heap->space + layout->times[i], &ns, sizeof(ns)))
			return false;
		gcs.ns += ns;
	}
	*ret_gcs = gcs;
	return true;
}

void ruby_heap_static_range(const struct ruby_heap *heap, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct image *image = heap->image;
	uint64_t anchor = heap->anchor;
	const struct image_mapping *mapping = image_find(image, anchor), *first, *last;

	*ret_start = *ret_end = 0;
	if (!mapping)
		return;
	for (first = mapping;
	     first > image->mappings && first[-1].end == first->start && first[-1].writable;
	     first--)
		;
	for (last = mapping; last + 1 < image->mappings + image->mapping_count &&
			     last[1].start == last->end && last[1].writable;
	     last++)
		;
	*ret_start = anchor - first->start > STATIC_MAX ? anchor - STATIC_MAX : first->start;
	*ret_end = last->end - anchor > STATIC_MAX ? anchor + STATIC_MAX : last->end;
	*ret_start &= ~7ull;
}
