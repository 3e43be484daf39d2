/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See module_ranges.h. Headers are the process's to write: each range is cut to what is mapped. */
#include "image/module_ranges.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* More program headers than any linker makes, and how far into the file they may lie. */
#define HEADERS_MAX 64
#define HEADER_BYTES 65536

/* A mapping is a part of one segment mostly; more ranges come of headers that lie, all about the same place. */
#define RANGES_PER_MAPPING 4

/* A module in the making. */
struct reading {
	struct image *image;
	const struct image_mapping *first; /* of offset 0 */
	struct module_ranges *ranges;
	Elf64_Phdr headers[HEADERS_MAX];
	size_t count;
	uint64_t bias;
	uint64_t relro_start, relro_end; /* pages */
};

static uint64_t reading_floor(const struct reading *reading, uint64_t address)
{
	return address & ~(reading->image->page_size - 1);
}

/* 0 if it overflows. */
static uint64_t reading_ceiling(const struct reading *reading, uint64_t address)
{
	return reading_floor(reading, address + reading->image->page_size - 1);
}

static bool reading_headers(struct reading *reading)
{
	uint64_t start = reading->first->start;
	Elf64_Ehdr head;

	if (!image_read(reading->image, start, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (head.e_type != ET_DYN && head.e_type != ET_EXEC) ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > HEADERS_MAX ||
	    head.e_phoff > HEADER_BYTES ||
	    !image_holds(reading->image, start, head.e_phoff + head.e_phnum * sizeof(Elf64_Phdr)))
		return false;
	reading->count = head.e_phnum;
	return image_read(reading->image, start + head.e_phoff, reading->headers,
			  reading->count * sizeof(reading->headers[0]));
}

static bool reading_is_file(const struct reading *reading, const struct image_mapping *mapping)
{
	return mapping && mapping->inode == reading->first->inode &&
	       mapping->device == reading->first->device;
}

/* The address in the process; 0 if it overflows. */
static uint64_t reading_address(const struct reading *reading, const Elf64_Phdr *header)
{
	uint64_t address = header->p_vaddr + reading->bias;

	return header->p_memsz > INT64_MAX || address > INT64_MAX ? 0 : address;
}

/* The file is mapped from its start: so its address there is that of the headers. */
static bool reading_find_bias(struct reading *reading)
{
	size_t i;

	for (i = 0; i < reading->count; i++)
		if (reading->headers[i].p_type == PT_LOAD &&
		    !reading_floor(reading, reading->headers[i].p_offset)) {
			reading->bias = reading->first->start -
					reading_floor(reading, reading->headers[i].p_vaddr);
			return true;
		}
	return false;
}

/* Is there code where it should be? A file that is mapped to be read has none. */
static bool reading_has_code(const struct reading *reading)
{
	const struct image_mapping *mapping;
	const Elf64_Phdr *header;
	uint64_t address;
	size_t i;

	for (i = 0; i < reading->count; i++) {
		header = &reading->headers[i];
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		address = reading_address(reading, header);
		mapping = image_find(reading->image, address);
		return reading_is_file(reading, mapping) && mapping->executable &&
		       mapping->file_offset + (address - mapping->start) == header->p_offset;
	}
	return false;
}

static void reading_add_piece(struct reading *reading, uint64_t start, uint64_t end,
			      enum module_range_kind kind)
{
	struct module_ranges *ranges = reading->ranges;

	ranges->items = memory_grow(ranges->items, ranges->count, &ranges->capacity,
				    sizeof(*ranges->items));
	ranges->items[ranges->count++] =
		(struct module_range){ start, end, kind, (uint32_t)ranges->module_count };
}

/* What of [start, end) is mapped, of the file or, of .bss, of no file. */
static void reading_add(struct reading *reading, uint64_t start, uint64_t end,
			enum module_range_kind kind)
{
	const struct module_ranges *ranges = reading->ranges;
	const struct image_mapping *mapping;
	uint64_t until;

	while (start < end && ranges->count <= RANGES_PER_MAPPING * reading->image->mapping_count) {
		mapping = image_find(reading->image, start);
		if (!mapping || (kind == MODULE_BSS ? mapping->inode || mapping->shared
						    : !reading_is_file(reading, mapping)))
			return;
		until = mapping->end < end ? mapping->end : end;
		reading_add_piece(reading, start, until, kind);
		start = until;
	}
}

/* The loader writes the first part of the data, then protects whole pages of it. */
static void reading_find_relro(struct reading *reading)
{
	uint64_t start;
	size_t i;

	for (i = 0; i < reading->count; i++) {
		if (reading->headers[i].p_type != PT_GNU_RELRO)
			continue;
		start = reading_address(reading, &reading->headers[i]);
		if (!start)
			continue;
		reading->relro_start = reading_floor(reading, start);
		reading->relro_end = reading_floor(reading, start + reading->headers[i].p_memsz);
	}
}

static void reading_add_data(struct reading *reading, uint64_t start, uint64_t file_end,
			     uint64_t end)
{
	if (reading->relro_start <= start && reading->relro_end > start) {
		uint64_t relro_end = reading->relro_end < file_end ? reading->relro_end : file_end;

		reading_add(reading, start, relro_end, MODULE_RELRO);
		start = relro_end;
	}
	reading_add(reading, start, file_end, MODULE_DATA);
	reading_add(reading, file_end, end, MODULE_BSS);
}

static void reading_add_segment(struct reading *reading, const Elf64_Phdr *header)
{
	uint64_t address = reading_address(reading, header), start, file_end, end;

	if (!address || header->p_filesz > header->p_memsz)
		return;
	start = reading_floor(reading, address);
	file_end = reading_ceiling(reading, address + header->p_filesz);
	end = reading_ceiling(reading, address + header->p_memsz);
	if (header->p_flags & PF_W)
		reading_add_data(reading, start, file_end, end);
	else
		reading_add(reading, start, file_end,
			    header->p_flags & PF_X ? MODULE_CODE : MODULE_CONSTANTS);
}

static void reading_add_module(struct reading *reading)
{
	struct module_ranges *ranges = reading->ranges;
	struct mapped_module module = { .name = memory_copy_string(reading->first->name),
					.device = reading->first->device,
					.inode = reading->first->inode,
					.bias = reading->bias };
	size_t i;

	reading_find_relro(reading);
	for (i = 0; i < reading->count; i++) {
		if (reading->headers[i].p_type == PT_LOAD)
			reading_add_segment(reading, &reading->headers[i]);
		if (reading->headers[i].p_type == PT_TLS)
			module.tls_size = reading->headers[i].p_memsz;
	}
	ranges->modules = memory_grow(ranges->modules, ranges->module_count,
				      &ranges->module_capacity, sizeof(module));
	ranges->modules[ranges->module_count++] = module;
}

static int range_compare(const void *left, const void *right)
{
	const struct module_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Headers may lie: of what overlaps, the first keeps it. */
static void module_ranges_sort(struct module_ranges *ranges)
{
	size_t i, kept = 0;

	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), range_compare);
	for (i = 0; i < ranges->count; i++) {
		struct module_range range = ranges->items[i];

		if (kept && range.start < ranges->items[kept - 1].end)
			range.start = ranges->items[kept - 1].end;
		if (range.start < range.end)
			ranges->items[kept++] = range;
	}
	ranges->count = kept;
}

void module_ranges_find(struct image *image, struct module_ranges *ret_ranges)
{
	struct reading reading;
	size_t i;

	*ret_ranges = (struct module_ranges){ 0 };
	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapping->inode || mapping->file_offset || mapping->device_memory)
			continue;
		reading =
			(struct reading){ .image = image, .first = mapping, .ranges = ret_ranges };
		if (reading_headers(&reading) && reading_find_bias(&reading) &&
		    reading_has_code(&reading))
			reading_add_module(&reading);
	}
	module_ranges_sort(ret_ranges);
}

void module_ranges_free(struct module_ranges *ranges)
{
	size_t i;

	for (i = 0; i < ranges->module_count; i++)
		free(ranges->modules[i].name);
	free(ranges->modules);
	free(ranges->items);
	*ranges = (struct module_ranges){ 0 };
}

const struct module_range *module_ranges_at(const struct module_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (ranges->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->count && ranges->items[low].start <= address ? &ranges->items[low]
									  : NULL;
}

bool module_range_is_writable(const struct module_range *range)
{
	return range->kind == MODULE_DATA || range->kind == MODULE_BSS;
}
