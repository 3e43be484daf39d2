/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image of a live process: /proc/PID/maps, pagemap and mem. Whether a page is present is looked at right before it is read, so
 * none is brought in but by a race. Reads by /proc/PID/mem copy no page that is shared since a fork; process_vm_readv would.
 */
#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "system/privilege.h"
#include "system/proc.h"
#include "system/process_memory.h"
#include "system/process_pages.h"
#include "system/program_identity.h"
#include "system/regular_file.h"
#include "system/remote_file.h"

/* For the pages of all mappings, where the image has no limit of its own. */
#define PAGES_NS 10000000000ull

/* In seconds: clocks are read in these, and file systems' are late by some milliseconds. */
#define BEGAN_MARGIN 2

/* A millisecond apart: execve() takes about one from the old memory to the new vector. */
#define IDENTIFY_TRIES 100

_Static_assert((int)IMAGE_PRESENT == PROCESS_PAGE_PRESENT &&
		       (int)IMAGE_SWAPPED == PROCESS_PAGE_SWAPPED &&
		       (int)IMAGE_FILE == PROCESS_PAGE_FILE &&
		       (int)IMAGE_HUGE == PROCESS_PAGE_HUGE && (int)IMAGE_ZERO == PROCESS_PAGE_ZERO,
	       "the bits of pages are the same");

struct live_facts {
	enum mapped_kind kind;
	bool unchanged; /* see struct image_mapping */
};

/* A file that is mapped. */
struct live_file {
	struct live_file *next; /* of the same key */
	uint64_t device, inode;
	struct live_facts facts;
	bool tried; /* to open it */
	int fd; /* to read from; negative = not open */
};

struct live {
	pid_t pid;
	pid_t thread; /* by which all is read */
	struct program_identity program;
	int64_t began; /* when the process began, in seconds since the epoch, or earlier */
	struct process_pages pages;
	struct call_patience patience; /* with the reads of its mappings */
	uint64_t pages_until_ns; /* CLOCK_MONOTONIC */
	struct table files; /* by a hash of device and inode */
	struct remote_mounts *mounts; /* while mappings are listed; else NULL */
};

static bool live_alive(void *context)
{
	struct live *live = context;
	struct program_identity now;

	return !program_identity_read(live->pid, &now) &&
	       program_identity_is_same(&now, &live->program) &&
	       proc_has_memory("/proc", proc_memory_thread("/proc", live->pid));
}

static void live_close_files(struct live *live)
{
	const struct table_slot *slot;
	struct live_file *file, *next;
	size_t cursor = 0;

	while ((slot = table_next(&live->files, &cursor)))
		for (file = slot->value; file; file = next) {
			next = file->next;
			if (file->fd >= 0)
				close(file->fd);
			free(file);
		}
	table_free(&live->files);
}

static void live_close(void *context)
{
	struct live *live = context;

	live_close_files(live);
	process_pages_close(&live->pages);
	free(live);
}

static size_t live_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct live *live = context;

	return process_pages_read_part(&live->pages, address, bytes, size);
}

static size_t live_read_anonymous(void *context, uint64_t address, void *bytes, size_t size)
{
	struct live *live = context;
	const uint64_t until = process_pages_anonymous_until(&live->pages, address, size);
	ssize_t got = 0;

	/* The kernel describes some devices' pages as anonymous ones. This call refuses those. */
	if (until > address)
		got = process_memory_read_present(live->thread, address, bytes,
						  until - address < size ? until - address : size);
	return got > 0 ? (size_t)got : 0;
}

static struct live_facts live_examine(const struct live *live, const struct proc_mapping *mapping)
{
	int fd = live->mounts ? proc_open_mapping_path("/proc", live->thread, mapping) : -1;
	struct live_facts facts = { MAPPED_DEVICE, false };

	if (fd < 0)
		return facts;
	facts.kind = regular_file_mapped_kind_in(fd, live->mounts);
	facts.unchanged = facts.kind == MAPPED_LOCAL &&
			  regular_file_is_unchanged_since(fd, live->began);
	close(fd);
	return facts;
}

/* The file of a mapping; made known if it is new. */
static struct live_file *live_file(struct live *live, const struct proc_mapping *mapping)
{
	uint64_t key = hash_word(hash_word(HASH_BEGIN, mapping->inode), mapping->device);
	struct live_file *first = table_get(&live->files, key), *file;

