/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An independent truth for unwind tables: what `readelf --debug-dump=frames-interp` (binutils) says of each
 * row of a file's .eh_frame, compared with the table that the tracer compiles from the same file.
 */
#ifndef TESTS_UNIT_READELF_FRAMES_H
#define TESTS_UNIT_READELF_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi_table.h"

#define READELF_COLUMNS 24
#define READELF_PRINTED_MAX 20 /* mismatches of one file */

/* One row: the texts of the columns that matter here, "" where readelf has no such column. */
struct readelf_row {
	uint64_t pc;
	char cfa[16], bp[16], ra[16];
};

struct readelf_range {
	uint64_t start, end;
};

struct readelf_frames {
	FILE *stream;
	char line[1024];
	char columns[READELF_COLUMNS][8];
	unsigned int column_count;
	struct readelf_range function; /* of the FDE under the reader; end 0 = a CIE */
	struct readelf_row last; /* waits for the pc at which it ends */
	bool has_last, in_eh_frame;
	/* Its return addresses are where no architecture's are: in profiling code. */
	unsigned long odd_cie;
	bool odd; /* the FDE is one of its */
	struct readelf_range *functions;
	size_t function_count, function_capacity;
	const char *path;
	const struct cfi_table *table;
	uint64_t rows, mismatches;
};

static void readelf_set_columns(struct readelf_frames *frames, char *line)
{
	char *save = NULL, *word;

	frames->column_count = 0;
	for (word = strtok_r(line, " \n", &save); word && frames->column_count < READELF_COLUMNS;
	     word = strtok_r(NULL, " \n", &save))
		snprintf(frames->columns[frames->column_count++], sizeof(frames->columns[0]), "%s",
			 word);
}

/* "r3 (rbx)" is one column: its second word is only a comment. */
static void readelf_read_row(struct readelf_frames *frames, char *line, struct readelf_row *row)
{
	char *save = NULL, *word;
	unsigned int column = 0;

	*row = (struct readelf_row){ .pc = strtoull(line, NULL, 16) };
	for (word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (*word == '(')
			continue;
		if (column >= frames->column_count)
			return;
		if (!strcmp(frames->columns[column], "CFA"))
			snprintf(row->cfa, sizeof(row->cfa), "%s", word);
		else if (!strcmp(frames->columns[column], "rbp") ||
			 !strcmp(frames->columns[column], "x29"))
			snprintf(row->bp, sizeof(row->bp), "%s", word);
		else if (!strcmp(frames->columns[column], "ra"))
			snprintf(row->ra, sizeof(row->ra), "%s", word);
		column++;
	}
}

static bool readelf_packs(const char *offset, long smallest, long largest)
{
	long bytes = strtol(offset, NULL, 10);

	return bytes % 8 == 0 && bytes / 8 >= smallest && bytes / 8 <= largest;
}

/* readelf does not say what an expression computes: any kind of expression will do. */
static bool readelf_is_expression(uint32_t rule)
{
	uint32_t cfa = UNWIND_RULE_CFA(rule);

	return cfa == UNWIND_CFA_PLT || cfa == UNWIND_CFA_BP_DEREF || cfa == UNWIND_CFA_SIGNAL ||
	       cfa == UNWIND_CFA_UNSUPPORTED;
}

static bool readelf_agrees_bp(const char *text, uint32_t rule)
{
	uint32_t bp = UNWIND_RULE_BP(rule);

	if (!*text || !strcmp(text, "u") || !strcmp(text, "s"))
		return bp == UNWIND_BP_SAME || (bp == UNWIND_BP_UNKNOWN && !strcmp(text, "u"));
	if (*text == 'c' && readelf_packs(text + 1, -512, 511))
		return bp == UNWIND_BP_AT_CFA &&
		       UNWIND_RULE_BP_OFFSET(rule) * 8 == strtol(text + 1, NULL, 10);
	if (!strcmp(text, "exp"))
		return bp == UNWIND_BP_AT_BP || bp == UNWIND_BP_UNKNOWN;
	return bp == UNWIND_BP_UNKNOWN;
}

