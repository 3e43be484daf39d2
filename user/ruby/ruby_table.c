/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_table.h. */
#include "ruby/ruby_table.h"

#include <string.h>

#define ENTRY_SIZE 24
#define STEP 256 /* entries that are read at once */
#define REMOVED UINT64_MAX
#define POWER_MAX 40

struct table_struct {
	unsigned char entry_power, bin_power, bin_size;
	unsigned int rebuilds;
	uint64_t type, count, bins, first, bound, entries;
};

_Static_assert(sizeof(struct table_struct) == RUBY_TABLE_SIZE, "as it is in Ruby");

bool ruby_table_open(const unsigned char *bytes, struct ruby_table *ret_table)
{
	struct table_struct table;

	memcpy(&table, bytes, sizeof(table));
	if (table.entry_power > POWER_MAX || table.bin_power > POWER_MAX || table.bin_size > 3 ||
	    table.bound > 1ull << table.entry_power || table.first > table.bound ||
	    table.count > table.bound - table.first || !table.entries || table.entries & 7)
		return false;
	*ret_table = (struct ruby_table){
		.entries = table.entries + table.first * ENTRY_SIZE,
		.entry_count = table.bound - table.first,
		.count = table.count,
		.bytes = ((uint64_t)ENTRY_SIZE << table.entry_power) +
			 (table.bins ? 1ull << (table.bin_power + table.bin_size) : 0),
	};
	return true;
}

bool ruby_table_walk(struct image *image, uint64_t address, uint64_t max,
		     bool (*entry)(void *context, uint64_t key, uint64_t value), void *context)
{
	unsigned char bytes[RUBY_TABLE_SIZE];
	uint64_t entries[STEP][3], done, step, i;
	struct ruby_table table;

	if (!address || address & 7 || !image_read(image, address, bytes, sizeof(bytes)) ||
	    !ruby_table_open(bytes, &table))
		return false;
	for (done = 0; done < table.entry_count && done < max; done += step) {
		step = table.entry_count - done < STEP ? table.entry_count - done : STEP;
		if (!image_read(image, table.entries + done * ENTRY_SIZE, entries,
				step * ENTRY_SIZE))
			return false;
		for (i = 0; i < step; i++)
			if (entries[i][0] != REMOVED &&
			    !entry(context, entries[i][1], entries[i][2]))
				return true;
	}
	return true;
}
