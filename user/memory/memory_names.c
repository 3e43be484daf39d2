/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_names.h. */
#include "memory/memory_names.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/decoder.h"
#include "system/proc.h"
#include "system/regular_file.h"

static void names_remark(struct memory_names *names, const char *what, int code)
{
	const char *failure = decoder_failure(code);

	if (failure)
		memory_report_remark(names->report, "There are no names of %s: %s.", what, failure);
}

static const struct image_mapping *names_mapping(const struct image *image,
						 const struct mapped_module *module)
{
	size_t i;

	for (i = 0; i < image->mapping_count; i++)
		if (image->mappings[i].inode == module->inode &&
		    image->mappings[i].device == module->device)
			return &image->mappings[i];
	return NULL;
}

/* The file of a module; negative if it is no file of this machine, or not to be had without asking a server. */
static int names_open(const struct image *image, const struct mapped_module *module)
{
	const struct image_mapping *mapping = names_mapping(image, module);
	struct proc_mapping like;
	int fd;

	if (!mapping || !image->pid)
		return -1;
	like = image_proc_mapping(mapping);
	fd = proc_open_mapping_path("/proc", image->thread, &like);
	if (fd < 0)
		return -1;
	if (regular_file_mapped_kind(fd, image->thread) != MAPPED_LOCAL) {
		close(fd);
		return -1;
	}
	return regular_file_keep_elf(regular_file_reopen(fd, image->thread));
}

/* The places of one module: `chosen` are their positions in `items`. */
static void names_read_places(struct memory_names *names, const struct mapped_module *mapped,
			      struct kind_name *items, const size_t *chosen, size_t count)
{
	struct module module = { .path = mapped->name,
				 .fd = names_open(names->image, mapped),
				 .root_pid = names->image->thread,
				 .number = items[chosen[0]].module };
	struct name_place *places = memory_alloc(count, sizeof(*places));
	uint64_t *addresses = memory_alloc(count, sizeof(*addresses));
	size_t i;

	for (i = 0; i < count; i++)
		addresses[i] = items[chosen[i]].address;
	if (module.fd >= 0) {
		names_remark(names, mapped->name,
			     name_reader_places(names->reader, &module, addresses, count, places));
		close(module.fd);
	}
	for (i = 0; i < count; i++) {
		items[chosen[i]].text = places[i].text;
		items[chosen[i]].into = places[i].into;
	}
	free(addresses);
	free(places);
}

static void names_read_types(struct memory_names *names, struct kind_name *items,
			     const size_t *chosen, size_t count)
{
	const char **mangled = memory_alloc(count, sizeof(*mangled));
	char **texts = memory_alloc(count, sizeof(*texts));
	size_t i;

	for (i = 0; i < count; i++)
		mangled[i] = items[chosen[i]].mangled;
	names_remark(names, "types", name_reader_demangle(names->reader, mangled, count, texts));
	for (i = 0; i < count; i++)
		items[chosen[i]].text = texts[i];
	free(mangled);
	free(texts);
}

static void names_find(void *context, const struct module_ranges *modules, struct kind_name *items,
		       size_t count)
{
	struct memory_names *names = context;
	size_t *chosen = memory_alloc(count, sizeof(*chosen)), i, n, found;
	bool *done = memory_alloc(count, sizeof(*done));

	for (i = 0; i < count && !image_is_over(names->image); i++) {
		found = 0;
		for (n = i; n < count && !done[i]; n++)
			if (items[n].module == items[i].module)
				chosen[found++] = n;
		for (n = 0; n < found; n++)
			done[chosen[n]] = true;
		if (found && items[i].module == KIND_NO_MODULE)
			names_read_types(names, items, chosen, found);
		else if (found)
			names_read_places(names, &modules->modules[items[i].module], items, chosen,
					  found);
	}
	if (i < count)
		memory_report_remark(names->report, "There was no time for all names.");
	free(chosen);
	free(done);
}

struct kind_namer memory_names_namer(struct memory_names *names)
{
	return (struct kind_namer){ names_find, names };
}