static bool readelf_agrees(const struct readelf_row *row, uint32_t rule)
{
	uint32_t cfa = UNWIND_RULE_CFA(rule);
	uint32_t wanted = !strncmp(row->cfa, "rsp", 3)	 ? UNWIND_CFA_SP
			  : !strncmp(row->cfa, "rbp", 3) ? UNWIND_CFA_BP
							 : UNWIND_CFA_UNSUPPORTED;

	if (!strcmp(row->ra, "u"))
		return cfa == UNWIND_CFA_ROOT;
	if (!strcmp(row->cfa, "exp") && !strcmp(row->ra, "exp"))
		return cfa == UNWIND_CFA_SIGNAL || cfa == UNWIND_CFA_UNSUPPORTED;
	if (strcmp(row->ra, "c-8"))
		return cfa == UNWIND_CFA_UNSUPPORTED;
	if (!strcmp(row->cfa, "exp"))
		return readelf_is_expression(rule);
	if (wanted != UNWIND_CFA_UNSUPPORTED &&
	    !readelf_packs(row->cfa + 3, 0, UNWIND_CFA_OFFSET_MAX))
		wanted = UNWIND_CFA_UNSUPPORTED;
	if (wanted == UNWIND_CFA_UNSUPPORTED)
		return cfa == wanted;
	return cfa == wanted &&
	       UNWIND_RULE_CFA_OFFSET(rule) * 8 == strtoul(row->cfa + 3, NULL, 10) &&
	       readelf_agrees_bp(row->bp, rule);
}

static bool readelf_is_unsaved(const char *text)
{
	return !*text || !strcmp(text, "u") || !strcmp(text, "s");
}

/* The offset from the CFA at which an arm64 rule says that something is saved, bytes. */
static long readelf_saved_at(uint32_t rule)
{
	long offset = UNWIND_RULE_BP_OFFSET(rule);

	return (offset < 0 ? offset : offset - (long)UNWIND_RULE_CFA_OFFSET(rule)) * 8;
}

/* Has a rule no place for what is saved at this offset from the CFA, which is `size` bytes from its register? */
static bool readelf_is_too_far(long offset, long size)
{
	return offset % 8 || ((offset + size < 0 || offset + size > 511 * 8) &&
			      (offset >= 0 || offset < -512 * 8));
}

/* Readelf writes "u" for a register that is the same, too, and so for a return address that is undefined or in x30. */
static bool readelf_agrees_arm64(const struct readelf_row *row, uint32_t rule)
{
	uint32_t cfa = UNWIND_RULE_CFA(rule), pair = UNWIND_RULE_BP(rule);
	bool sp = !strncmp(row->cfa, "sp+", 3), same = readelf_is_unsaved(row->bp);
	long size = strtol(row->cfa + (sp ? 3 : 4), NULL, 10), ra = strtol(row->ra + 1, NULL, 10);
	long bp = *row->bp == 'c' ? strtol(row->bp + 1, NULL, 10) : 0;
	bool both = *row->bp == 'c' && bp == ra - 8;

	if (readelf_is_unsaved(row->ra) && cfa == UNWIND_CFA_ROOT)
		return true;
	if ((!sp && strncmp(row->cfa, "x29+", 4)) || size % 8 || size / 8 > UNWIND_CFA_OFFSET_MAX)
		return cfa == UNWIND_CFA_UNSUPPORTED;
	if (readelf_is_unsaved(row->ra) && same)
		return cfa == (sp ? UNWIND_CFA_SP : UNWIND_CFA_BP) && pair == UNWIND_PAIR_NONE &&
		       (long)UNWIND_RULE_CFA_OFFSET(rule) * 8 == size;
	if (*row->ra != 'c' || readelf_is_too_far(both ? bp : ra, size))
		return cfa == UNWIND_CFA_UNSUPPORTED;
	return cfa == (sp ? UNWIND_CFA_SP : UNWIND_CFA_BP) &&
	       (long)UNWIND_RULE_CFA_OFFSET(rule) * 8 == size &&
	       readelf_saved_at(rule) == (both ? bp : ra) &&
	       pair == (both   ? UNWIND_PAIR_BOTH
			: same ? UNWIND_PAIR_LR
			       : UNWIND_PAIR_LR_ONLY);
}

static void readelf_compare(struct readelf_frames *frames, const struct readelf_row *row,
			    uint64_t pc)
{
	uint32_t rule = UNWIND_ROW_RULE(cfi_table_find(frames->table, pc));

	if (*row->cfa == 's' || *row->cfa == 'x' ? readelf_agrees_arm64(row, rule)
						 : readelf_agrees(row, rule))
		return;
	if (frames->mismatches++ >= READELF_PRINTED_MAX)
		return;
	printf("%s: pc %llx: readelf cfa %s rbp %s ra %s, row %x (cfa %u+%u bp %u%+d)\n",
	       frames->path, (unsigned long long)pc, row->cfa, row->bp, row->ra, rule,
	       UNWIND_RULE_CFA(rule), UNWIND_RULE_CFA_OFFSET(rule) * 8, UNWIND_RULE_BP(rule),
	       UNWIND_RULE_BP_OFFSET(rule) * 8);
}

