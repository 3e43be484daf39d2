/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See exports.h. All that is read may be forged: counts are bounded, and no read goes beyond what the image has. */
#include "objects/exports.h"

#include <elf.h>
#include <string.h>

#define HEADERS_MAX 64
#define ENTRIES_MAX 512 /* of a dynamic section */
#define CHAIN_MAX (1u << 16)

struct exports_module {
	uint64_t start, bias; /* bias: an address less that in the file */
	uint64_t symbols, strings, gnu_hash, hash; /* 0 = it has none */
};

static uint32_t exports_half(struct image *image, uint64_t address)
{
	uint32_t half;

	return image_read(image, address, &half, sizeof(half)) ? half : 0;
}

/* glibc has put addresses in the place of these entries' offsets, musl has not. */
static uint64_t exports_address(const struct exports_module *module, uint64_t value)
{
	return value && value < module->start ? module->bias + value : value;
}

static void exports_read_dynamic(struct image *image, uint64_t address,
				 struct exports_module *module)
{
	Elf64_Dyn entry;
	int i;

	for (i = 0; i < ENTRIES_MAX; i++) {
		if (!image_read(image, address + (uint64_t)i * sizeof(entry), &entry,
				sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag == DT_SYMTAB)
			module->symbols = exports_address(module, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			module->strings = exports_address(module, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_GNU_HASH)
			module->gnu_hash = exports_address(module, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_HASH)
			module->hash = exports_address(module, entry.d_un.d_ptr);
	}
}

/* Does a module begin at the mapping, and has it what is needed to look up its symbols? */
static bool exports_open(struct image *image, const struct image_mapping *mapping,
			 struct exports_module *ret_module)
{
	struct exports_module module = { .start = mapping->start };
	uint64_t dynamic = 0, first = UINT64_MAX;
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr header;
	int i;

	if (mapping->file_offset || !mapping->inode || !mapping->readable ||
	    !image_read(image, mapping->start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || !header.e_phnum ||
	    header.e_phnum > HEADERS_MAX || header.e_phentsize != sizeof(headers[0]) ||
	    !image_read(image, mapping->start + header.e_phoff, headers,
			header.e_phnum * sizeof(headers[0])))
		return false;
	for (i = 0; i < header.e_phnum; i++) {
		if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr < first)
			first = headers[i].p_vaddr;
		else if (headers[i].p_type == PT_DYNAMIC)
			dynamic = headers[i].p_vaddr;
	}
	if (!dynamic || first == UINT64_MAX)
		return false;
	module.bias = module.start - (first & ~(image->page_size - 1));
	exports_read_dynamic(image, module.bias + dynamic, &module);
	*ret_module = module;
	return module.symbols && module.strings && (module.gnu_hash || module.hash);
}

/* 0 = the symbol at this index is another one, or not defined here. */
static uint64_t exports_compare(struct image *image, const struct exports_module *module,
				uint32_t index, const char *name)
{
	size_t size = strlen(name) + 1;
	char text[EXPORTS_NAME_MAX + 1];
	Elf64_Sym symbol;

	if (!image_read(image, module->symbols + (uint64_t)index * sizeof(symbol), &symbol,
			sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF ||
	    !image_read(image, module->strings + symbol.st_name, text, size) ||
	    memcmp(text, name, size) != 0)
		return 0;
	return module->bias + symbol.st_value;
}

static uint32_t exports_gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* The table: buckets, first symbol, words of the filter, shift; filter; a chain's start for each bucket; hashes of the symbols. */
static uint64_t exports_find_gnu(struct image *image, const struct exports_module *module,
				 const char *name)
{
	uint32_t head[4], hash = exports_gnu_hash(name), found, index, i;
	uint64_t buckets, chains, address;

	if (!image_read(image, module->gnu_hash, head, sizeof(head)) || !head[0])
		return 0;
	buckets = module->gnu_hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	index = exports_half(image, buckets + (uint64_t)(hash % head[0]) * 4);
	if (index < head[1])
		return 0;
	for (i = 0; i < CHAIN_MAX; i++, index++) {
		if (!image_read(image, chains + (uint64_t)(index - head[1]) * 4, &found,
				sizeof(found)))
			return 0;
		if ((found | 1) == (hash | 1)) {
			address = exports_compare(image, module, index, name);
			if (address)
				return address;
		}
		if (found & 1)
			return 0;
	}
	return 0;
}

static uint32_t exports_hash(const char *name)
{
	uint32_t hash = 0, high;

	while (*name) {
		hash = (hash << 4) + (unsigned char)*name++;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	return hash;
}

/* The table: buckets, symbols; a chain's start for each bucket; the next symbol of each. */
static uint64_t exports_find_old(struct image *image, const struct exports_module *module,
				 const char *name)
{
	uint32_t head[2], index, i;
	uint64_t address;

	if (!image_read(image, module->hash, head, sizeof(head)) || !head[0])
		return 0;
	index = exports_half(image,
			     module->hash + 8 + (uint64_t)(exports_hash(name) % head[0]) * 4);
	for (i = 0; index && i < CHAIN_MAX; i++) {
		address = exports_compare(image, module, index, name);
		if (address)
			return address;
		index = exports_half(image, module->hash + 8 + ((uint64_t)head[0] + index) * 4);
	}
	return 0;
}

uint64_t exports_find(struct image *image, const char *name)
{
	struct exports_module module;
	uint64_t address = 0;
	size_t i;

	if (strlen(name) > EXPORTS_NAME_MAX)
		return 0;
	for (i = 0; i < image->mapping_count && !address; i++) {
		if (!exports_open(image, &image->mappings[i], &module))
			continue;
		address = module.gnu_hash ? exports_find_gnu(image, &module, name)
					  : exports_find_old(image, &module, name);
	}
	return address;
}