	for (file = first; file; file = file->next)
		if (file->device == mapping->device && file->inode == mapping->inode)
			return file;
	file = memory_alloc(1, sizeof(*file));
	*file = (struct live_file){ .next = first,
				    .device = mapping->device,
				    .inode = mapping->inode,
				    .facts = live_examine(live, mapping),
				    .fd = -1 };
	table_put(&live->files, key, file);
	return file;
}

static struct live_facts live_facts_of(struct live *live, const struct proc_mapping *mapping)
{
	struct live_facts facts = { MAPPED_LOCAL, false };

	/* Names of files begin with a slash. */
	if (!strcmp(mapping->path, IMAGE_RING_NAME))
		return facts;
	if (mapping->inode || mapping->device)
		return live_file(live, mapping)->facts;
	/* Pages of the kernel's clock, some of which are those of a device. */
	if (!strncmp(mapping->path, "[vvar", 5) || !strcmp(mapping->path, "[vsyscall]"))
		facts.kind = MAPPED_DEVICE;
	return facts;
}

struct proc_mapping image_proc_mapping(const struct image_mapping *mapping)
{
	return (struct proc_mapping){ .start = mapping->start,
				      .end = mapping->end,
				      .file_offset = mapping->file_offset,
				      .device = mapping->device,
				      .inode = mapping->inode,
				      .deleted = mapping->deleted,
				      .path = (char *)mapping->name };
}

/* Files of a server are copied to be read: not for this. */
static void live_open(struct live *live, const struct proc_mapping *mapping, struct live_file *file)
{
	int fd;

	file->tried = true;
	if (file->facts.kind != MAPPED_LOCAL)
		return;
	fd = proc_open_mapping_path("/proc", live->thread, mapping);
	if (fd < 0)
		return;
	/* The number of its mount may be another one's by now. */
	if (remote_file_kind(fd, live->thread) == MOUNT_LOCAL)
		file->fd = regular_file_reopen(fd, live->thread);
	else
		close(fd);
}

/* How many bytes from `address` on are of pages of which there is nothing, neither in memory nor swapped out. */
static size_t live_count_absent(struct live *live, uint64_t address, size_t size)
{
	uint64_t until = process_pages_absent_until(&live->pages, address, size);

	return until - address < size ? until - address : size;
}

/* A page that the process never wrote is as the file has it, even where it was writable before. */
static size_t live_read_file(void *context, const struct image_mapping *mapping, uint64_t address,
			     void *bytes, size_t size)
{
	struct live *live = context;
	struct proc_mapping like = image_proc_mapping(mapping);
	struct live_file *file = live_file(live, &like);
	ssize_t got;

	if (!file->tried)
		live_open(live, &like, file);
	size = file->fd < 0 ? 0 : live_count_absent(live, address, size);
	if (!size)
		return 0;
	got = pread(file->fd, bytes, size,
		    (off_t)(mapping->file_offset + (address - mapping->start)));
	return got > 0 ? (size_t)got : 0;
}

static void live_add(struct image *image, const struct proc_mapping *mapping,
		     struct live_facts facts)
{
	image_add_mapping(image, &(struct image_mapping){
					 .start = mapping->start,
					 .end = mapping->end,
					 .file_offset = mapping->file_offset,
					 .device = mapping->device,
					 .inode = mapping->inode,
					 .readable = mapping->readable,
					 .writable = mapping->writable,
					 .executable = mapping->executable,
					 .shared = mapping->shared,
					 .deleted = mapping->deleted,
					 .device_memory = facts.kind == MAPPED_DEVICE,
					 .huge_pages = facts.kind == MAPPED_HUGE,
					 .unchanged = facts.unchanged,
					 .name = mapping->path,
				 });
}

/* What is not known in time may be a device. */
static void live_add_all(struct live *live, struct image *image, const struct proc_map_list *list)
{
	bool is_late = false;
	size_t i;

	live->mounts = remote_mounts_new(live->thread);
	for (i = 0; i < list->count; i++) {
		is_late = is_late || (image->until_ns && image_is_over(image));
		live_add(image, &list->items[i],
			 is_late ? (struct live_facts){ MAPPED_DEVICE, false }
				 : live_facts_of(live, &list->items[i]));
	}
	image->pages_unknown |= is_late;
	remote_mounts_free(live->mounts);
	live->mounts = NULL;
}