/* The row that was read last holds up to `end`: look at its first and its last byte. */
static void readelf_flush(struct readelf_frames *frames, uint64_t end)
{
	if (frames->has_last && end > frames->last.pc) {
		frames->rows++;
		readelf_compare(frames, &frames->last, frames->last.pc);
		readelf_compare(frames, &frames->last, end - 1);
	}
	frames->has_last = false;
}

static void readelf_begin_entry(struct readelf_frames *frames, const char *line)
{
	const char *range = strstr(line, " pc="), *ra = strstr(line, " ra="),
		   *cie = strstr(line, " cie=");
	char *dots;

	readelf_flush(frames, frames->function.end);
	frames->function = (struct readelf_range){ 0 };
	if (ra && strcmp(ra, " ra=16\n") && strcmp(ra, " ra=30\n"))
		frames->odd_cie = strtoul(line, NULL, 16);
	frames->odd = cie && frames->odd_cie && strtoul(cie + 5, NULL, 16) == frames->odd_cie;
	if (!range || !frames->in_eh_frame)
		return;
	frames->function.start = strtoull(range + 4, &dots, 16);
	frames->function.end = strtoull(dots + 2, NULL, 16);
	if (frames->function_count == frames->function_capacity) {
		frames->function_capacity = frames->function_capacity * 2 + 1024;
		frames->functions = realloc(frames->functions,
					    frames->function_capacity * sizeof(*frames->functions));
	}
	frames->functions[frames->function_count++] = frames->function;
}

static void readelf_read_line(struct readelf_frames *frames)
{
	char *line = frames->line;
	struct readelf_row row;

	if (strstr(line, "Contents of the"))
		frames->in_eh_frame = strstr(line, ".eh_frame section") != NULL;
	else if (strstr(line, " FDE ") || strstr(line, " CIE "))
		readelf_begin_entry(frames, line);
	else if (strstr(line, "   LOC "))
		readelf_set_columns(frames, line);
	else if (strspn(line, "0123456789abcdef") == 16 && line[16] == ' ' &&
		 frames->function.end && frames->in_eh_frame) {
		readelf_read_row(frames, line, &row);
		if (frames->odd)
			snprintf(row.cfa, sizeof(row.cfa), "odd");
		readelf_flush(frames, row.pc);
		frames->last = row;
		frames->has_last = true;
	}
}

static int readelf_compare_range(const void *left, const void *right)
{
	const struct readelf_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* In a gap between functions no rule may hold. */
static void readelf_check_gaps(struct readelf_frames *frames)
{
	struct readelf_row none = { .cfa = "none" };
	uint64_t end = 0;
	size_t i;

	if (frames->function_count)
		qsort(frames->functions, frames->function_count, sizeof(*frames->functions),
		      readelf_compare_range);
	for (i = 0; i < frames->function_count; i++) {
		if (end && frames->functions[i].start > end &&
		    UNWIND_RULE_CFA(UNWIND_ROW_RULE(cfi_table_find(frames->table, end))) !=
			    UNWIND_CFA_END)
			readelf_compare(frames, &none, end);
		if (frames->functions[i].end > end)
			end = frames->functions[i].end;
	}
}

/* Compare a table with readelf's word. Mismatches are printed; `path` must be free of quotes. */
static void readelf_check(const char *path, const struct cfi_table *table, uint64_t *ret_rows,
			  uint64_t *ret_mismatches)
{
	struct readelf_frames frames = { .path = path, .table = table };
	char command[4096];

	snprintf(command, sizeof(command),
		 "readelf --debug-dump=frames-interp --debug-dump=no-follow-links '%s' 2>/dev/null",
		 path);
	frames.stream = popen(command, "r");
	while (fgets(frames.line, sizeof(frames.line), frames.stream))
		readelf_read_line(&frames);
	readelf_flush(&frames, frames.function.end);
	pclose(frames.stream);
	readelf_check_gaps(&frames);
	free(frames.functions);
	*ret_rows = frames.rows;
	*ret_mismatches = frames.mismatches;
}

#endif
