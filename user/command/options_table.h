/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of options, from which parsing and help text follow. An option means the same for all
 * commands that take it. Two rows may have one name ("wait") only if no command takes both.
 */
#ifndef COMMAND_OPTIONS_TABLE_H
#define COMMAND_OPTIONS_TABLE_H

#include "command/option_row.h"

extern const struct option_list options_table_target; /* a running process, or one to start */
extern const struct option_list options_table_kernel; /* the kernel instead */
extern const struct option_list options_table_follow; /* other processes, current and future */
extern const struct option_list options_table_time; /* duration and intervals */
extern const struct option_list options_table_trigger; /* triggers of reports */
extern const struct option_list options_table_count; /* which blocks count as in use */
extern const struct option_list options_table_frames; /* how stacks are shown */
extern const struct option_list options_table_sites; /* which call sites are shown */
extern const struct option_list options_table_folded; /* folded stacks */
extern const struct option_list options_table_report; /* what a report shows */
extern const struct option_list options_table_found; /* what comes of what is found */
extern const struct option_list options_table_file; /* where it goes */
extern const struct option_list options_table_top; /* how many rows */
extern const struct option_list options_table_output; /* how it is written */
extern const struct option_list options_table_serve; /* serving and pushing reports */
extern const struct option_list options_table_recording; /* limits of a recording */
extern const struct option_list options_table_moment; /* which moments of a recording */
extern const struct option_list options_table_look; /* looks at a process's memory */
extern const struct option_list options_table_leaks; /* which lost blocks are shown */
extern const struct option_list options_table_limits; /* limits of a look */
extern const struct option_list options_table_who; /* holders of a block */
extern const struct option_list options_table_record; /* what is recorded */
extern const struct option_list options_table_probe; /* what is probed, and how */
extern const struct option_list options_table_general; /* common to all commands */

#endif
