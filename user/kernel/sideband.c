/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event that never counts anything per CPU, opened for the records that the kernel writes beside the
 * samples. See sideband.h.
 */
#include "kernel/sideband.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "system/cpu_list.h"
#include "system/privilege.h"

/*
 * Data pages per CPU, a power of two: room for some 2000 mappings. It is half of what the kernel lets one have who may not
 * lock memory; where others have the rest, there are less, and more is dropped.
 */
#define RING_PAGES 64
#define RING_PAGES_MIN 8

/* Text of the list of CPUs; one that is longer is cut, behind the CPUs that are listened on. */
#define CPUS_TEXT 8192

/* Looks for records that came while others were read; the last takes all there are. */
#define SETTLING_LOOKS 8

struct source {
	int cpu, fd;
	struct perf_event_mmap_page *page;
	struct perf_ring ring;
};

struct sideband {
	int epoll;
	int online; /* /sys/devices/system/cpu/online, which a confined tracer may not open */
	char cpus[CPUS_TEXT]; /* the list of CPUs that are listened on */
	size_t pages; /* of data, for each source */
	struct source *sources;
	size_t count, capacity;
	unsigned char record[PERF_RECORD_SIZE_MAX];
};

static size_t sideband_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t source_size(const struct source *source)
{
	return source->ring.size + sideband_page_size();
}

