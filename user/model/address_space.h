/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of one process over time: resolves a code address to the file that was
 * mapped there when the address was captured. Fed with mapping events and scans of /proc/PID/maps;
 * does no I/O.
 *
 * Unmappings have no records, so a newer mapping replaces what it overlaps, and a full scan ends
 * mappings that it does not find. Replaced and ended mappings are kept as a bounded history. All
 * times are CLOCK_MONOTONIC.
 */
#ifndef MODEL_ADDRESS_SPACE_H
#define MODEL_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/module.h"

/* Limit of ended mappings; the oldest are dropped first. */
#define ADDRESS_SPACE_HISTORY_MAX 1024
/* Limit of present mappings; further ones are ignored until a scan has ended some. */
#define ADDRESS_SPACE_MAPPINGS_MAX 131072

struct address_space;

enum address_kind {
	ADDRESS_UNKNOWN = 0, /* in no known mapping */
	ADDRESS_FILE,
	ADDRESS_ANONYMOUS, /* no file: code that was generated at run time */
};

struct address_space *address_space_new(void);
void address_space_free(struct address_space *space);

/*
 * [start, end) maps a file from `file_offset` on, and has existed since `time_ns` at the latest; 0
 * = since the present program began. `module` is MODULE_NONE if the file is unknown. Known mappings
 * may be passed again. An event may arrive late: a known mapping that began after `time_ns` stays.
 * An empty range is ignored.
 */
void address_space_map(struct address_space *space, uint64_t start, uint64_t end,
		       uint64_t file_offset, uint32_t module, uint64_t time_ns);
/* The same for executable memory without a file. */
void address_space_map_anonymous(struct address_space *space, uint64_t start, uint64_t end,
				 uint64_t time_ns);

/* The process has executed another program: every mapping older than `time_ns` is over. */
void address_space_reset(struct address_space *space, uint64_t time_ns);

/*
 * A scan: between begin and end, pass every executable mapping of the process to the map functions,
 * with the scan's time, taken before the first was read. The end of the scan ends all mappings that
 * were not passed and had begun by then.
 */
void address_space_scan_begin(struct address_space *space, uint64_t time_ns);
void address_space_scan_end(struct address_space *space);
/* Is a scan due? So much was mapped since the last one, perhaps over mappings that are gone. */
bool address_space_needs_scan(const struct address_space *space);
/* Was nothing mapped since the last scan? */
bool address_space_is_scanned(const struct address_space *space);

/* Forget mappings that ended before `time_ns`. */
void address_space_forget_ended(struct address_space *space, uint64_t time_ns);
/* Forget everything. */
void address_space_forget_all(struct address_space *space);

/*
 * Find the mapping that contained `address` at `time_ns`: the newest that had begun and not ended.
 * Otherwise the first that began later in the same program, because a mapping is often noticed
 * after its first use; otherwise the last that had ended in the same program. `ret_module` gets its
 * module (MODULE_NONE if unknown or without a file), and `ret_offset` the file offset of `address`,
 * 0 without a file; both stay untouched for ADDRESS_UNKNOWN. For a return address pass address - 1.
 */
enum address_kind address_space_resolve(const struct address_space *space, uint64_t address,
					uint64_t time_ns, uint32_t *ret_module,
					uint64_t *ret_offset);

/*
 * The modules mapped now, ascending, without duplicates. Returns their number; free `*ret_modules`
 * with free().
 */
size_t address_space_modules(const struct address_space *space, uint32_t **ret_modules);

/*
 * The time at which the present program mapped a module; 0 = before it was found, UINT64_MAX = not
 * mapped.
 */
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

/*
 * The present mapping at a position below address_space_count; mappings are in address order and do
 * not overlap.
 */
struct address_mapping address_space_get(const struct address_space *space, size_t position);

/* Number of present mappings, and of kept ended ones. */
size_t address_space_count(const struct address_space *space);
size_t address_space_history_count(const struct address_space *space);

#endif
