/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a file with libdwfl, and its offsets to addresses: see dwarf_image.h. */
#include "decode/dwarf_image_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/demangle.h"

static int dwarf_image_find_elf(Dwfl_Module *module, void **userdata, const char *name,
				Dwarf_Addr base, char **ret_path, Elf **ret_elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)ret_path, (void)ret_elf;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwarf_image_find_elf,
	.find_debuginfo = dwarf_image_debug_find,
	.section_address = dwfl_offline_section_address,
};

/* libdwfl also takes compressed files, kernel images and object files; a mapped program is none of them. */
static bool dwarf_image_is_program(int fd)
{
	const int order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	Elf64_Ehdr header; /* the 32-bit one begins alike */

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return false;
	return !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_DATA] == order &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

static bool dwarf_image_report(struct dwarf_image *image, int fd)
{
	void **userdata;

	image->dwfl = dwfl_begin(&callbacks);
	if (!image->dwfl)
		return false;
	dwfl_report_begin(image->dwfl);
	image->module = dwfl_report_elf(image->dwfl, "module", "module", fd, 0, true);
	if (!image->module)
		return false;
	dwfl_report_end(image->dwfl, NULL, NULL);
	dwfl_module_info(image->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = image;
	return true;
}

struct dwarf_image *dwarf_image_open(int fd, const struct debug_source *source)
{
	struct dwarf_image *image = memory_alloc(1, sizeof(*image));

	image->source = source;
	image->alternate_fd = -1;
	if (dwarf_image_is_program(fd) && dwarf_image_report(image, fd))
		return image;
	close(fd);
	dwarf_image_free(image);
	return NULL;
}

/* The address that the file gives to one of its bytes, if a segment of code holds it. */
static bool dwarf_image_address(const struct dwarf_image *image, uint64_t offset,
				uint64_t *ret_address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);
	size_t count, i;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment))
			return false;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		if (offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
			continue;
		*ret_address = offset - segment.p_offset + segment.p_vaddr + bias;
		return true;
	}
	return false;
}

/*
 * Names of the DWARF are mostly as good as the symbol's or better (no ".part.0"). But it has only the plain name of a
 * C++ function that is local to its file, and an inner name ("__libc_malloc") of one that is exported under
 * another.
 */
static bool dwarf_image_symbol_is_better(const struct dwarf_image_symbol *symbol, const char *name,
					 const struct dwarf_image_function *function)
{
	if (!name)
		return true;
	if (!function->plain)
		return false;
	return demangle_is_mangled(symbol->name) ||
	       (symbol->start == function->start && symbol->sized && symbol->binding != STB_LOCAL);
}

void dwarf_image_lookup(struct dwarf_image *image, uint64_t offset, struct dwarf_image_names *names)
{
	const struct dwarf_image_symbol *symbol;
	struct dwarf_image_name *outermost;
	struct dwarf_image_function function = { UINT64_MAX, false };
	uint64_t address;

	names->count = 0;
	if (!dwarf_image_address(image, offset, &address))
		return;
	dwarf_image_functions_lookup(image, address, names, &function);
	symbol = dwarf_image_symbols_find(image, address);
	if (!symbol)
		return;
	if (!names->count)
		names->items[names->count++] = (struct dwarf_image_name){ 0 };
	outermost = &names->items[names->count - 1];
	if (!dwarf_image_symbol_is_better(symbol, outermost->function, &function))
		return;
	free(outermost->function);
	outermost->function = demangle_symbol(symbol->name);
}

void dwarf_image_names_clear(struct dwarf_image_names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++) {
		free(names->items[i].function);
		free(names->items[i].file);
	}
	names->count = 0;
}

void dwarf_image_free(struct dwarf_image *image)
{
	if (!image)
		return;
	dwarf_image_functions_free(image);
	free(image->symbols);
	dwfl_end(image->dwfl);
	if (image->alternate)
		dwarf_end(image->alternate);
	if (image->alternate_fd >= 0)
		close(image->alternate_fd);
	free(image);
}