/* Map the buffer of an event, as large as may be. */
static void *sideband_map(struct sideband *sideband, int fd)
{
	void *page;

	for (;; sideband->pages /= 2) {
		page = mmap(NULL, (sideband->pages + 1) * sideband_page_size(),
			    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (page != MAP_FAILED || sideband->pages <= RING_PAGES_MIN ||
		    (errno != EPERM && errno != ENOMEM))
			return page;
	}
}

static int sideband_open_event(int cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void source_close(const struct source *source)
{
	munmap(source->page, source_size(source));
	close(source->fd);
}

/* The events of CPUs that are not in the list have ended. */
static void sideband_remove_cpus(struct sideband *sideband, const char *list)
{
	size_t i, kept = 0;

	for (i = 0; i < sideband->count; i++) {
		if (cpu_list_has(list, sideband->sources[i].cpu))
			sideband->sources[kept++] = sideband->sources[i];
		else
			source_close(&sideband->sources[i]);
	}
	sideband->count = kept;
}

/* Takes ownership of `fd`. Returns 0 or a negative errno. */
static int sideband_add_source(struct sideband *sideband, int cpu, int fd)
{
	struct epoll_event interest = { .events = EPOLLIN | EPOLLET };
	struct source source = { .cpu = cpu, .fd = fd, .page = sideband_map(sideband, fd) };
	int error;

	if (source.page == MAP_FAILED)
		goto fail;
	source.ring.data = (unsigned char *)source.page + sideband_page_size();
	source.ring.size = sideband->pages * sideband_page_size();
	if (epoll_ctl(sideband->epoll, EPOLL_CTL_ADD, fd, &interest))
		goto fail;
	sideband->sources = memory_grow(sideband->sources, sideband->count, &sideband->capacity,
					sizeof(*sideband->sources));
	sideband->sources[sideband->count++] = source;
	return 0;
fail:
	error = source.page == MAP_FAILED && errno == EPERM ? -ENOMEM : -errno;
	if (source.page != MAP_FAILED)
		munmap(source.page, source_size(&source));
	close(fd);
	return error;
}

/* A CPU that has gone offline in between has no processes, hence no events. */
static int sideband_add_cpu(struct sideband *sideband, int cpu)
{
	int fd = sideband_open_event(cpu);

	if (fd == -ENODEV)
		return 0;
	return fd < 0 ? fd : sideband_add_source(sideband, cpu, fd);
}

static bool sideband_listens(const struct sideband *sideband, int cpu)
{
	size_t i;

	for (i = 0; i < sideband->count; i++)
		if (sideband->sources[i].cpu == cpu)
			return true;
	return false;
}

/* Listen on each CPU of a list, also if another one cannot be listened on. Returns 0 or the last negative errno. */
static int sideband_add_cpus(struct sideband *sideband, const char *list)
{
	int first, last, cpu, code, error = 0;

	while (cpu_list_next(&list, &first, &last))
		for (cpu = first; cpu <= last; cpu++) {
			code = sideband_listens(sideband, cpu) ? 0
							       : sideband_add_cpu(sideband, cpu);
			if (code)
				error = code;
		}
	return error;
}

/* The list of CPUs that are online, terminated. Returns 0 or a negative errno. */
static int sideband_read_online(const struct sideband *sideband, char text[CPUS_TEXT])
{
	ssize_t length = pread(sideband->online, text, CPUS_TEXT - 1, 0);

	if (length <= 0)
		return length ? -errno : -EIO;
	text[length] = '\0';
	return 0;
}

static int sideband_add_online(struct sideband *sideband)
{
	int error;

	sideband->online = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	if (sideband->online < 0)
		return -errno;
	error = sideband_read_online(sideband, sideband->cpus);
	if (!error)
		error = sideband_add_cpus(sideband, sideband->cpus);
	return error ? error : sideband->count ? 0 : -ENODEV;
}

int sideband_update_cpus(struct sideband *sideband)
{
	char list[CPUS_TEXT];
	int error = sideband_read_online(sideband, list);

	if (error || !strcmp(list, sideband->cpus))
		return error;
	sideband_remove_cpus(sideband, list);
	error = sideband_add_cpus(sideband, list);
	if (error)
		return error;
	memcpy(sideband->cpus, list, sizeof(list));
	return 1;
}

int sideband_open(struct sideband **ret_sideband, struct error *error)
{
	struct sideband *sideband = memory_alloc(1, sizeof(*sideband));
	int code;

	sideband->pages = RING_PAGES;
	sideband->online = -1;
	sideband->epoll = epoll_create1(EPOLL_CLOEXEC);
	code = sideband->epoll < 0 ? -errno : sideband_add_online(sideband);
	if (code) {
		sideband_close(sideband);
		if (code == -EACCES || code == -EPERM)
			return privileges_refuse(STEP_LISTEN, code, error);
		if (code == -ENOMEM)
			return error_set(error, ERROR_PERMISSION, code,
					 "no memory for the buffers of process events: "
					 "RLIMIT_MEMLOCK or kernel.perf_event_mlock_kb must be "
					 "greater, or CAP_IPC_LOCK given");
		return error_set(error, ERROR_PERMISSION, code,
				 "cannot listen to process events (perf_event_open): %s",
				 strerror(-code));
	}
	*ret_sideband = sideband;
	return 0;
}

void sideband_close(struct sideband *sideband)
{
	size_t i;

	if (!sideband)
		return;
	for (i = 0; i < sideband->count; i++)
		source_close(&sideband->sources[i]);
	if (sideband->online >= 0)
		close(sideband->online);
	if (sideband->epoll >= 0)
		close(sideband->epoll);
	free(sideband->sources);
	free(sideband);
}

int sideband_fd(const struct sideband *sideband)
{
	return sideband->epoll;
}

/* All records up to now are about to be read: reset the descriptor until the next one. */
static void sideband_acknowledge(struct sideband *sideband)
{
	struct epoll_event ready[64];

	while (epoll_wait(sideband->epoll, ready, 64, 0) == 64)
		;
}

/* The source whose next record is the oldest, if that is of before `limit_ns`; otherwise NULL. */
static struct source *sideband_next(struct sideband *sideband, uint64_t limit_ns)
{
	struct source *oldest = NULL;
	uint64_t oldest_ns = limit_ns, time_ns;
	size_t i;

	for (i = 0; i < sideband->count; i++) {
		struct source *source = &sideband->sources[i];

		if (!perf_ring_peek(&source->ring, &time_ns) || time_ns >= oldest_ns)
			continue;
		oldest = source;
		oldest_ns = time_ns;
	}
	return oldest;
}

static void sideband_load_heads(struct sideband *sideband)
{
	size_t i;

	for (i = 0; i < sideband->count; i++)
		sideband->sources[i].ring.head =
			__atomic_load_n(&sideband->sources[i].page->data_head, __ATOMIC_ACQUIRE);
}

/* Give the room back to the kernel. True if something in the ring could not be read. */
static bool source_finish(struct source *source)
{
	bool malformed = source->ring.malformed;

	source->ring.malformed = 0;
	__atomic_store_n(&source->page->data_tail, source->ring.tail, __ATOMIC_RELEASE);
	return malformed;
}

/* Hand over what is there and older than `limit_ns`; the number of events. */
static size_t sideband_take(struct sideband *sideband, uint64_t limit_ns,
			    void (*handle)(void *context, const struct sideband_event *event),
			    void *context)
{
	struct sideband_event event;
	struct source *source;
	size_t handled = 0;

	while ((source = sideband_next(sideband, limit_ns))) {
		size_t size = perf_ring_take(&source->ring, sideband->record);

		if (!perf_record_decode(sideband->record, size, &event))
			continue;
		handle(context, &event);
		handled++;
	}
	return handled;
}

/*
 * The rings are read one after the other: one that was empty may get a record that is older than one of the next ring.
 * All records older than the start of a pass are visible to it, so a pass takes only these, and another one follows.
 */
size_t sideband_drain(struct sideband *sideband,
		      void (*handle)(void *context, const struct sideband_event *event),
		      void *context)
{
	struct sideband_event event = { .kind = SIDEBAND_LOST, .lost = 1 };
	size_t i, handled;
	uint64_t limit_ns;

	sideband_acknowledge(sideband);
	limit_ns = clock_now_ns();
	sideband_load_heads(sideband);
	handled = sideband_take(sideband, limit_ns, handle, context);
	for (i = 0; i < SETTLING_LOOKS && sideband_next(sideband, UINT64_MAX); i++) {
		limit_ns = i + 1 < SETTLING_LOOKS ? clock_now_ns() : UINT64_MAX;
		sideband_load_heads(sideband);
		handled += sideband_take(sideband, limit_ns, handle, context);
	}
	for (i = 0; i < sideband->count; i++) {
		if (!source_finish(&sideband->sources[i]))
			continue;
		handle(context, &event);
		handled++;
	}
	return handled;
}