/* The clock may be set at any time. */
static int64_t live_began(const struct live *live)
{
	const int64_t ticks = sysconf(_SC_CLK_TCK);
	const int64_t age =
		(int64_t)(clock_boot_ns() / 1000000000) - (int64_t)live->program.start_time / ticks;

	return (int64_t)time(NULL) - age - BEGAN_MARGIN;
}

static bool live_mappings(void *context, struct image *image)
{
	struct live *live = context;
	struct proc_map_list list = { 0 };

	/* What is open is of the program that ran then. */
	process_pages_close(&live->pages);
	live_close_files(live);
	live->thread = image->thread = proc_memory_thread("/proc", live->pid);
	if (process_pages_open(&live->pages, live->thread) || !live_alive(live) ||
	    proc_read_maps_within(live->thread, false, &live->patience, &list))
		return false;
	image->pages_unknown = image->mappings_cut = list.cut;
	live->began = live_began(live);
	live_add_all(live, image, &list);
	proc_map_list_free(&list);
	live->pages_until_ns = image->until_ns ? image->until_ns : clock_now_ns() + PAGES_NS;
	return image->mapping_count;
}

static void live_add_pages(void *context, uint64_t start, uint64_t end, unsigned int bits)
{
	image_add_pages(context, start, end, bits);
}

static bool live_pages(void *context, struct image *image, uint64_t start, uint64_t end)
{
	const struct process_pages_sink sink = { live_add_pages, image };
	struct live *live = context;

	bool is_listed;

	/* The kernel's own, at the end of the address space, have no pages that could be listed. */
	is_listed = end > INT64_MAX ||
		    process_pages_list(&live->pages, start, end, live->pages_until_ns, &sink);
	image->huge_unknown = !live->pages.scans;
	return is_listed;
}

static const struct image_source live_source = {
	.read = live_read,
	.read_anonymous = live_read_anonymous,
	.read_file = live_read_file,
	.mappings = live_mappings,
	.pages = live_pages,
	.alive = live_alive,
	.close = live_close,
};

/* The files are the other user's, and to be opened for who has the capability or is that user. */
static int live_refuse(pid_t pid, int code, struct error *error)
{
	char path[64];

	if (code != -EACCES && code != -EPERM)
		return error_set(error, ERROR_TARGET, code,
				 "cannot look at the memory of process %d: %s", (int)pid,
				 strerror(-code));
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	return privileges_refuse(
		faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) ? STEP_READ : STEP_LOOK, code, error);
}

/* -ESTALE if it was between two programs at each try. */
static int live_identify(pid_t pid, struct program_identity *ret_program)
{
	int tries, code = program_identity_read(pid, ret_program);

	for (tries = 1;
	     code == -ESRCH && proc_has_memory("/proc", proc_memory_thread("/proc", pid));
	     tries++) {
		if (tries == IDENTIFY_TRIES)
			return -ESTALE;
		usleep(1000);
		code = program_identity_read(pid, ret_program);
	}
	return code;
}

int image_open(pid_t pid, uint64_t until_ns, struct image **ret_image, struct error *error)
{
	struct live *live = memory_alloc(1, sizeof(*live));
	struct proc_status status;
	struct image *image;
	int code;

	live->pid = pid;
	live->thread = proc_memory_thread("/proc", pid);
	live->pages.map = live->pages.memory = -1;
	code = live_identify(pid, &live->program);
	if (!code)
		code = process_pages_open(&live->pages, live->thread);
	/* Without its memory there is little to see. */
	if (!code && live->pages.memory < 0)
		code = -EACCES;
	if (code) {
		process_pages_close(&live->pages);
		free(live);
		return live_refuse(pid, code, error);
	}
	image = image_new(&live_source, live, live->pages.page_size);
	image->pid = pid;
	image->until_ns = until_ns;
	image->thread = live->thread;
	/* A first thread that has ended is in no list of threads. */
	if (!proc_read_status("/proc", live->thread, &status))
		image->own_pid = status.namespace_pid;
	image->program = live->program;
	if (!image_refresh(image)) {
		image_free(image);
		code = proc_has_memory("/proc", proc_memory_thread("/proc", pid)) ? -ESTALE
										  : -ESRCH;
		return error_set(error, ERROR_TARGET, code,
				 "process %d has no memory that could be looked at, or has ended",
				 (int)pid);
	}
	*ret_image = image;
	return 0;
}
