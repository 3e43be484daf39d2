/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of options: the only list of them. Parsing and the help text follow from them. An option means
 * the same for all commands that take it. Two rows have one name only if no command takes both: "wait".
 */
#ifndef COMMAND_OPTIONS_TABLE_H
#define COMMAND_OPTIONS_TABLE_H

#include "command/option_row.h"

extern const struct option_list options_table_target; /* a running process, or one to start */
extern const struct option_list options_table_kernel; /* the kernel instead */
extern const struct option_list options_table_follow; /* other processes, current and future */
extern const struct option_list options_table_time; /* for how long */
extern const struct option_list options_table_trigger; /* what asks for reports on the way */
extern const struct option_list options_table_count; /* which blocks count as in use */
extern const struct option_list options_table_frames; /* how much of stacks is shown */
extern const struct option_list options_table_sites; /* which call sites are shown */
extern const struct option_list options_table_folded; /* as folded stacks */
extern const struct option_list options_table_report; /* what a report of them shows */
extern const struct option_list options_table_file; /* where it goes */
extern const struct option_list options_table_top; /* how much of it */
extern const struct option_list options_table_output; /* how it is written */
extern const struct option_list options_table_serve; /* where reports are served, and to whom */
extern const struct option_list options_table_recording; /* what a recording takes */
extern const struct option_list options_table_moment; /* which moments of a recording */
extern const struct option_list options_table_look; /* how a process's memory is looked at */
extern const struct option_list options_table_leaks; /* which lost blocks are shown */
extern const struct option_list options_table_limits; /* what a look may take */
extern const struct option_list options_table_who; /* which block's holders are wanted */
extern const struct option_list options_table_record; /* what is recorded, and how much of it */
extern const struct option_list options_table_probe; /* what is probed, and how */
extern const struct option_list options_table_general; /* of all commands */

#endif
