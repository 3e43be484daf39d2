/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file's rows are where in the store, and the list of mappings of a process made of it. A file's table is put into
 * the store once and stays where it is until the file is removed. Pure: the store's memory is the caller's.
 */
#ifndef UNWIND_UNWIND_TABLES_H
#define UNWIND_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/address_space.h"
#include "base/table.h"
#include "unwind/unwind_file.h"
#include "unwind/unwind_store.h"

/* What is known of a module. */
struct unwind_known {
	bool known; /* it was added, with or without a table */
	bool no_space; /* its table found no room */
	struct unwind_place place; /* {0} = no table */
	struct elf_code codes[ELF_CODES_MAX];
	unsigned int code_count;
	int holder; /* the process that has the place in its share; 0 = none */
	bool expected; /* nobody is known to map it yet */
};

struct unwind_tables {
	struct unwind_store store; /* started by the caller */
	struct unwind_known *modules; /* by index of the run's module list */
	size_t count;
	struct table shares; /* struct unwind_share by holder */
	uint64_t expected_rows; /* of modules that nobody is known to map yet */
};

/* Was the module added? */
bool unwind_tables_has(const struct unwind_tables *tables, uint32_t module);

/*
 * Add a module and copy its table; NULL = it has none. It is charged to the process `holder` (0 = to none), which may
 * use three times as much as it leaves to others. Returns 0; -ENOSPC if the store is full, -EDQUOT if the holder's share
 * is: then the module counts as one without a table.
 */
int unwind_tables_add(struct unwind_tables *tables, uint32_t module, int holder,
		      const struct unwind_file *file);

/* Other processes than the holder have the module mapped: it is charged to none. */
void unwind_tables_share(struct unwind_tables *tables, uint32_t module);

/* The module that was added is not mapped yet, and may never be; or a process has it mapped now. */
void unwind_tables_expect(struct unwind_tables *tables, uint32_t module);
void unwind_tables_see(struct unwind_tables *tables, uint32_t module);

/*
 * Forget a module. Its room is given to others, so no list of mappings that is in use may lead to it any more. One that was
 * not added is no error.
 */
void unwind_tables_remove(struct unwind_tables *tables, uint32_t module);

/* There is more room: modules whose tables found none count as not added. Returns how many. */
size_t unwind_tables_retry(struct unwind_tables *tables);

/* Where the rows of a module are. False if it has none. */
bool unwind_tables_rows(const struct unwind_tables *tables, uint32_t module,
			struct unwind_file_rows *ret_rows);

/*
 * The list of the present mappings of a process. Returns how many found no room in it. Those without a file are the
 * first to be left out, since the walk ends there anyhow.
 */
size_t unwind_tables_list(const struct unwind_tables *tables, const struct address_space *space,
			  struct unwind_mappings *ret_mappings);

/* Forget the modules, and what is free in the store; its arrays are the caller's. */
void unwind_tables_free(struct unwind_tables *tables);

#endif
