/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See schema.h. */
#include "recording/schema.h"

#include "model/price.h"
#include "model/site_stats.h"

#define FIGURE(name)                                     \
	{                                                \
#name, offsetof(struct site_stats, name) \
	}
#define LIFE(name)                                                     \
	{                                                              \
		"life_" #name, offsetof(struct site_stats, lives.name) \
	}
#define PRICE(name)                                          \
	{                                                    \
		"price_" #name, offsetof(struct price, name) \
	}

const struct schema_column schema_figures[] = {
	FIGURE(alloc_bytes),
	FIGURE(alloc_objects),
	FIGURE(free_bytes),
	FIGURE(free_objects),
	FIGURE(samples),
	FIGURE(grown_objects),
	FIGURE(grown_times),
	FIGURE(added_objects),
	FIGURE(unknown_bytes),
	FIGURE(unknown_objects),
	FIGURE(young_bytes),
	FIGURE(young_objects),
	FIGURE(measured_bytes),
	FIGURE(resident_bytes),
	FIGURE(gcs),
	LIFE(untimed),
	LIFE(temporary),
	LIFE(units),
	LIFE(longest),
	{ NULL },
};

const struct schema_column schema_price[] = {
	PRICE(window_ns),  PRICE(calls),   PRICE(threads), PRICE(cost_ns),
	PRICE(busiest_ns), PRICE(call_ns), { NULL },
};

static const char schema_tables[] =
	"CREATE TABLE recording(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE mark(id INTEGER PRIMARY KEY, name TEXT, interval INTEGER);"
	"CREATE TABLE module(id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, device INTEGER,"
	" inode INTEGER);"
	"CREATE TABLE name(id INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER);"
	"CREATE TABLE frame(id INTEGER PRIMARY KEY, caller INTEGER, kind TEXT, module INTEGER,"
	" offset INTEGER, address INTEGER, name INTEGER, reason TEXT, whole INTEGER,"
	" internal INTEGER);"
	"CREATE TABLE symbol(module INTEGER, offset INTEGER, position INTEGER, function TEXT,"
	" file TEXT, line INTEGER, inlined INTEGER, hint TEXT,"
	" PRIMARY KEY(module, offset, position)) WITHOUT ROWID;"
	"CREATE TABLE function(id INTEGER PRIMARY KEY, allocator TEXT, function TEXT,"
	" sampled INTEGER);"
	"CREATE TABLE target(id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, comm TEXT,"
	" exe TEXT, directory TEXT, root TEXT, mount_namespace INTEGER, exec_ns INTEGER);"
	"CREATE TABLE late_file(target INTEGER, position INTEGER, path TEXT, ns INTEGER,"
	" PRIMARY KEY(target, position)) WITHOUT ROWID;"
	"CREATE TABLE site(id INTEGER PRIMARY KEY, key INTEGER, target INTEGER, function INTEGER,"
	" source TEXT, region TEXT, stack INTEGER, ended INTEGER, sampled INTEGER);"
	"CREATE TABLE born(interval INTEGER, site INTEGER, since_ns INTEGER, bytes INTEGER,"
	" objects INTEGER, PRIMARY KEY(interval, site, since_ns)) WITHOUT ROWID;"
	"CREATE TABLE verdict(interval INTEGER, site INTEGER, word TEXT,"
	" PRIMARY KEY(interval, site)) WITHOUT ROWID;"
	"CREATE TABLE loss(interval INTEGER, name TEXT, count INTEGER,"
	" PRIMARY KEY(interval, name)) WITHOUT ROWID;"
	"CREATE TABLE process(interval INTEGER, target INTEGER, gone INTEGER, listed INTEGER,"
	" exited INTEGER, files_known INTEGER, files_first INTEGER, files INTEGER,"
	" usage_known INTEGER, rss_bytes INTEGER, swap_bytes INTEGER, threads INTEGER,"
	" pss_bytes INTEGER, late_files INTEGER, late_unlisted INTEGER, late_child_ns INTEGER,"
	" late_shared INTEGER, PRIMARY KEY(interval, target)) WITHOUT ROWID;";

static void schema_append_columns(struct buffer *sql, const struct schema_column *columns)
{
	for (; columns->name; columns++)
		buffer_printf(sql, ", %s INTEGER", columns->name);
}

void schema_append_tables(struct buffer *sql)
{
	buffer_append_string(sql, schema_tables);
	buffer_append_string(sql, "CREATE TABLE interval(id INTEGER PRIMARY KEY, time INTEGER,"
				  " time_ns INTEGER, start_ns INTEGER, whole INTEGER,"
				  " price_counted INTEGER, price_measured INTEGER");
	schema_append_columns(sql, schema_price);
	buffer_append_string(sql, ");"
				  "CREATE TABLE figures(interval INTEGER, site INTEGER,"
				  " gone INTEGER, oldest_born_ns INTEGER, mean_born_ns INTEGER,"
				  " born_rest_ns INTEGER, gcs_known INTEGER, lives TEXT,"
				  " ages TEXT, ages_ns INTEGER");
	schema_append_columns(sql, schema_figures);
	buffer_append_string(sql, ", PRIMARY KEY(interval, site)) WITHOUT ROWID;");
	buffer_printf(sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		      SCHEMA_APPLICATION, SCHEMA_VERSION);
}

void schema_append_names(struct buffer *sql, const struct schema_column *columns)
{
	for (; columns->name; columns++)
		buffer_printf(sql, ", %s", columns->name);
}

void schema_append_values(struct buffer *sql, const struct schema_column *columns)
{
	for (; columns->name; columns++)
		buffer_append_string(sql, ", ?");
}
