/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mapping_purpose.h. */
#include "image/mapping_purpose.h"

#include <string.h>

/* Where Go's first arena begins, on all its 64-bit systems but some; arenas are 64 MB, and grow by 4 MB. */
#define GO_ARENA 0xc000000000
#define GO_ARENA_STEP (4ull << 20)
#define GO_ARENAS_MAX (1ull << 38) /* below the next address at which Go asks for one */

/* What names begin with. The first match counts. */
static const struct {
	const char *prefix;
	enum purpose purpose;
} names[] = {
	{ "[stack", PURPOSE_STACK },
	{ "[heap]", PURPOSE_MALLOC_MAIN },
	{ "[v", PURPOSE_KERNEL }, /* vdso, vvar, vvar_vclock */
	{ "[uprobes]", PURPOSE_KERNEL },
	{ "[sigpage]", PURPOSE_KERNEL },
	/* Names that a process has given to anonymous memory (PR_SET_VMA_ANON_NAME). */
	{ "[anon: glibc: malloc arena", PURPOSE_MALLOC_ARENA },
	{ "[anon: glibc: malloc", PURPOSE_MALLOC_LARGE },
	{ "[anon: glibc: pthread", PURPOSE_THREAD_STACK },
	{ "[anon:Go: ", PURPOSE_GO_HEAP },
	{ "[anon: Go: ", PURPOSE_GO_HEAP },
	{ "[anon:Ruby:", PURPOSE_RUBY_HEAP },
	{ "[anon_shmem:", PURPOSE_SHARED },
	/* Files that are none. */
	{ "/SYSV", PURPOSE_SHARED },
	{ "/dev/zero", PURPOSE_SHARED },
	{ "/dev/shm/", PURPOSE_SHARED },
	{ "/memfd:", PURPOSE_MEMFD },
	{ "/anon_hugepage", PURPOSE_HUGETLB },
	{ "/dev/hugepages/", PURPOSE_HUGETLB },
	{ "anon_inode:", PURPOSE_DEVICE },
	{ "socket:", PURPOSE_DEVICE },
	{ "/[aio]", PURPOSE_DEVICE },
};

static bool mapping_purpose_begins(const struct image_mapping *mapping, const char *prefix)
{
	return !strncmp(mapping->name, prefix, strlen(prefix));
}

/* By its name, or by what its file is; PURPOSE_COUNT if neither decides. A file of a tmpfs may lie below /dev, too. */
static enum purpose mapping_purpose_by_name(const struct image_mapping *mapping)
{
	size_t i;

	if (mapping->huge_pages)
		return PURPOSE_HUGETLB;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mapping_purpose_begins(mapping, names[i].prefix))
			return names[i].purpose;
	return mapping->device_memory && mapping_purpose_begins(mapping, "/dev/") ? PURPOSE_DEVICE
										  : PURPOSE_COUNT;
}

/* Has the file of `mapping` code in memory? Mappings of a module lie side by side, but for others in its gaps. */
static bool mapping_purpose_is_module(const struct image *image,
				      const struct image_mapping *mapping)
{
	size_t at = (size_t)(mapping - image->mappings), near = at > 16 ? at - 16 : 0;

	for (; near < image->mapping_count && near < at + 16; near++)
		if (image->mappings[near].executable &&
		    image->mappings[near].inode == mapping->inode &&
		    image->mappings[near].device == mapping->device)
			return true;
	return false;
}

static enum purpose mapping_purpose_of_file(const struct image *image,
					    const struct image_mapping *mapping)
{
	if (mapping->executable)
		return PURPOSE_CODE;
	if (mapping->shared || !mapping_purpose_is_module(image, mapping))
		return PURPOSE_FILE;
	return mapping->writable ? PURPOSE_DATA : PURPOSE_CONSTANTS;
}

/*
 * Go's arenas are side by side, and hints about huge pages cut them into several mappings. The kernel puts no others there by itself.
 */
static bool mapping_purpose_is_go(const struct image *image, const struct image_mapping *mapping)
{
	const struct image_mapping *first, *next;

	if (mapping->start < GO_ARENA || mapping->end > GO_ARENA + GO_ARENAS_MAX)
		return false;
	first = image_find(image, GO_ARENA);
	if (!first || first->start != GO_ARENA || first->inode)
		return false;
	next = image_find(image, first->end);
	return !(first->end % GO_ARENA_STEP) || (next && !next->inode);
}

static enum purpose mapping_purpose_of_anonymous(const struct image *image,
						 const struct image_mapping *mapping)
{
	if (mapping->executable)
		return PURPOSE_JIT;
	if (mapping->shared)
		return PURPOSE_SHARED;
	if (mapping_purpose_is_go(image, mapping))
		return PURPOSE_GO_HEAP;
	return PURPOSE_UNKNOWN;
}

enum purpose mapping_purpose_find(const struct image *image, const struct image_mapping *mapping)
{
	enum purpose purpose = mapping_purpose_by_name(mapping);

	if (purpose == PURPOSE_MEMFD && mapping->executable)
		return PURPOSE_JIT;
	if (purpose != PURPOSE_COUNT)
		return purpose;
	if (mapping->inode || mapping->name[0] == '/')
		return mapping_purpose_of_file(image, mapping);
	return mapping_purpose_of_anonymous(image, mapping);
}

bool mapping_purpose_is_own(const struct image_mapping *mapping)
{
	return strcmp(mapping->name, "[vsyscall]") != 0;
}

bool mapping_purpose_counts(const struct image_mapping *mapping)
{
	enum purpose purpose = mapping_purpose_by_name(mapping);

	return !mapping_purpose_begins(mapping, "[vvar") && purpose != PURPOSE_DEVICE &&
	       purpose != PURPOSE_HUGETLB;
}
