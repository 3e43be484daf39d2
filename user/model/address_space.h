/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of one process over time: which file a code address belonged to at the moment at
 * which it was captured. Fed with mapping events and with scans of /proc/PID/maps by others; does no I/O.
 *
 * Unmappings have no records. So a newer mapping covers what it overlaps, and a full scan ends what it does
 * not find. Covered and ended mappings are kept as a bounded history. All times are CLOCK_MONOTONIC.
 */
#ifndef MODEL_ADDRESS_SPACE_H
#define MODEL_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/module.h"

/* Ended mappings that are remembered; the oldest are forgotten first. */
#define ADDRESS_SPACE_HISTORY_MAX 1024
/* Present mappings that are kept; beyond it, new ones are ignored until a scan has ended some. */
#define ADDRESS_SPACE_MAPPINGS_MAX 131072

struct address_space;

enum address_kind {
	ADDRESS_UNKNOWN = 0, /* no known mapping held it */
	ADDRESS_FILE,
	ADDRESS_ANONYMOUS, /* no file: code that was generated at run time */
};

struct address_space *address_space_new(void);
void address_space_free(struct address_space *space);

/*
 * [start, end) maps a file from `file_offset` on and is known to exist since `time_ns`; 0 = since the present
 * program began. `module` is MODULE_NONE if the file is unknown. A repetition of what is known already
 * changes nothing. An event may come late: where a mapping that began later than `time_ns` is known,
 * that one stays. An empty range is ignored.
 */
void address_space_map(struct address_space *space, uint64_t start, uint64_t end,
		       uint64_t file_offset, uint32_t module, uint64_t time_ns);
/* The same for executable memory without a file. */
void address_space_map_anonymous(struct address_space *space, uint64_t start, uint64_t end,
				 uint64_t time_ns);

/* The process has executed another program: every mapping older than `time_ns` is over. */
void address_space_reset(struct address_space *space, uint64_t time_ns);

/*
 * A scan: between begin and end, every executable mapping that the process has is passed to the map
 * functions with the scan's time, which was taken before the first was read. The end of the scan ends the
 * mappings that were not among them and had begun by then.
 */
void address_space_scan_begin(struct address_space *space, uint64_t time_ns);
void address_space_scan_end(struct address_space *space);
/* So much was mapped since the last scan, perhaps over mappings that are gone, that another is due. */
bool address_space_needs_scan(const struct address_space *space);
/* Nothing was mapped since the last scan. */
bool address_space_is_scanned(const struct address_space *space);

/* Forget the mappings that had ended before `time_ns`. */
void address_space_forget_ended(struct address_space *space, uint64_t time_ns);
/* Forget everything: nothing will be asked any more. */
void address_space_forget_all(struct address_space *space);

/*
 * The mapping that held `address` at `time_ns`: the newest one that had begun and not ended. If none had,
 * the first one to begin after that time in the same program, because a mapping is often noticed later than
 * it is used; if none did, the last one that had ended in the same program. `ret_module` gets its module
 * (MODULE_NONE if unknown or without a file) and `ret_offset` the file offset of `address`, 0 without
 * a file; both stay untouched for ADDRESS_UNKNOWN. For a return address ask for address - 1.
 */
enum address_kind address_space_resolve(const struct address_space *space, uint64_t address,
					uint64_t time_ns, uint32_t *ret_module,
					uint64_t *ret_offset);

/* The distinct modules that are mapped now, ascending. Returns their number; free `*ret_modules` with free(). */
size_t address_space_modules(const struct address_space *space, uint32_t **ret_modules);

/* Since when the present program has a module mapped; 0 = from before it was found, UINT64_MAX = it has not. */
uint64_t address_space_since(const struct address_space *space, uint32_t module);

/* Set `marks[module]` for each module of present and ended mappings. */
void address_space_mark(const struct address_space *space, bool *marks);

/* A present mapping. */
struct address_mapping {
	uint64_t start, end;
	uint64_t file_offset;
	uint32_t module; /* MODULE_NONE: unknown, or without a file */
	bool anonymous;
};

/* The present mapping at a position below address_space_count; they are in address order and do not overlap. */
struct address_mapping address_space_get(const struct address_space *space, size_t position);

/* Numbers of present and of ended mappings that are kept. */
size_t address_space_count(const struct address_space *space);
size_t address_space_history_count(const struct address_space *space);

#endif
